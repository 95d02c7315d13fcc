#!/usr/bin/env python3
"""Mutants by operators, over every function of the privacy code: noise, account, ledger, fit.

    scripts/operators.py list               one line a mutant: name, function, what changes
    scripts/operators.py run OUT [NAME...]  tries them against a build in build/, and appends a line
                                            "name function verdict test" to OUT; those that OUT has
                                            are left out, so that it goes on where it was stopped
    scripts/operators.py quick OUT [NAME...]  likewise with quick tests alone: what survives them is
                                            left to `run`, and listed in OUT.slow
    scripts/operators.py keep OUT           writes what OUT says was killed to tests/mutants/op_*
    scripts/operators.py refresh            writes tests/mutants/op_* anew after the code changed
    scripts/operators.py table OUT          killed, equivalent, survived, not compiled, by file

tests/operators.results is such an OUT, function by function; of what survived and is equivalent it
has the reason instead of a test.

An operator is turned round (< and <=, == and !=, && and ||, + and -, * and /), a check is left
out, or a constant is one off. At most PER_FUNCTION of each function, spread evenly over it, the
same ones every time. Running one: its file is compiled and linked before the library into the tests
of its folder, which are run until one fails (three times its usual processor time and five seconds
count as failing).
"""

import functools
import hashlib
import json
import os
import re
import resource
import shlex
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ("noise", "account", "ledger", "fit")
PER_FUNCTION = 1
WAIT = 40  # times its processor time a test may take: machines are busy, and tests sleep
USUAL_S = 300  # what no test takes without a mutant
QUICK_S = 15  # what a quick test may take with one
MEMORY = 8 << 30
TESTS = {
    "noise": "lattice_test laplace_test filter_test local_test sampler_test gaussian_exact_test "
             "gaussian_test noised_test",
    "account": "plan_test certificate_test account_test account_edges_test",
    "ledger": "ledger_test plan_test certificate_test",
    "fit": "topk_test people_test fit_test count_test",
}
# What else concerns single files.
ROUNDS, RESUMED, SHOWN = "rounds_test", "resume_test", "fit_test certificate_test"
MORE = {"counts": f"parts_test {ROUNDS}", "rounds": f"answers_test {ROUNDS}",
        "shard": f"parts_test {ROUNDS}",
        "shard_read": ROUNDS, "shard_count": f"parts_test {ROUNDS}",
        "count": "parts_test spill_test",
        "task": f"task_test {ROUNDS}", "task_summary": f"task_test {ROUNDS}", "plan": ROUNDS,
        "mechanism": "topk_test informed_test",
        "binding": f"binding_test {RESUMED}", "checkpoint": f"checkpoint_test {RESUMED} {ROUNDS}",
        "release": f"{RESUMED} noised_test", "datasets": "identity_test", "describe": SHOWN,
        "replay": "informed_test", "threshold": "threshold_test",
        "lattice": "count_test", "ledger": "api_test resume_test", "fit": "api_test",
        "released": "api_test", "filter": f"ngram_test {ROUNDS}"}
# The test that is about a file comes first, then quick ones.
OWN = {"chain": "ledger", "datasets": "identity", "verify": "certificate", "claim": "certificate",
       "event": "certificate",
       "release": "fit", "describe": "fit", "choose": "topk", "units": "people", "sizes": "topk",
       "counts": "parts", "shard": "parts", "shard_read": "rounds", "shard_count": "parts",
       "count": "parts", "rounds": "answers", "loss_grid": "account", "pld": "account",
       "rdp": "account", "fft": "account"}
# A test that includes the file is compiled with the mutant instead.
INCLUDED = {"gaussian_exact": "gaussian_exact_test"}
LEFT, RIGHT = r"(?<=[\w)\]] )", r"(?= [\w(-])"
OPERATORS = [(re.compile(pattern, re.M), new) for pattern, new in (
    (LEFT + "<=" + RIGHT, "<"), (LEFT + ">=" + RIGHT, ">"),
    (LEFT + "<" + RIGHT, "<="), (LEFT + ">" + RIGHT, ">="),
    (r"(?<= )==(?= )", "!="), (r"(?<= )!=(?= )", "=="),
    (r"(?<= )&&(?= )", "||"), (r"(?<= )\|\|(?= )", "&&"),
    (LEFT + r"\+(?= [\w(])", "-"), (LEFT + r"-(?= [\w(])", "+"),
    (LEFT + r"\*(?= [\w(])", "/"), (LEFT + r"/(?= [\w(])", "*"),
    (r"(?<=if \()!", "!!"), (r"\btrue\b", "false"), (r"\bfalse\b", "true"),
    (r"(?<= )(?<!alloc\(run, )1(?=[;,)])(?!, sizeof)(?!\) : NULL)", "2"),
    (r"(?<== )0(?=[;,)])", "1"), (r"DPL_TRY\((?=.*\);$)", "(void)("),
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


def limits(cpu_s):
    """What a test may use, set in its process."""
    def set_them():
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        resource.setrlimit(resource.RLIMIT_CPU, (cpu_s, cpu_s))
    return set_them


def used_s():
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def passes(test, links, extra, work, limit_s=USUAL_S, instead=None):
    words = list(links[test])
    words[words.index("-o") + 1] = str(work / test)
    words.insert(words.index("-o"), extra) if extra else None
    if instead:
        words = [instead if word.endswith(f"{test}.c.o") else word for word in words]
        words.remove(extra)
    linked = subprocess.run(words, cwd=ROOT / "build", capture_output=True, check=False)
    if linked.returncode:
        return True  # nothing of the file is in this test
    # Nothing here looks at what a disk has after a loss of power, and waiting for it takes longest.
    settings = os.environ | {"LD_PRELOAD": str(ROOT / "build/tests/libnofsync.so"),
                             "OMP_WAIT_POLICY": "passive"}
    running = subprocess.Popen([work / test], cwd=work / "run", stdout=subprocess.DEVNULL,
                               stderr=subprocess.PIPE, preexec_fn=limits(int(limit_s)),
                               env=settings)
    timer = threading.Timer(WAIT * limit_s, running.kill)
    timer.start()
    for line in running.stderr:
        if b"[  FAILED  ]" in line:  # what comes after it tells nothing more
            running.kill()
            break
    timer.cancel()
    running.stderr.close()
    return running.wait() == 0


def tests_of(file):
    return sorted(set((TESTS[file.parent.name] + " " + MORE.get(file.stem, "")).split()))


def with_included(file, test, text, work):
    """The object of a test that includes the file, made with the mutant; None: it does not."""
    if INCLUDED.get(file.stem) != test:
        return None
    over = work / "over" / file.parent.name
    over.mkdir(parents=True, exist_ok=True)
    (over / file.name).write_text(text)
    words, made = command_of(ROOT / f"tests/{test}.c"), str(work / "test.o")
    subprocess.run(words[:1] + ["-I", str(work / "over")] + words[1:] +
                   ["-O1", "-w", "-c", str(ROOT / f"tests/{test}.c"), "-o", made],
                   cwd=ROOT / "build", capture_output=True, check=True)
    return made


def compiled(file, text, work):
    """The object of a file with this text, as bytes; None: it does not compile."""
    source, made = work / "mutant.c", work / "mutant.o"
    source.write_text(text)
    words = ["-O1", "-w", "-c", str(source), "-o", str(made)]
    built = subprocess.run(command_of(file) + words, cwd=ROOT / "build", capture_output=True,
                           check=False)
    return None if built.returncode else made.read_bytes()


@functools.cache
def unchanged(file, work):
    return compiled(file, file.read_text(), work)


def verdict_of(mutant, links, limits_s, work, quick):
    file, _, _, _, text = mutant
    before, after, made = unchanged(file, work), compiled(file, text, work), str(work / "mutant.o")
    if after is None:
        return "not-compiled", "-"
    if after == before:
        return "equivalent", "the compiler makes the same of it"
    tests = [test for test in tests_of(file) if not quick or limits_s[test] <= QUICK_S]
    own = OWN.get(file.stem, file.stem)
    for test in sorted(tests, key=lambda test: (not test.startswith(own), limits_s[test])):
        instead = with_included(file, test, text, work)
        if not passes(test, links, made, work, limits_s[test], instead):
            return "killed", test
    return (None if quick else "survived"), "-"


def usual(file, links, work):
    """What each test may take, by what it takes without a mutant; kept for the next run."""
    known = json.loads(file.read_text()) if file.exists() else {}
    for test in set(links) - set(known):
        before = used_s()
        if passes(test, links, None, work):
            known[test] = 5 + 3 * (used_s() - before)
        else:
            sys.exit(f"{test} is red without a mutant")
    file.write_text(json.dumps(known))
    return known


def run(out, wanted, quick):
    slow = out.with_name(out.name + ".slow")
    lists = [out, slow] if quick else [out]
    done = {line.split()[0] for file in lists if file.exists()
            for line in file.read_text().splitlines()}
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        (work / "run").mkdir()
        (work / "tests").symlink_to(ROOT / "tests")  # files that tests find by their own place
        asked = {name: mutant for name, mutant in mutants().items() if name not in done and
                 (not wanted or any(word in name for word in wanted))}
        links = {test: link_of(test)
                 for test in {test for mutant in asked.values() for test in tests_of(mutant[0])}}
        limits_s = usual(out.with_name(out.name + ".limits"), links, work)
        # Stopped early, it has seen a bit of everything.
        for name, mutant in sorted(asked.items(),
                                   key=lambda m: hashlib.sha256(m[0].encode()).digest()):
            verdict, test = verdict_of(mutant, links, limits_s, work, quick)
            with (out if verdict else slow).open("a") as file:
                file.write(f"{name} {mutant[1]} {verdict} {test}\n")


# ---- afterwards ----

def results(file):
    """(name, function, verdict, test or reason) of each line."""
    return [line.split(None, 3) for line in file.read_text().splitlines()]


def write(name, mutant, test):
    file, function, old, new, _ = mutant
    (ROOT / "tests/mutants" / name).write_text(
        f"# An operator of {function} is turned round (scripts/operators.py).\n"
        f"tests: {test}\n\nfile: {file.relative_to(ROOT)}\nold: {old.strip()}\n"
        f"new: {new.strip()}\n")


def keep(out):
    made = mutants()
    for name, _, verdict, test in results(out):
        if verdict == "killed" and name in made:
            write(name, made[name], test)


def refresh():
    """After a change of the code: each op_* as the operator has it now; gone with its function."""
    made = mutants()
    for path in sorted((ROOT / "tests/mutants").glob("op_*")):
        if path.name in made:
            write(path.name, made[path.name], re.search("^tests: (.*)", path.read_text(), re.M)[1])
        else:
            path.unlink()
            print(f"{path.name}: the code has no such operator any more")


def table(out):
    rows = {}
    for name, _, verdict, _ in results(out):
        if name in mutants_of:
            file = mutants_of[name][0]
            row = rows.setdefault(f"{file.parent.name}/{file.name}", {})
            row[verdict] = row.get(verdict, 0) + 1
    columns = ("killed", "equivalent", "survived", "not-compiled")
    print(f"| file | {' | '.join(columns)} |\n|---|{'---|' * len(columns)}")
    for file, row in sorted(rows.items()):
        print(f"| {file} | {' | '.join(str(row.get(c, 0)) for c in columns)} |")


if __name__ == "__main__":
    if len(sys.argv) < 2 or sys.argv[1] not in ("list", "run", "quick", "keep", "refresh", "table"):
        sys.exit(__doc__)
    mutants_of = mutants()
    if sys.argv[1] == "list":
        for name, (_, function, old, new, _) in mutants_of.items():
            print(name, function, "|", " ".join(old.split()), "->", " ".join(new.split()))
    elif sys.argv[1] in ("run", "quick"):
        run(Path(sys.argv[2]), sys.argv[3:], sys.argv[1] == "quick")
    elif sys.argv[1] == "keep":
        keep(Path(sys.argv[2]))
    elif sys.argv[1] == "refresh":
        refresh()
    else:
        table(Path(sys.argv[2]))
