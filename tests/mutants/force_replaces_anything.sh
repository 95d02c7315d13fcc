# With --force any file is replaced, whoever wrote it.
# tests: cli_files report_test
sed -i 's/bool ours = old->st_size == 0/bool ours = old->st_size >= 0/' src/base/file.c
