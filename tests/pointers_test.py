#!/usr/bin/env python3
"""Pointers lead somewhere: every page, heading and file that the tree names is there.

    pointers_test.py SOURCE_DIRECTORY

In code, scripts and pages: `docs/X.md` is a page, and `docs/X.md, "Heading"` has a heading that
begins so; a path below src, cli, tests, include, scripts, bench, experiments, fuzz or docs exists;
no page is named that is not in the repository. Globs and braces are left alone.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

FOLDERS = "src|cli|tests|include|scripts|bench|experiments|fuzz|docs|web|examples|man"
PAGE = re.compile(r"\b(?:docs/)?([A-Z][A-Z_]+)\.md(?:,\s*(?:[#/* ]*)\"([^\"]+)\")?")
PATH = re.compile(
    r"(?<![\w/.$}-])((?:" + FOLDERS + r")/[\w./-]+\.(?:c|h|sh|py|md|json|mjs|html|test))\b"
)
# Made by a run, or a name to be filled in.
MADE = re.compile(r"^(docs/images/|examples/)|NAME")


def headings(page):
    return [
        line.lstrip("#").strip() for line in page.read_text().splitlines() if line.startswith("#")
    ]


def wrong(root, name, text):
    """The pointers of one file that lead nowhere."""
    joined = re.sub(r"\n[ \t]*(?:\*|//|#)?[ \t]*", " ", text)
    for page, heading in PAGE.findall(joined):
        where = next(
            (p for p in (root / "docs" / f"{page}.md", root / f"{page}.md") if p.exists()), None
        )
        if not where:
            yield f"{name}: there is no page {page}.md"
        elif heading and not any(h.startswith(heading) or heading in h for h in headings(where)):
            yield f"{name}: {page}.md has no heading \"{heading}\""
    for path in PATH.findall(text):
        if not (root / path).exists() and not MADE.search(path):
            yield f"{name}: there is no {path}"


def main():
    root = Path(sys.argv[1])
    listed = shutil.which("git") and subprocess.run(
        ["git", "-C", root, "ls-files", "-co", "--exclude-standard"], capture_output=True, text=True
    )
    names = (
        listed.stdout.split("\n")
        if listed and listed.returncode == 0
        else [
            str(p.relative_to(root))
            for p in root.rglob("*")
            if p.is_file() and "build" not in p.parts
        ]
    )
    bad, read = [], 0
    for name in names:
        path = root / name
        if not re.search(r"\.(c|h|sh|py|md|txt|test)$", name) or not path.is_file():
            continue
        if name.startswith(
            ("CHANGELOG", "web/node_modules", "tests/pointers_test.py", "tests/cli/")
        ):
            continue
        read += 1
        bad += wrong(root, name, path.read_text(errors="replace"))
    print("\n".join(bad) or f"{read} files, no pointer that leads nowhere")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
