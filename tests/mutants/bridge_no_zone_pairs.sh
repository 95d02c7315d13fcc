# The table of zone pairs is not blended in.
# tests: bridge_stages_test
sed -i 's|^    dpl_blend_all(noisy, blended, Z \* Z,.*|    memcpy(noisy, noisy, 0);|' src/method/bridge/flows.c
