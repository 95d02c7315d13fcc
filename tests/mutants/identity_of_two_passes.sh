# Rows of a pass that was given up count.
# tests: identity_test
sed -i '/if (reader->identity) identifier_clear/d' src/ingest/read.c
