# Trips of one user are noised as if they were of different ones.
# tests: baselines_test
sed -i 's/if (options->budget.unit != DPL_UNIT_TRIP)/if (options->budget.unit > DPL_UNIT_USER)/' src/method/ngram/ngram.c src/method/adatrace/fit.c
