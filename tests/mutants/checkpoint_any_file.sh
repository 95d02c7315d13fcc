# --restart overwrites whatever --checkpoint names with zeros.
# tests: cli_files
sed -i '/^enum dpl_status dpl_checkpoint_check/,/^}/s/if (!path) return DPL_OK;/if (!path || path[0]) return DPL_OK;/' src/fit/checkpoint.c
