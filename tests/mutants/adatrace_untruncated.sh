# A trip is counted beyond L_max.
# tests: adatrace_test
sed -i 's/n < most ? n : most, &trip/most > 0 ? n : most, \&trip/' src/method/adatrace/measure.c
