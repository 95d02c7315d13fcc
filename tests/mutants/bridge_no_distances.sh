# Pairs do not know how many trips go how far.
# tests: bridge_stages_test
sed -i 's|^    dpl_blend_all(measured, counts, BINS,.*|    (void)measured;|' src/method/bridge/flows.c
