# Every command guesses from the first rows.
# tests: cli_reading
sed -i 's/bool may_guess = options->guess && /bool may_guess = /' src/ingest/feeder.c
