# The manifest says how many trips were read.
# tests: fit_test
sed -i 's/"options", fit->public);/"options", fit->public), json_object_set_new(object, "trips_read", json_integer(fit->facts->trips_read));/' src/method/fit.c
