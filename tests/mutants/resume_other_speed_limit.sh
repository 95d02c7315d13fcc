# A checkpoint is not bound to the speed limit.
# tests: resume_test
sed -i 's/^    AREA(speed_limit_kmh),/    FREE(dpl_area, OWNER_AREA, speed_limit_kmh, ""),/' src/fit/binding.c
