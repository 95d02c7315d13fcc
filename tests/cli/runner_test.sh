#!/usr/bin/env bash
# What run.sh does with a line that goes on in the next one, and that its cases can fail.
set -u
run=$(dirname "$(realpath "$0")")/run.sh
work=$(mktemp -d); trap 'rm -rf "$work"' EXIT
bad=0
expect() { # EXIT_CODE TEXT_OF_ITS_OUTPUT: runs the cases on stdin
    local got
    cat >"$work/some.test"
    "$run" /bin/true "$work/some.test" >"$work/out" 2>&1; got=$?
    [ "$got" = "$1" ] && grep -qF -- "$2" "$work/out" && return
    echo "exit code $got, expected $1 and '$2':"; cat "$work/some.test" "$work/out"; bad=1
}
expect 0 "2 passed, 0 failed" <<'END'
% echo set-up \
    goes on >file
$ cat file && echo 'one  \
    two' && printf 'no blank\
  between\n'
>> set-up goes on
>> one  \
     two
>> no blankbetween
> up \
  goes
>! goes \
   off
$ echo wrong \
  here >&2; exit 3
= 3
! ong \
  he
!! wrong \
   here
END
expect 1 "stderr differs" <<'END'
$ echo wrong >&2
!! wrong \
   here
END
expect 1 "FAIL some.test:3" <<'END'
% echo a \
    b
$ echo one \
    two
>> one \
   three
END
expect 1 "stdout lacks: one two" <<'END'
$ echo one
> one \
  two
END
expect 1 "stderr lacks: one two" <<'END'
$ echo one >&2
! one \
  two
END
expect 1 "stdout has: one two" <<'END'
$ echo one two
>! one \
   two
END
expect 1 "exit code 4, expected 0" <<'END'
$ true && \
    exit 4
END
expect 1 "SET-UP FAILED some.test:1: true && false" <<'END'
% true && \
    false
$ true
END
expect 1 "some.test:2: not a case line" <<'END'
$ true
    true
END
exit "$bad"
