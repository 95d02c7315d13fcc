# Half the noise on every Gaussian table, where the certificate says all of it.
# tests: audit
sed -i 's/    double sigma = noise_steps(event, \*exact);/    double sigma = noise_steps(event, *exact) * 0.5;/' src/noise/mechanism.c
