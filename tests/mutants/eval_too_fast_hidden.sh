# Trips over the speed limit that are kept are not counted.
# tests: clean_test
sed -i 's/    batch->too_fast_kept += too_fast;/    batch->too_fast_kept += too_fast \&\& !cleaner->keep_too_fast;/' src/clean/clean.c
