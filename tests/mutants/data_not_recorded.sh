# A ledger does not say what rows it is of.
# tests: cli_ledger
sed -i 's/^    DPL_GO(record_data(ledger, .subject));$//' src/ledger/ledger.c
sed -i 's/^static enum dpl_status record_data/__attribute__((unused)) static enum dpl_status record_data/' src/ledger/ledger.c
