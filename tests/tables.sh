#!/usr/bin/env bash
# Input and output formats are each listed in one table: a format is its own file and one row there. So no
# string under src, cli or include names a format, but in that file; what needs the names asks the table.
# The made-up city of src/simulate has layouts of its own.   usage: tables.sh SOURCE_DIRECTORY DPLOC
set -euo pipefail
cd "$1"
dploc=$2 bad=0

# check LIST FOLDER TABLE: every format has a file in the folder, and a row in the table, and every row has both.
check() {
    local list=$1 folder=$2 table=$3 names rows file
    names=$("$dploc" --list "$list" | sort)
    rows=$(sed -n 's/^ *ROW(\([A-Za-z]*\)).*/\1/p' "$table" | tr '[:upper:]' '[:lower:]' | sort)
    [ "$names" = "$rows" ] || { echo "--list $list and the rows of $table differ"; bad=1; }
    for name in $names; do
        file=$folder/$name.c
        grep -q "\.name = \"$name\"" "$file" || { echo "$file does not define the format $name"; bad=1; }
    done
}
check formats src/ingest src/ingest/format.h
check outputs src/write src/write/writer.h

# What a format's file defines is used through the table alone; csv, which any table may be, is the exception.
for name in $( { "$dploc" --list formats; "$dploc" --list outputs; } | sort -u); do
    [ "$name" = csv ] && continue
    found=$(grep -rnE "DPL_FORMAT_${name^^}\\b|dpl_writer_$name\\b" src cli include --include='*.[ch]' |
            grep -vE "^src/(ingest|write)/$name\.c" || true)
    [ -z "$found" ] || { echo "$name is used outside its file: $found"; bad=1; }
    grep -q "\`$name\`" docs/FORMATS.md || { echo "docs/FORMATS.md does not say what $name is"; bad=1; }
done
# Names that are not also those of a city or a method: a list of formats would hold one of them.
for name in cabspotting geojsonl; do
    found=$(grep -rnE "\"[^\"]*\b$name\b[^\"]*\"" src include --include='*.[ch]' |
            grep -vE "^(src/(ingest|write)/$name\.c|src/simulate/|src/base/choices\.c:.*simulate)|^[^:]*:[0-9]*: *(/\*| \*|//)" || true)
    [ -z "$found" ] || { echo "$name is named outside its file: $found"; bad=1; }
done
[ "$bad" = 0 ] && echo "$("$dploc" --list formats | wc -l) input and $("$dploc" --list outputs | wc -l) output formats, each listed once"
exit "$bad"
