# Any finite cost is near an infinite one.
# tests: ledger_test certificate_test
sed -i 's/^    if (isinf(a) || isinf(b)) return isinf(a) .*/    if (isinf(a) \&\& isinf(b)) return true;/' src/account/event.c
