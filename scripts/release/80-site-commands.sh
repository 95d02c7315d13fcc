#!/usr/bin/env bash
# What the site tells a reader to type, typed in a fresh root with the Debian packages: how to
# install them, "Your first release" on the command line and in Python, "Coming from", and the
# recipes whose tools Debian has (DuckDB: python/tests/test/recipes_test.py; Spark:
# python/spark/recipe_test.py).
set -euo pipefail
root=$(mktemp -d)
trap 'scripts/root.sh remove "$root"' EXIT
scripts/root.sh make "$root"
mkdir "$root/packages" "$root/typed"
cp dist/*.deb "$root/packages/"
for page in first-release coming-from recipes; do
    scripts/blocks.py site/pages/$page.md sh >"$root/typed/$page.sh"
done
scripts/blocks.py site/pages/index.md sh Install >"$root/typed/install.sh"
scripts/blocks.py site/pages/first-release.md python >"$root/typed/first-release.py"
scripts/blocks.py site/pages/recipes.md python pandas >"$root/typed/recipe_pandas.py"
scripts/blocks.py site/pages/recipes.md sql PostGIS >"$root/typed/postgis.sql"
scripts/root.sh run "$root" bash -exc '
    cd /packages
    bash -ex /typed/install.sh >/dev/null
    apt-get install -y -qq --no-install-recommends gdal-bin postgresql postgis \
        postgresql-postgis >/dev/null
    released() { # by the lines of the page, in the folder where they were typed
        test "$(ls public | wc -l)" = 4
        test -s report.html
        dploc verify public/synthetic.csv
    }
    mkdir /root/shell /root/python /srv/recipes
    cd /root/shell
    bash -ex /typed/first-release.sh
    released
    bash -ex /typed/coming-from.sh
    cd /root/python
    python3 /typed/first-release.py
    released

    cd /srv/recipes
    bash -ex /typed/recipes.sh
    python3 /typed/recipe_pandas.py
    # QGIS reads by GDAL.
    ogrinfo -so lines.geojsonl lines | grep "Feature Count: 5000"
    ogrinfo -so trips.geojson trips | grep "Feature Count: 5000"
    ogrinfo -so -oo X_POSSIBLE_NAMES=lng -oo Y_POSSIBLE_NAMES=lat synthetic.csv synthetic |
        grep "Geometry: Point"
    service postgresql start
    su postgres -c "createdb city && psql -v ON_ERROR_STOP=1 -d city -f /typed/postgis.sql"
    echo "select count(*) > 1000 and min(st_npoints(line)) > 1 from trips" |
        su postgres -c "psql -tA -d city" | grep -x t
    service postgresql stop
'
