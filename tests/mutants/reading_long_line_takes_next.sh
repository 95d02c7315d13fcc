# A line over the limit takes what stands behind it in the block with it.
# tests: neighbours_test
sed -i 's/stop ? (size_t)(end - stop - 1) : 0);/0);/' src/ingest/feeder.c
