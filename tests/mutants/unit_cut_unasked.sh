# Trips are cut out of tracks and protected as trips, without a word of the holder.
# tests: cli_fit
sed -i 's/settled.need_trips = !settled.need_users \&\& !options->trips_as_cut;/settled.need_trips = false;/' src/fit/fit.c
