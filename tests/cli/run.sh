#!/usr/bin/env bash
# Runs a file of command-line cases: run.sh DPLOC CASES.test
#
# A case is a block of lines, blocks apart by blank lines:
#     # a comment
#     $ dploc inspect x.csv | head -1      the command, in bash, in a directory of its own per file
#     = 2                                  its exit code (0 if there is no such line)
#     > text                               a line that stdout must contain; '>!' must not contain
#     ! text                               a line part that stderr must contain
#     >> text                              a whole line: with such lines, stdout is exactly these
#     !! text                              likewise for stderr
# Lines with a leading '%' run as set-up (they must succeed). $CASES is the folder of the case file.
# A line '? file' skips all cases, and says so, unless that file is there (exit code 77).
# A line of any kind that ends in a backslash goes on in the next one: the backslash and the leading
# blanks of the next line are dropped, blanks before the backslash stay.
set -u
dploc=$(realpath "$1"); cases=$(realpath "$2")
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"; ln -s "$dploc" "$work/bin/dploc"
export PATH="$work/bin:$PATH" CASES; CASES=$(dirname "$cases")
export XDG_STATE_HOME="$work/state"
mkdir "$work/cwd"; cd "$work/cwd" || exit 1

passed=0 failed=0 command="" want=0 outs=() nots=() errs=() all_out=() all_err=()
whole() { # WHAT FILE LINE...: complains unless FILE is exactly these lines
    local what=$1 file=$2; shift 2
    [ $# = 0 ] || printf '%s\n' "$@" | diff - "$file" >"$work/diff" ||
        bad="$bad; $what differs: $(cat "$work/diff")"
}
has() { grep -qF -- "$2" "$work/$1"; } # FILE TEXT
finish() {
    [ -n "$command" ] || return 0
    local bad="" got text
    bash -o pipefail -c "$command" >"$work/out" 2>"$work/err" </dev/null; got=$?
    [ "$got" = "$want" ] || bad="exit code $got, expected $want"
    for text in "${outs[@]+"${outs[@]}"}"; do
        has out "$text" || bad="$bad; stdout lacks: $text"
    done
    for text in "${nots[@]+"${nots[@]}"}"; do
        ! has out "$text" || bad="$bad; stdout has: $text"
    done
    for text in "${errs[@]+"${errs[@]}"}"; do
        has err "$text" || bad="$bad; stderr lacks: $text"
    done
    whole stdout "$work/out" "${all_out[@]+"${all_out[@]}"}"
    whole stderr "$work/err" "${all_err[@]+"${all_err[@]}"}"
    if [ -z "$bad" ]; then passed=$((passed + 1)); else
        failed=$((failed + 1))
        printf 'FAIL %s\n  $ %s\n  %s\n--- stdout\n%s\n--- stderr\n%s\n' \
            "$(basename "$cases"):$start" "$command" "$bad" \
            "$(head -c 2000 "$work/out")" "$(head -c 2000 "$work/err")"
    fi
    command="" want=0 outs=() nots=() errs=() all_out=() all_err=()
}
set_up() { # COMMAND
    bash -o pipefail -c "$1" >"$work/out" 2>"$work/err" </dev/null && return
    echo "SET-UP FAILED $(basename "$cases"):$first: $1"; cat "$work/err"; failed=$((failed + 1))
}
number=0
while IFS= read -r line || [ -n "$line" ]; do
    number=$((number + 1)); first=$number
    while [[ $line == *\\ ]] && { IFS= read -r more || [ -n "$more" ]; }; do
        number=$((number + 1)) line=${line%\\}${more#"${more%%[! ]*}"}
    done
    case $line in
        "$ "*) finish; command=${line#"$ "}; start=$first ;;
        "% "*) finish; set_up "${line#% }" ;;
        "? "*) eval "file=${line#? }"; [ -f "$file" ] || { echo "skipped: no $file"; exit 77; } ;;
        "= "*) want=${line#= } ;;
        ">>"|">> "*) line=${line#>>}; all_out+=("${line# }") ;;
        "!!"|"!! "*) line=${line#!!}; all_err+=("${line# }") ;;
        ">! "*) nots+=("${line#>! }") ;;
        "> "*) outs+=("${line#> }") ;;
        "! "*) errs+=("${line#! }") ;;
        "#"*|"") ;;
        *) echo "$(basename "$cases"):$first: not a case line: $line"; failed=$((failed + 1)) ;;
    esac
done <"$cases"
finish
echo "$passed passed, $failed failed"
[ "$failed" = 0 ] && [ "$passed" -gt 0 ]
