# Ends by hour are not refined by their tables.
# tests: bridge_stages_test
sed -i 's|DPL_GO(dpl_refine(run, places, &measured, out));|(void)measured;|' src/method/bridge/flows.c
