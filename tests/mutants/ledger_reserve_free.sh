# A reservation writes no line.
# tests: ledger_test
sed -i 's/^    json_t \*line = json_pack("{s:s, s:s, s:s}", "type", "reserve"/    if (event->sigma > 0) return DPL_OK;\n&/' src/ledger/ledger.c
