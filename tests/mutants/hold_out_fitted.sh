# Units that are set aside are fitted on all the same.
# tests: clean_test
sed -i 's/    if (aside != cleaner->hold_out.only) {/    if (!aside \&\& cleaner->hold_out.only) {/' src/clean/clean.c
