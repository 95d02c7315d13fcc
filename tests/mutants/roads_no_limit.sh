# Times along a path ignore the speed limit.
# tests: roads_test
sed -i -e 's|slot\[k - 1\] + limit_m|slot[k - 1] + 9 * limit_m|' \
    -e 's|slot\[k + 1\] - limit_m|slot[k + 1] - 9 * limit_m|' src/roads/times.c
