# A checkpoint is not bound to the share of the number of units.
# tests: resume_test
sed -i 's/^    BUDGET(size_share),/    FREE(dpl_budget, OWNER_BUDGET, size_share, ""),/' src/fit/binding.c
