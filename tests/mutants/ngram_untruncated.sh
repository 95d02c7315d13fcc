# A trip is counted beyond L_max.
# tests: ngram_test
sed -i 's/if (n > length_max) n = length_max;/if (n > 100 * length_max) n = length_max;/' src/method/ngram/tree.c
