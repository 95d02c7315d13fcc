# What smoothing lifts stays lifted.
# tests: bridge_stages_test
sed -i 's|^    add_running_mean(left, n, out);|    (void)left;|' src/method/bridge/lengths.c
