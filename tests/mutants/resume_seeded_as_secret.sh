# A checkpoint is not bound to where its key came from.
# tests: resume_test
sed -i 's/^    BUDGET(insecure_seed),.*/    FREE(dpl_budget, OWNER_BUDGET, insecure_seed, ""),/; ' src/fit/binding.c
sed -i 's/^    if (secret->insecure == options->budget.insecure_seed) return DPL_OK;/    if (secret || options) return DPL_OK;/' src/fit/release.c
