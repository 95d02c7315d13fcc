# A node's noise may be drawn twice.
# tests: filter_test
sed -i 's/if (node >= filter->n || filter->noised\[node\])/if (node >= filter->n)/' src/noise/filter.c
