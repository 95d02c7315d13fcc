# A run that ends after its noise does not say what was charged.
# tests: unit_test
sed -i 's/        status = dpl_release_spent(run, &fit->release, status);/        (void)dpl_release_spent;/' src/pipeline.c
