# Overspending is allowed.
# tests: ledger_test
sed -i 's/^    if (total_epsilon <= ledger->limit_epsilon \* (1 + ROUNDING) && /    if (total_epsilon >= 0 \&\& /' src/ledger/ledger.c
