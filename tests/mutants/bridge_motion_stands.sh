# Standing on counts as a motion, so that one trip can fill the table with it.
# tests: bridge_test
sed -i 's|if (!stop) DPL_TRY|if (v > 0 \|\| stop) DPL_TRY|' src/method/bridge/measure.c
