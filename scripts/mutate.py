#!/usr/bin/env python3
"""Applies a mutant, which is a deliberate defect, to a tree.

    scripts/mutate.py MUTANT TREE        edit the files of TREE, print their names
    scripts/mutate.py --check MUTANT...  edit nothing; name the mutants that do not apply here

A mutant is a text file (tests/mutants):

    # What it breaks.
    tests: NAME NAME

    file: src/noise/lattice.c
    old: if (length > limit)
    new: if (false)

It has one or more edits: `old:` and `new:` in the file named last. A text may go on over the
following lines. White space in the old text matches any white space, also across lines, so that
layout does not matter. The old text must be found exactly once; `old all:` means wherever it is
found. Nothing may be left without effect: an edit that changes no byte is an error.
"""

import re
import sys
from pathlib import Path

KEY = re.compile(r"(tests|file|old|old all|new):(?:[ \t]+|$)")


class Broken(Exception):
    """The mutant does not apply; the text says why."""


def fields(path):
    """The (key, text) pairs of a mutant, in order."""
    pairs = []
    for line in path.read_text().splitlines():
        key = KEY.match(line)
        if key:
            pairs.append([key[1], line[key.end():]])
        elif pairs:
            pairs[-1][1] += "\n" + line
        elif line.strip() and not line.startswith("#"):
            raise Broken(f"not understood: {line}")
    return [(key, text.strip()) for key, text in pairs]


def edits(path):
    """The (file, old, new, whether it may match more than once) of a mutant."""
    found, file, old, tests = [], None, None, None
    for key, text in fields(path):
        if (old is None) != (key != "new"):
            raise Broken("each old: is followed by its new:")
        if key == "tests":
            tests = text.split()
        elif key == "file":
            file = text
        elif key == "new":
            found.append((file, *old, text))
            old = None
        elif not text:
            raise Broken("an old text is empty")
        else:
            old = (text, key == "old all")
    if not tests:
        raise Broken("no line tests:")
    if old or not found or not all(file for file, *_ in found):
        raise Broken("an edit is a file:, an old: and a new:")
    return found


def replace(source, old, everywhere, new):
    """The source with the old text replaced."""
    pattern = re.compile(r"\s+".join(re.escape(word) for word in old.split()))
    changed, count = pattern.subn(lambda match: new, source)
    if count != 1 and not (everywhere and count):
        raise Broken(f"found {count} times: {' '.join(old.split())}")
    if changed == source:
        raise Broken(f"changes nothing: {' '.join(old.split())}")
    return changed


def mutated(path, tree):
    """What the files of the tree become: path -> text."""
    texts = {}
    for name, old, everywhere, new in edits(path):
        file = tree / name
        if not file.is_file():
            raise Broken(f"no file {name}")
        texts[file] = replace(texts.get(file) or file.read_text(), old, everywhere, new)
    return texts


def check(paths, tree):
    """0 when all mutants apply to the tree; the others are named."""
    broken = 0
    for path in paths:
        try:
            mutated(path, tree)
        except Broken as reason:
            print(f"{path}: {reason}", file=sys.stderr)
            broken += 1
    return 1 if broken else 0


def main(arguments):
    if len(arguments) > 1 and arguments[0] == "--check":
        return check(map(Path, arguments[1:]), Path("."))
    if len(arguments) != 2:
        print(__doc__, file=sys.stderr)
        return 2
    path, tree = map(Path, arguments)
    try:
        texts = mutated(path, tree)
    except Broken as reason:
        print(reason)
        return 1
    for file, text in texts.items():
        file.write_text(text)
        print(file.relative_to(tree))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
