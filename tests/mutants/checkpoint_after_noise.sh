# The key is not on the disk before the first noise: a kill makes the next run pay again.
# tests: fit_test
sed -i '/the key is on the disk before any noise/d' src/fit/release.c
