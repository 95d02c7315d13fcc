#!/usr/bin/env python3
"""What the program is made of, as SPDX 2.3: dist/dploc-VERSION.spdx.json

usage: sbom.py PROGRAM OUT

Linked libraries as the loader finds them, by Debian package; what is bundled in the report's page,
from the list in LICENSES, which every build checks against what was bundled. The same program on
the same machine gives the same bytes.
"""
import json
import os
import re
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def linked(program):
    """(Debian package, version) of every library that the loader loads."""
    packages = {}
    for path in sorted(set(re.findall(r"=> (/\S+)", run("ldd", program)))):
        name = os.path.basename(os.path.realpath(path))
        package = run("dpkg", "-S", f"*/{name}").split("\n")[0].split(":")[0].split(",")[0]
        packages[package] = run("dpkg-query", "-W", "-f=${Version}", package)
    return sorted(packages.items())


def bundled():
    """(name, version, licence) of what stands in the page."""
    with open(os.path.join(ROOT, "LICENSES"), encoding="utf-8") as file:
        return re.findall(r"^=+\n(\S+) ([0-9][^:]*): (.+)\n=+$", file.read(), flags=re.M)


def version():
    return run(os.path.join(ROOT, "scripts/version.sh")).strip()


def package(kind, name, number, licence):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", f"{kind}-{name}"), "name": name,
            "versionInfo": number, "licenseDeclared": licence, "licenseConcluded": "NOASSERTION",
            "downloadLocation": "NOASSERTION", "filesAnalyzed": False}


def document(program):
    own = package("Package", "dploc", version(), "Apache-2.0")
    others = [("DYNAMIC_LINK", package("deb", name, number, "NOASSERTION"))
              for name, number in linked(program)]
    others += [("CONTAINS", package("npm", name, number, licence))
               for name, number, licence in bundled()]
    seconds = int(run("git", "-C", ROOT, "log", "-1", "--format=%ct"))
    created = run("date", "-u", "-d", f"@{seconds}", "+%Y-%m-%dT%H:%M:%SZ").strip()
    return {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT",
        "name": f"dploc-{version()}",
        "documentNamespace": f"https://spdx.org/spdxdocs/dploc-{version()}-{seconds}",
        "creationInfo": {"created": created, "creators": ["Tool: dploc scripts/sbom.py"]},
        "packages": [own] + [other for _, other in others],
        "relationships": [{"spdxElementId": "SPDXRef-DOCUMENT", "relationshipType": "DESCRIBES",
                           "relatedSpdxElement": own["SPDXID"]}] +
                         [{"spdxElementId": own["SPDXID"], "relationshipType": kind,
                           "relatedSpdxElement": other["SPDXID"]} for kind, other in others],
    }


def main():
    if len(sys.argv) != 3:
        sys.exit("usage: sbom.py PROGRAM OUT")
    program, out = sys.argv[1:]
    if not bundled():
        sys.exit("sbom: LICENSES lists nothing that is bundled")
    os.makedirs(os.path.dirname(out) or ".", exist_ok=True)
    with open(out, "w", encoding="utf-8") as file:
        json.dump(document(program), file, indent=1)
        file.write("\n")
    print(out)


if __name__ == "__main__":
    main()
