"""The examples in a public header, one after the other, as one program.

Code in a header's comments is indented by four blanks behind the star. usage:
header_examples.py HEADER PROGRAM.c
"""

import re
import sys
from pathlib import Path

HEAD = """/* Made by header_examples.py from %s. */
#include <dploc.h>
#include <dploc_arrow.h>
#include <dploc_data.h>
#include <dploc_privacy.h>
#include <dploc_rounds.h>

int main(void) {
"""


def main():
    header = Path(sys.argv[1])
    code = []
    for comment in re.findall(r"/\*.*?\*/", header.read_text(), flags=re.S):
        code += [line[3:] for line in comment.splitlines() if line.startswith(" *     ")]
    if not code:
        sys.exit(f"{header} has no example")
    text = HEAD % header.name + "\n".join(code) + "\n    return 0;\n}\n"
    Path(sys.argv[2]).write_text(text)


main()
