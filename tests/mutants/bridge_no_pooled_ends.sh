# Ends of the day are those of the visits.
# tests: bridge_stages_test
sed -i 's|DPL_TRY(dpl_refine(run, places, &measured, pooled));|(void)measured, (void)run;|' src/method/bridge/flows.c
