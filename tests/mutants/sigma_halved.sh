# Half the noise that was accounted for.
# tests: lattice_test
sed -i 's/nextafter(event->sigma \* event->sensitivity, INFINITY)/nextafter(0.5 * event->sigma * event->sensitivity, INFINITY)/' src/noise/mechanism.c
