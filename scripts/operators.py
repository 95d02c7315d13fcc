#!/usr/bin/env python3
"""Mutants by operators, over every function of the privacy code: noise, account, ledger, fit.

    scripts/operators.py list               one line a mutant: name, function, what changes
    scripts/operators.py run OUT [NAME...]  tries them against a build in build/, and appends a line
                                            "name function verdict test" to OUT; those that OUT has
                                            are left out, so that it goes on where it was stopped
    scripts/operators.py keep OUT           writes what OUT says was killed to tests/mutants/op_*
    scripts/operators.py table OUT          killed, survived and not compiled, by file

An operator is turned round (< and <=, == and !=, && and ||, + and -, * and /), a check is left
out, or a constant is one off. At most PER_FUNCTION of each function, spread evenly over it, the
same ones every time. Running one: its file is compiled and linked before the library into the tests
of its folder, which are run until one fails (a time limit counts as failing).
"""

import hashlib
import json
import re
import resource
import shlex
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("noise", "account", "ledger", "fit")
PER_FUNCTION = 1
TIME_S = 120
MEMORY = 8 << 30
# Quick ones first.
TESTS = {
    "noise": "lattice_test laplace_test filter_test local_test sampler_test gaussian_exact_test "
             "gaussian_test noised_test count_test",
    "account": "account_edges_test account_test plan_test certificate_test",
    "ledger": "ledger_test plan_test certificate_test api_test resume_test",
    "fit": "unit_test topk_test fit_test rounds_test resume_test count_test api_test filter_test",
}
LEFT, RIGHT = r"(?<=[\w)\]] )", r"(?= [\w(-])"
OPERATORS = [(re.compile(pattern, re.M), new) for pattern, new in (
    (LEFT + "<=" + RIGHT, "<"), (LEFT + ">=" + RIGHT, ">"),
    (LEFT + "<" + RIGHT, "<="), (LEFT + ">" + RIGHT, ">="),
    (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="),
    (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (LEFT + r"\+(?= [\w(])", "-"), (LEFT + r"-(?= [\w(])", "+"),
    (LEFT + r"\*(?= [\w(])", "/"), (LEFT + r"/(?= [\w(])", "*"),
    (r"(?<=if \()!", "!!"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<= )1(?=[;,)])", "2"), (r"(?<== )0(?=[;,)])", "1"), (r"DPL_TRY\((?=.*\);$)", "(void)("),
)]
FUNCTION = re.compile(r"^(?!#)[a-z][\w\s*]*?\b(\w+)\([^;{]*\)\s*\{\n(.*?)^\}", re.M | re.S)


def blank(text):
    """The text with comments and strings as spaces: nothing there is an operator."""
    return re.sub(r'"(?:\\.|[^"\\])*"|//[^\n]*|/\*.*?\*/',
                  lambda match: re.sub(r"[^\n]", " ", match[0]), text, flags=re.S)


def spots(body):
    """(position, length, new text) of each operator within a function."""
    plain = blank(body)
    found = {}
    for pattern, new in OPERATORS:
        for match in pattern.finditer(plain):
            found.setdefault(match.start(), (match.start(), match.end() - match.start(), new))
    return [found[at] for at in sorted(found)]


def spread(items, n):
    """n of them, evenly."""
    return [items[(2 * i + 1) * len(items) // (2 * n)] for i in range(n)] if len(items) > n \
        else items


def old_text(text, at, length):
    """Whole lines around a spot that are found once."""
    begin, end = text.rfind("\n", 0, at) + 1, text.find("\n", at)
    while len(re.findall(r"\s+".join(map(re.escape, text[begin:end].split())), text)) != 1:
        begin = text.rfind("\n", 0, begin - 1) + 1
    return begin, end


def mutants():
    """name -> (file, function, old, new, whole new text)"""
    made = {}
    for folder in FOLDERS:
        for file in sorted((ROOT / "src" / folder).glob("*.c")):
            text = file.read_text()
            for function in FUNCTION.finditer(text):
                for k, (at, length, new) in enumerate(spread(spots(function[2]), PER_FUNCTION)):
                    at += function.start(2)
                    begin, end = old_text(text, at, length)
                    name = f"op_{folder}_{file.stem}_{function[1].removeprefix('dpl_')}_{k + 1}"
                    made[name] = (file, function[1], text[begin:end],
                                  text[begin:at] + new + text[at + length:end],
                                  text[:at] + new + text[at + length:])
    return made


# ---- running ----

def command_of(file):
    """How the file is compiled, without its output."""
    entries = json.loads((ROOT / "build/compile_commands.json").read_text())
    words = shlex.split(next(e["command"] for e in entries if e["file"] == str(file)))
    at = words.index("-o")
    left_out = ("ccache", "-O3", "-Werror")
    return [word for word in words[:at] + words[at + 4:] if word not in left_out]


def link_of(test):
    """How ninja links a test, as words."""
    told = subprocess.run(["ninja", "-C", "build", "-t", "commands", "-s", f"tests/{test}"],
                          cwd=ROOT, capture_output=True, text=True, check=True).stdout
    line = told.strip().split("\n")[-1].removeprefix(": && ").removesuffix(" && :")
    return shlex.split(line)


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))


def passes(test, links, extra, work):
    words = list(links[test])
    words[words.index("-o") + 1] = str(work / test)
    words.insert(words.index("-o"), extra) if extra else None
    linked = subprocess.run(words, cwd=ROOT / "build", capture_output=True, check=False)
    if linked.returncode:
        return True  # nothing of the file is in this test
    try:
        done = subprocess.run([work / test], cwd=ROOT / "build", capture_output=True, check=False,
                              timeout=TIME_S, preexec_fn=limit_memory)
    except subprocess.TimeoutExpired:
        return False
    return done.returncode == 0


def verdict_of(name, mutant, links, work):
    file, _, _, _, text = mutant
    source, made = work / f"{name}.c", str(work / "mutant.o")
    source.write_text(text)
    built = subprocess.run(command_of(file) + ["-O1", "-w", "-c", str(source), "-o", made],
                           cwd=ROOT / "build", capture_output=True, check=False)
    if built.returncode:
        return "not-compiled", "-"
    for test in TESTS[file.parent.name].split():
        if test in links and not passes(test, links, made, work):
            return "killed", test
    return "survived", "-"


def run(out, wanted):
    done = {line.split()[0] for line in out.read_text().splitlines()} if out.exists() else set()
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        folders = {name.split("_")[1] for name in mutants()
                   if not wanted or any(word in name for word in wanted)}
        links = {test: link_of(test) for folder in folders for test in TESTS[folder].split()}
        for test in list(links):
            if not passes(test, links, None, work):
                print(f"{test} is red without a mutant and is left out", file=sys.stderr)
                del links[test]
        # Stopped early, it has seen a bit of everything.
        order = sorted(mutants().items(), key=lambda m: hashlib.sha256(m[0].encode()).digest())
        for name, mutant in order:
            if name in done or (wanted and not any(word in name for word in wanted)):
                continue
            verdict, test = verdict_of(name, mutant, links, work)
            with out.open("a") as file:
                file.write(f"{name} {mutant[1]} {verdict} {test}\n")


# ---- afterwards ----

def keep(out):
    made = mutants()
    for line in out.read_text().splitlines():
        name, function, verdict, test = line.split()
        if verdict == "killed":
            file, _, old, new, _ = made[name]
            (ROOT / "tests/mutants" / name).write_text(
                f"# An operator of {function} is turned round (scripts/operators.py).\n"
                f"tests: {test}\n\nfile: {file.relative_to(ROOT)}\nold: {old.strip()}\n"
                f"new: {new.strip()}\n")


def table(out):
    rows = {}
    for line in out.read_text().splitlines():
        name, _, verdict, _ = line.split()
        row = rows.setdefault("/".join(str(mutants_of[name][0]).split("/")[-2:]), {})
        row[verdict] = row.get(verdict, 0) + 1
    print("| file | killed | survived | not compiled |\n|---|---|---|---|")
    for file, row in sorted(rows.items()):
        print(f"| {file} | {row.get('killed', 0)} | {row.get('survived', 0)} | "
              f"{row.get('not-compiled', 0)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("list", "run", "keep", "table"):
        sys.exit(__doc__)
    mutants_of = mutants()
    if sys.argv[1] == "list":
        for name, (_, function, old, new, _) in mutants_of.items():
            print(name, function, "|", " ".join(old.split()), "->", " ".join(new.split()))
    elif sys.argv[1] == "run":
        run(Path(sys.argv[2]), sys.argv[3:])
    elif sys.argv[1] == "keep":
        keep(Path(sys.argv[2]))
    else:
        table(Path(sys.argv[2]))
