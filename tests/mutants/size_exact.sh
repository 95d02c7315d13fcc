# The number of units is used as it is.
# tests: plan_test
sed -i 's/if (!noiseless) DPL_TRY(measure(run, units, secret, &size));/if (!noiseless \&\& units == SIZE_MAX) DPL_TRY(measure(run, units, secret, \&size));/' src/ledger/plan.c
