# The size is reserved after its noise was drawn.
# tests: plan_test
sed -i -e '/^    DPL_TRY(dpl_ledger_reserve(ledger, "size", &size.event));/d' \
    -e 's/^    if (!noiseless) DPL_TRY(measure(run, units, secret, &size));/&\n    DPL_TRY(dpl_ledger_reserve(ledger, "size", \&size.event));/' src/ledger/plan.c
