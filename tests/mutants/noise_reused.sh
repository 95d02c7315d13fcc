# All releases of one key draw the same noise.
# tests: random_test lattice_test
sed -i 's/(wide)id.purpose << FIELD_BITS | id.a)/(wide)id.purpose << FIELD_BITS | 0 * id.a)/' src/base/random.c
