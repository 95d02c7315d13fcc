# Tasks are tested on trips of users that were trained on.
# tests: points_test
sed -i 's/uint64_t unit = user >= 0 ? (uint64_t)user \* 2 + 1 : (uint64_t)origin \* 2;/uint64_t unit = user >= 0 ? (uint64_t)origin * 2 : (uint64_t)origin * 2;/' src/evaluate/tasks.c
