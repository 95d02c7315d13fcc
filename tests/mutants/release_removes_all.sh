# --release DIR --force removes whatever is in DIR.
# tests: cli_files sample_test
sed -i '/^static enum dpl_status check_released/,/^}/s/    if (known) return DPL_OK;/    if (known || file[0]) return DPL_OK;/' src/sample/publish.c
