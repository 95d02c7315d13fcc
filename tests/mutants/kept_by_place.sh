# Which trips of a user are kept depends on where they stand in the file.
# tests: topk_test
sed -i 's/qsort(list, n, sizeof \*list, by_key);/(void)by_key;/' src/fit/sizes.c
