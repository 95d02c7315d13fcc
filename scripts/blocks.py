#!/usr/bin/env python3
"""Prints the code of a Markdown page, so that what readers are told to type can be run.

usage: blocks.py FILE LANGUAGE [HEADING...]

The blocks that begin with ```LANGUAGE, in their order; with headings, those directly under one of
them (not under a heading further down). Ends with 1 when a heading has none.
"""
import re
import sys


def blocks(text, language):
    """(heading, code) of every block of that language."""
    found, heading, code = [], "", None
    for line in text.split("\n"):
        if code is None and line.startswith("#"):
            heading = line.lstrip("#").strip()
        elif code is None and line.startswith("```"):
            code = [line[3:].strip()]
        elif code is not None and re.fullmatch(r"```\s*", line):
            if code[0] == language:
                found.append((heading, "\n".join(code[1:]) + "\n"))
            code = None
        elif code is not None:
            code.append(line)
    return found


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    path, language, *headings = sys.argv[1:]
    with open(path, encoding="utf-8") as file:
        found = blocks(file.read(), language)
    for heading in headings or [None]:
        if not any(heading in (None, name) for name, _ in found):
            sys.exit(f"blocks: {path} has no {language} under {heading or 'any heading'}")
    sys.stdout.write("".join(code for name, code in found if not headings or name in headings))


if __name__ == "__main__":
    main()
