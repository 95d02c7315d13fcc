# The tail follows its power law where there are no trips at all.
# tests: bridge_stages_test
sed -i 's|double most = fmin(.*|double most = TAIL_MOST * all + 0 * (seen + bins) * TAIL_DOUBT;|' src/method/bridge/lengths.c
