# Each visit of a trip is added as a unit of its own, with a weight of one.
# tests: adatrace_test
sed -i 's|DPL_GO(dpl_exact_add(run, exact, trip.entry, trip.n_entries)); // PRIVACY.*|for (size_t i = 0; i < trip.n_entries; i++) DPL_GO(dpl_exact_add(run, exact, \&(struct dpl_entry){trip.entry[i].index, 1}, 1));|' src/method/adatrace/measure.c
