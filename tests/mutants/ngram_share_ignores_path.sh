# A child's share forgets what its ancestors took, and the filter lets it.
# tests: ngram_test
sed -i 's|dpl_filter_left(tree->filter, v) / child.height|DPL_FILTER_WHOLE / child.height|' src/method/ngram/tree.c
sed -i 's/part > dpl_filter_left(filter, parent))/part > DPL_FILTER_WHOLE)/' src/noise/filter.c
