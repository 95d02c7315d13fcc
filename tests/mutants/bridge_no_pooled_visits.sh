# The table of visits of the day is left out.
# tests: bridge_stages_test
sed -i 's|double w = by_hour > 0 .*|double w = by_hour < 0 \&\& by_cells < 0;|' src/method/bridge/visits.c
