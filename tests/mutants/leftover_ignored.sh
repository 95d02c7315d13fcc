# A fit begins anew beside an unfinished one, without a word.
# tests: fit_test
sed -i 's/DPL_TRY(check_leftover(run, options));/if (options->restart) DPL_TRY(check_leftover(run, options));/' src/fit/release.c
