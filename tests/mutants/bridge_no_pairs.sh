# The table of pairs is not blended in.
# tests: bridge_stages_test
sed -i 's|^    dpl_blend_all(tables->pairs.value, pairs,.*||' src/method/bridge/flows.c
