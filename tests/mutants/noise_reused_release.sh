# The same noise may be put on two vectors.
# tests: random_test lattice_test
sed -i 's/if (secret->released\[id.purpose\] & bit)/if (false \&\& (secret->released[id.purpose] \& bit))/' src/base/random.c
