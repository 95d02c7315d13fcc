# A file with an odd name or a broken header ends the run.
# tests: neighbours_test
sed -i '/if (unusable && !options->strict) return pass_over(feeder, name, status);/d' src/ingest/feeder.c
