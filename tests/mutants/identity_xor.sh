# Rows are joined by exclusive or: a row that is there twice is lost.
# tests: identity_test
sed -i 's/^        sum += (wide)/        sum ^= (wide)/; s/^    identifier->sum\[which\] += sum;/    identifier->sum[which] ^= sum;/' src/ingest/identity.c
