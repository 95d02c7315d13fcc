#!/bin/sh
# The version stands in CMakeLists.txt; what repeats it says the same.
# usage: version.sh ROOT DPLOC
set -eu
cd "$1"
version=$(scripts/version.sh)
wrong=0
same() { # FILE VALUE
    [ "$2" != "$version" ] || return 0
    echo "version: $1 says '$2', CMakeLists.txt '$version'" >&2
    wrong=1
}
same CITATION.cff "$(sed -n 's/^version: //p' CITATION.cff)"
same CHANGELOG.md "$(sed -n 's/^## \([^ ]*\).*/\1/p' CHANGELOG.md | head -1)"
same "dploc --version" "$("$2" --version | sed 's/^dploc //; s/ .*//; q')"
exit $wrong
