"""The library's words name fields of option structs, never options of the command line.

A message names a field in backquotes (`area.cell_m`); cli/fields.c has the option that sets it.
Checked here: no text of the library holds an option; every field in a text has an option; every
field of the table is a member that the public headers declare, and every option one that the
command line takes.   usage: fields_test.py SOURCE_DIRECTORY
"""

import re
import sys
from pathlib import Path

TREE = Path(sys.argv[1])
TEXT = re.compile(r'"(?:[^"\\\n]|\\.)*"')
OPTION = re.compile(r"(?:^|[^-\w])(--?[a-z][a-z%-]*)")
FIELD = re.compile(r"`([^`\n]+)`")
ROW = re.compile(r'\{"([^"]+)", "([^"]+)"\}')
# Options of another program that a message tells the reader to run.
FOREIGN = re.compile(r"osmium|extract -b|cat %s -o")
# Structs that are written by a short name in messages.
OWNERS = {"area": "dpl_area", "read": "dpl_read_options", "budget": "dpl_budget",
          "fit": "dpl_fit_options", "sample": "dpl_sample_options", "report": "dpl_report_options",
          "eval": "dpl_eval_options", "simulate": "dpl_simulate_options", "run": "dpl_run_options",
          "synth": "dpl_synth_options", "points": "dpl_points",
          "attack": "dpl_attack_options"}
# What callers of the library alone can set.
LIBRARY_ONLY = re.compile(r"points\.\w+|read\.time_optional")


def without_comments(source):
    """The source with its comments cut out, line ends kept."""
    def blank(match):
        text = match[0]
        return text if text.startswith('"') else re.sub(r"[^\n]", " ", text)
    return re.sub(r'"(?:[^"\\\n]|\\.)*"|/\*.*?\*/|//[^\n]*', blank, source, flags=re.S)


def texts():
    """(where, text) of every string literal below src; pieces that follow each other are one."""
    for path in sorted((TREE / "src").rglob("*.[ch]")):
        source = without_comments(path.read_text())
        for match in re.finditer(r'"(?:[^"\\\n]|\\.)*"(?:\s*"(?:[^"\\\n]|\\.)*")*', source):
            line = source.count("\n", 0, match.start()) + 1
            whole = "".join(piece[1:-1] for piece in TEXT.findall(match[0]))
            yield f"{path.relative_to(TREE)}:{line}", whole


def members(headers):
    """Names of members by struct, as the headers declare them."""
    found = {}
    for struct, body in re.findall(r"struct (dpl_\w+) \{(.*?)\n\};", headers, flags=re.S):
        found[struct] = set(re.findall(r"\b(\w+)(?:\[[^\]]*\])*\s*[,;]", body))
    return found


def known_field(field, declared, headers):
    """Whether the headers declare it: a member, a list of members, a struct or a parameter."""
    owner, _, names = field.partition(".")
    if not names:
        return owner in OWNERS or re.search(rf"\b{owner}\b", headers) is not None
    return all(
        name.split(".")[0] in declared.get(OWNERS.get(owner), ()) for name in names.split(",")
    )


def main():
    headers = without_comments("".join(p.read_text() for p in (TREE / "include").glob("*.h")))
    declared = members(headers)
    cli = {p.name: p.read_text() for p in (TREE / "cli").glob("*.c")}
    table = dict(ROW.findall(cli.pop("fields.c")))
    taken = set(re.findall(r'"([a-z-]+)"', "".join(cli.values())))
    wrong = []
    for where, text in texts():
        if not FOREIGN.search(text):
            wrong += [f"{where}: names the option {option}" for option in OPTION.findall(text)]
        for field in FIELD.findall(text):
            pattern = re.escape(field).replace("%s", r"\w+")
            if LIBRARY_ONLY.fullmatch(field) and known_field(field, declared, headers):
                continue
            if not any(re.fullmatch(pattern, name) for name in table):
                wrong.append(f"{where}: cli/fields.c has no option for `{field}`")
    for field, option in table.items():
        if not known_field(field, declared, headers):
            wrong.append(f"cli/fields.c: the headers have no {field}")
        for name in re.findall(r"--([a-z-]+)", option):
            if name not in taken:
                wrong.append(f"cli/fields.c: the command line takes no --{name}")
    print("\n".join(wrong) or f"{len(table)} fields, each with its option")
    return bool(wrong)


sys.exit(main())
