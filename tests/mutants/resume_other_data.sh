# A checkpoint is resumed on any data: the same noise meets other numbers.
# tests: fit_test
sed -i '/"the checkpoint was made from other data"/d' src/fit/checkpoint.c
