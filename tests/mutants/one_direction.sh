# The accountant looks at adding the unit only.
# tests: account_test
sed -i -e 's/direction_epsilon(account, -1, &window\[1\], remove, &add)/direction_epsilon(account, -1, \&window[1], 0, \&add)/' \
    -e 's/\*epsilon = fmax(remove, add);/*epsilon = add;/' src/account/pld.c
