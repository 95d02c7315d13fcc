# Half the noise on the table of visits, where the certificate says all of it.
# tests: audit
sed -i 's/    double sigma = noise_steps(event, \*exact);/    double sigma = noise_steps(event, *exact) * (event->name[0] == '"'v'"' ? 0.5 : 1);/' src/noise/mechanism.c
