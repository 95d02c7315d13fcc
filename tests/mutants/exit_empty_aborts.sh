# A fit asks whether the data yields anything: an exact predicate of the data.
# tests: unit_test
sed -i 's/    DPL_GO(read_and_clean(run, settled.name, settled.n, &reading, area, &trips, fit->facts));/&\n    DPL_GO(check_yield(run, fit->facts, trips));/' src/pipeline.c
