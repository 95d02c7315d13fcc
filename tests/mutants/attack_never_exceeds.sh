# An attack beyond the bound is not reported.
# tests: attack_test
sed -i 's/attack->exceeds |= beyond_bound/attack->exceeds \&= beyond_bound/' src/evaluate/attack.c
