# A certificate takes the place of the warning while the old trips are still there.
# tests: crash
sed -i '/^enum dpl_status dpl_file_clear/,/^}/s/    if (file->old.st_ino == 0) return DPL_OK;/    return DPL_OK;/' src/base/file.c
