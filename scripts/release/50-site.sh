#!/usr/bin/env bash
# The site: no broken link, every page looked at in a browser at 400 and 1400 px.
set -euo pipefail
scripts/setup.sh browser
scripts/setup.sh site
/usr/bin/python3 site/build.py build/site
node tests/browser/site.mjs build/site build/web build/site-pictures
