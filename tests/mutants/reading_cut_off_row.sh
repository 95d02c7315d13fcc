# A last line without its end is read as a row.
# tests: neighbours_test
sed -i "s/^    size_t keep = last ? (size_t)(last + 1 - block->text) : 0;/    (void)last;\n    if (block->length \&\& block->text[block->length - 1] != '\\\\n') block->text[block->length++] = '\\\\n';\n    size_t keep = block->length;/" src/ingest/feeder.c
