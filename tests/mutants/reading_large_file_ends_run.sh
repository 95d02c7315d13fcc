# One person's file over the limit ends the run.
# tests: neighbours_test
sed -i 's/return feeder->options->strict ? status : pass_over(feeder, name, status);/return status;/' src/ingest/feeder.c
