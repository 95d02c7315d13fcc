# The new trips appear beside the certificate of the old ones.
# tests: crash
sed -i '/^enum dpl_status dpl_bundle_commit/,/^}/{s/status = show_sides(bundle)/status = dpl_file_show(bundle->file)/;s/        status = dpl_file_show(bundle->file);/        status = show_sides(bundle);/}' src/base/bundle.c
