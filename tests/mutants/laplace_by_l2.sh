# Laplace noise for vectors whose L2 norm is bounded.
# tests: baselines_test
sed -i 's/.norm = laplace ? DPL_NORM_L1 : DPL_NORM_L2/.norm = DPL_NORM_L2/' src/fit/release.c
sed -i 's/check(run, event, DPL_EVENT_LAPLACE, DPL_NORM_L1, \*exact)/check(run, event, DPL_EVENT_LAPLACE, (*exact)->options.norm, *exact)/' src/noise/mechanism.c
