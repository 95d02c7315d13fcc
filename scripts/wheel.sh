#!/usr/bin/env bash
# Builds the wheel into dist/, and tries it in an empty environment: no compiler, no other package,
# no library of the machine's but the C library.
set -euo pipefail
cd "$(dirname "$0")/.."
test -f build/build.ninja || cmake --preset release >/dev/null
cmake --build build --target dploc_python
rm -f dist/dploc-*.whl
python3 scripts/wheel.py build dist

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
/usr/bin/python3 -m venv "$work/venv"
"$work/venv/bin/pip" install --quiet --disable-pip-version-check --no-index dist/dploc-*.whl
cd "$work"
env -i PATH=/nowhere HOME="$work" "$work/venv/bin/python" - <<'END'
import dploc, importlib.metadata, os, pathlib
city = dploc.simulate(output="city.csv", trips=400, seed=1)
assert dploc.inspect(city, region="simulated")["trips_kept"] > 300
model = dploc.fit(city, region="simulated", epsilon=20, ledger=None, output="city.dploc")
drawn = model.sample(trips=10, seed=1, output="drawn.csv")
assert hasattr(drawn, "__arrow_c_stream__")  # there is no pandas here
assert dploc.certificate("drawn.csv").verify()["valid"]
assert dploc.account(gaussian=3.8)["epsilon"] > 0
assert importlib.metadata.version("dploc") == dploc.__version__
loaded = {os.path.basename(line.split()[-1]) for line in open("/proc/self/maps")
          if "/dploc" in line}
for name in ("libdploc", "libjansson", "libarchive", "libcrypto", "libgomp", "libdnnl"):
    assert any(one.startswith(name) for one in loaded), (name, loaded)
licences = list(pathlib.Path(dploc.__path__[0]).parent.glob("dploc-*.dist-info/licenses/*"))
assert len(licences) > 10, licences
print(f"tried in an empty environment: {len(loaded)} libraries of the wheel, {len(licences)} licences")
END
