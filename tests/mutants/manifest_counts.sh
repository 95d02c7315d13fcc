# The manifest says how many trips were read.
# tests: fit_test
sed -i 's/    enum dpl_status status = dump(run, object, JSON_INDENT(2) | JSON_REAL_PRECISION(15), text);/    if (object \&\& fit->facts) json_object_set_new(object, "trips_read", json_integer(fit->facts->trips_read));\n&/' src/fit/fit.c
