# A member of an option struct is neither bound nor listed as free.
# tests: resume_test
sed -i '/^    READ(time_unit),/d' src/fit/binding.c
