# Half the noise that was accounted for.
# tests: vector_test
sed -i 's/nextafter(event->sigma \* event->sensitivity, INFINITY)/nextafter(0.5 * event->sigma * event->sensitivity, INFINITY)/' src/privacy/mechanism.c
