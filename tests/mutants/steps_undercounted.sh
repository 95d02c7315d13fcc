# An epoch is one step short, as |B|/|D| steps would be.
# tests: plan_test
sed -i 's/double steps = by_epochs ? ceil(/double steps = by_epochs ? floor(0.999 * /' src/ledger/plan.c
