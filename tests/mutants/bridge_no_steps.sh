# The table of steps is not blended in.
# tests: bridge_stages_test
sed -i 's|^    dpl_blend_all(tables->steps.value, prior,.*||' src/method/bridge/edges.c
