#!/usr/bin/env bash
# Methods, input and output formats are each listed in one table: a method is its own folder and one
# row there, a format its own file and one row. So no string under src names one, but in that folder
# or file; what needs the names asks the table.
# The made-up city of src/simulate has layouts of its own.   usage: tables.sh SOURCE_DIRECTORY DPLOC
set -euo pipefail
cd "$1"
dploc=$2 bad=0
comment='^[^:]*:[0-9]*: *(/\*| \*|//)' # a line of grep -n that is one

# check LIST FOLDER TABLE: every format has a file in the folder, and a row in the table, and every
# row has both.
check() {
    local list=$1 folder=$2 table=$3 names rows file
    names=$("$dploc" --list "$list" | sort)
    rows=$(sed -n 's/^ *ROW(\([A-Za-z]*\)).*/\1/p' "$table" | tr '[:upper:]' '[:lower:]' | sort)
    [ "$names" = "$rows" ] || { echo "--list $list and the rows of $table differ"; bad=1; }
    for name in $names; do
        file=$folder/$name.c
        grep -q "\.name = \"$name\"" "$file" ||
            { echo "$file does not define the format $name"; bad=1; }
    done
}
check formats src/ingest src/ingest/format.h
check outputs src/write src/write/writer.h

# A method's folder has the same files as every other's, and nothing outside it names the method.
names=$("$dploc" --list methods)
rows=$(sed -n 's/^ *ROW(\([a-z]*\)).*/\1/p' src/method/list.h)
[ "$names" = "$rows" ] || { echo "--list methods and the rows of src/method/list.h differ"; bad=1; }
[ "$(ls -d src/method/*/ | wc -l)" = "$(wc -w <<<"$rows")" ] ||
    { echo "src/method has a folder without a row, or a row without a folder"; bad=1; }
for name in $names; do
    for file in fit.c generate.c; do
        [ -f "src/method/$name/$file" ] || { echo "src/method/$name/$file is missing"; bad=1; }
    done
    # Formats and published claims may bear a method's name.
    found=$(grep -rnE "\"$name\"|dpl_(method_)?${name}_?(generator)?\b" src --include='*.[ch]' |
            grep -vE "^src/(method/$name|ingest|write|simulate)/|#include|$comment|/\*" || true)
    [ -z "$found" ] || { echo "the method $name is named outside its folder: $found"; bad=1; }
done

# What a format's file defines is used through the table alone; csv, which any table may be, is the
# exception.
for name in $( { "$dploc" --list formats; "$dploc" --list outputs; } | sort -u); do
    [ "$name" = csv ] && continue
    defined="DPL_FORMAT_${name^^}\\b|dpl_writer_$name\\b"
    found=$(grep -rnE "$defined" src cli include --include='*.[ch]' |
            grep -vE "^src/(ingest|write)/$name\.c" || true)
    [ -z "$found" ] || { echo "$name is used outside its file: $found"; bad=1; }
    grep -q "\`$name\`" docs/FORMATS.md ||
        { echo "docs/FORMATS.md does not say what $name is"; bad=1; }
done
# Names that are not also those of a city or a method: a list of formats would hold one of them.
for name in cabspotting geojsonl; do
    found=$(grep -rnE "\"[^\"]*\b$name\b[^\"]*\"" src cli include --include='*.[ch]' |
            grep -vE "^src/((ingest|write)/$name\.c|simulate/|base/choices\.c:.*simulate)" |
            grep -vE "^cli/(simulate.c|manual\.c.*(layout|format of the output))" |
            grep -vE "$comment" || true)
    [ -z "$found" ] || { echo "$name is named outside its file: $found"; bad=1; }
done
listed() { "$dploc" --list "$1" | wc -l; }
[ "$bad" = 0 ] && echo "$(listed methods) methods, $(listed formats) input and" \
    "$(listed outputs) output formats, each listed once"
exit "$bad"
