#!/usr/bin/env python3
"""Packs build/python into one wheel for every CPython from 3.9 on, with all libraries inside.

The package has no compiled code of its own, only the shared library that it loads: so one wheel
serves every version of Python, and its tag names the machine alone. What the library needs beyond
the C library goes into dploc.libs beside it, with the licences of all of it.
usage: wheel.py BUILD_DIRECTORY DIST_DIRECTORY
"""

import base64
import hashlib
import os
import re
import shutil
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

# What every Linux has, by the rules for wheels (manylinux).
EVERYWHERE = re.compile(r"^(ld-linux.*|lib(c|m|dl|rt|pthread|gcc_s|stdc\+\+|resolv|util))\.so")
STAMP = (1980, 1, 1, 0, 0, 0)  # the same files are the same wheel


def output(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def needed(library):
    """The libraries that must come along: (name, file)."""
    found = re.findall(r"^\s*(\S+) => (/\S+)", output("ldd", library), flags=re.M)
    return {name: Path(path).resolve() for name, path in found if not EVERYWHERE.match(name)}


def glibc_of(files):
    """The oldest C library that all of them can be loaded with."""
    versions = set()
    for file in files:
        versions |= {tuple(map(int, one.split("."))) for one in
                     re.findall(r"GLIBC_(\d+\.\d+)", output("readelf", "-V", file))}
    return max(versions)


def own_name(name, path):
    """libcrypto.so.3 as libcrypto-1a2b3c4d.so.3: another copy that is loaded already, by the
    interpreter for one, does not stand in for it."""
    digest = hashlib.sha256(path.read_bytes()).hexdigest()[:8]
    stem, _, version = name.partition(".so")
    return f"{stem}-{digest}.so{version}"


def patch(file, *options):
    subprocess.run(["patchelf", *options, file], check=True)


def bundle(package, libraries):
    """Copies the libraries beside the package, and makes everything look there."""
    place = package.parent / "dploc.libs"
    place.mkdir()
    names = {name: own_name(name, path) for name, path in libraries.items()}
    for name, path in libraries.items():
        shutil.copy(path, place / names[name])
        os.chmod(place / names[name], 0o755)
        patch(place / names[name], "--set-soname", names[name], "--set-rpath", "$ORIGIN")
    made = [place / name for name in names.values()]
    patch(package / "libdploc.so.0", "--set-rpath", "$ORIGIN/../dploc.libs")
    for file in [package / "libdploc.so.0", *made]:
        asked = re.findall(r"NEEDED.*\[(.*)\]", output("readelf", "-d", file))
        for name in sorted(set(asked) & set(names)):  # an order of its own would change bytes
            patch(file, "--replace-needed", name, names[name])
    return made


def licences(libraries, into):
    """Of dploc, and of everything that is bundled: what Debian has about each package."""
    into.mkdir(parents=True)
    shutil.copy("LICENSE", into / "LICENSE")
    for path in libraries.values():
        for name in (path, Path("/usr" + str(path)), Path(str(path).removeprefix("/usr"))):
            found = subprocess.run(["dpkg", "-S", str(name)], capture_output=True, text=True)
            if found.returncode == 0:
                break
        else:
            sys.exit(f"no package owns {path}: its licence is not known")
        package = found.stdout.partition(":")[0]
        shutil.copy(Path("/usr/share/doc", package, "copyright"), into / package)


def metadata(version):
    readme = Path("docs/PYTHON.md").read_text(encoding="utf-8")
    return ("Metadata-Version: 2.1\nName: dploc\n"
            f"Version: {version}\n"
            "Summary: Publish synthetic trips instead of private ones, with a true epsilon\n"
            "Requires-Python: >=3.9\nLicense-File: LICENSE\n"
            "Description-Content-Type: text/markdown\n\n" + readme)


def write_wheel(tree, info, tag, target):
    record = info / "RECORD"
    files = sorted(path for path in tree.rglob("*") if path.is_file())
    lines = []
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as wheel:
        for path in files:
            data, name = path.read_bytes(), path.relative_to(tree).as_posix()
            digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
            lines.append(f"{name},sha256={digest},{len(data)}")
            entry = zipfile.ZipInfo(name, STAMP)
            entry.external_attr = (0o755 if ".so" in path.name else 0o644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, data)
        name = record.relative_to(tree).as_posix()
        wheel.writestr(zipfile.ZipInfo(name, STAMP), "\n".join([*lines, f"{name},,"]) + "\n")
    print(f"{target}: {target.stat().st_size / 1e6:.0f} MB, {len(files)} files, {tag}")


def main():
    build, dist = Path(sys.argv[1]), Path(sys.argv[2])
    version = re.search(r"project\(dploc VERSION ([0-9.]+)", Path("CMakeLists.txt").read_text())[1]
    dist.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as work:
        tree, info = Path(work, "tree"), Path(work, "tree", f"dploc-{version}.dist-info")
        shutil.copytree(build / "python" / "dploc", tree / "dploc",
                        ignore=shutil.ignore_patterns("__pycache__"))
        libraries = needed(tree / "dploc" / "libdploc.so.0")
        licences(libraries, info / "licenses")
        bundled = bundle(tree / "dploc", libraries)
        major, minor = glibc_of([tree / "dploc" / "libdploc.so.0", *bundled])
        tag = f"py3-none-manylinux_{major}_{minor}_{os.uname().machine}"
        (info / "METADATA").write_text(metadata(version), encoding="utf-8")
        (info / "WHEEL").write_text("Wheel-Version: 1.0\nGenerator: dploc\nRoot-Is-Purelib: false\n"
                                    f"Tag: {tag}\n")
        write_wheel(tree, info, tag, dist / f"dploc-{version}-{tag}.whl")


main()
