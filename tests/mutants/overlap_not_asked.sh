# Data that overlaps a known data set is not asked about.
# tests: cli_ledger
sed -i "s/^    subject->new_data = question\[0\] != '.0';/    subject->new_data = false;/" src/ledger/ledger.c
