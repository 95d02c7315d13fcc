# A unit's norm is not checked, and nothing is scaled down.
# tests: lattice_test
sed -i -e 's/return dpl_exact_norm(exact->options.norm, exact->steps, exact->merged) <= exact->limit;/return true;/' \
    -e 's/if (!(fabs(steps) <= radius)) return false;/(void)radius;/' \
    -e 's/double share = length > exact->options.sensitivity ? exact->options.sensitivity \/ length : 1;/double share = 1;/' src/noise/lattice.c
