# The exact number of units goes into the model.
# tests: fit_test
sed -i 's/model->trips_estimated = dpl_plan_units(release->plan);/model->trips_estimated = (int64_t)counted->kept->n_units;/' src/method/paper/paper.c
