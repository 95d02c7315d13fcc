# The certificate of stretches cut from tracks speaks of trips.
# tests: cli_fit
sed -i 's/\.trips_as_cut = fit->options.trips_as_cut,/.trips_as_cut = false,/' src/fit/fit.c
