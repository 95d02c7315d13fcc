# What a data set is depends on which thread has read which row.
# tests: identity_test
sed -i 's/^    add_wide(identity->sum, identifier->sum\[0\]);/    add_wide(identity->sum, identifier->sum[0] * identifier->rows);/' src/ingest/identity.c
