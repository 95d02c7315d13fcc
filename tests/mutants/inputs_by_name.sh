# Inputs and outputs are compared by their names.
# tests: cli_files
sed -i 's/targets->place\[i\].there && same_inode(info, &targets->place\[i\].file)/targets->place[i].there \&\& info \&\& !strcmp(path, targets->place[i].path)/' src/base/paths.c
