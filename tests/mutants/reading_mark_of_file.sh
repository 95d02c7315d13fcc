# A byte order mark is dropped from the first line of a file alone.
# tests: neighbours_test
sed -i '/BYTE_ORDER_MARK, 3))/,+1d' src/ingest/format.c
sed -i '/^static const char BYTE_ORDER_MARK/d' src/ingest/format.c
sed -i 's/^        DPL_TRY(open_rows(feeder, block, name));/        if (block->length > 3 \&\& !memcmp(block->text, "\\xEF\\xBB\\xBF", 3))\n            memmove(block->text, block->text + 3, block->length -= 3);\n&/' src/ingest/feeder.c
