# Each gram is counted twice.
# tests: ngram_test
sed -i 's/worker->exact\[symbol\[tree->walk\[walks\[i\]\]\]\]++;/worker->exact[symbol[tree->walk[walks[i]]]] += 2;/' src/method/ngram/tree.c
