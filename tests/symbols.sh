#!/usr/bin/env bash
# The shared library exports exactly what the public headers declare, every such call is used by the
# program or by an example, and every global name of the static library has our prefix.
#   usage: symbols.sh SOURCE_DIRECTORY libdploc.so libdploc.a
set -euo pipefail
headers=$(cat "$1"/include/*.h)
declared=$(grep -oE '\bDPL_API\b[^;]*;' <<<"$(tr '\n' ' ' <<<"$headers")" |
    grep -oE '\bdpl_[a-z0-9_]+ *\(' | tr -d ' (' | sort -u)
exported=$(nm -D --defined-only "$2" | awk '{print $3}' | sed 's/@.*//' | sort -u)
bad=0
if ! difference=$(diff <(echo "$declared") <(echo "$exported")); then
    echo "declared in the headers (<) and exported by the shared library (>) differ:"
    echo "$difference"
    bad=1
fi
used=$(cat "$1"/cli/*.c "$1"/examples/*.c; grep -h '^ \*     ' "$1"/include/*.h)
unused=$(comm -23 <(echo "$exported") <(grep -oE '\bdpl_[a-z0-9_]+' <<<"$used" | sort -u))
if [ -n "$unused" ]; then
    echo "public calls that neither the program nor an example uses:"
    echo "$unused"
    bad=1
fi
foreign=$(nm --defined-only "$3" 2>/dev/null | awk 'NF == 3 && $2 ~ /^[A-TV-Z]$/ {print $3}' |
    grep -vE '^(__odr_asan\.)?(dpl_|DPL_|\.gomp_critical_user_dpl_)' | sort -u || true)
if [ -n "$foreign" ]; then
    echo "global names of the static library without the prefix dpl_:"
    echo "$foreign"
    bad=1
fi
[ "$bad" = 0 ] && echo "$(wc -l <<<"$exported") exported names, all declared"
exit $bad
