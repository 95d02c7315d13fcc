# A cut tail goes unnoticed.
# tests: ledger_test
sed -i -e 's/^    if (length < chain->tip.length) return .*$//' \
    -e 's/if (json_array_size(chain->lines) != chain->tip.lines || strcmp(hash, chain->tip.hash) != 0)/if (json_array_size(chain->lines) > chain->tip.lines)/' src/ledger/chain.c
