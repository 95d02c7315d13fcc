# Children follow from exact counts: what is noised is thrown away.
# tests: ngram_test
sed -i 's/    DPL_TRY(dpl_filter_noise(run, tree->filter, worker->random, v, worker->exact));/    for (size_t i = 0; i <= tree->A; i++) worker->exact[i] *= 65536;/' src/method/ngram/tree.c
