# A trip whose rows are scattered belongs to the user of its last stretch.
# tests: unit_test
sed -i 's/        for (size_t i = 0; i < group->n; i++)$/        reader->sorted_groups[number].user = group->user;\n&/' src/ingest/read.c
