# Batches of a fixed size, cut from the units one after another, instead of Poisson samples.
# tests: sampler_test
sed -i '/^    batch->n = 0;/a\    if (event->rate < 1) {\n        size_t size = (size_t)(event->rate * (double)n_units + 0.5);\n        for (size_t i = 0; i < size; i++) DPL_TRY(take(run, batch, ((uint64_t)step * size + i) % n_units));\n        return DPL_OK;\n    }' src/noise/sampler.c
