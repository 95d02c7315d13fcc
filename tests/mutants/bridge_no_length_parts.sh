# Lengths do not depend on the part of the day.
# tests: bridge_stages_test
sed -i 's|^    dpl_blend_all(table->value, by_part,.*||' src/method/bridge/lengths.c
