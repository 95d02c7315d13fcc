# Times along a path ignore the speed limit.
# tests: roads_test
sed -i 's|fmin(slot\[k + 1\], slot\[k - 1\] + limit_m)|slot[k + 1]|; s|fmax(slot\[k - 1\], slot\[k + 1\] - limit_m)|slot[k - 1]|' src/roads/times.c
