# The last bin that a walk can have is put whole onto the lengths that a walk can have.
# tests: bridge_stages_test
sed -i 's|double from = below_bin(bin), to = dpl_length_bin_top(bin), inside|double from = below_bin(bin), to = fmin(dpl_length_bin_top(bin), (double)tables->length_max), inside|' src/method/bridge/lengths.c
