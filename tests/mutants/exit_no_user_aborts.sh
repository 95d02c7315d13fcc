# One trip without a user ends the run.
# tests: unit_test
sed -i 's/    if (unit == DPL_UNIT_USER) {/&\n        for (size_t i = 0; i < trips->n_trips; i++)\n            if (trips->user[i] < 0) return dpl_fail(run, DPL_BAD_DATA, "a trip names no user");/' src/fit/sizes.c
