"""Manual pages and completions: what the program writes is taken by man, bash, zsh and fish."""
import os
import pty
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

DPLOC = ""


def output(*arguments: str) -> str:
    return subprocess.run([DPLOC, *arguments], check=True, capture_output=True, text=True).stdout


def commands() -> list[str]:
    return output("--list", "commands").split()


def options(command: str) -> set[str]:
    """Names in the full help of a command."""
    return set(
        re.findall(r"^  (?:-., |    )--([a-z-]+)", output("help", command, "--all"), re.MULTILINE)
    )


class ManualTest(unittest.TestCase):
    def test_every_option_is_taken(self):
        for command in commands():
            self.assertGreater(len(options(command)), 5)
            for name in options(command):
                run = subprocess.run(
                    [DPLOC, command, f"--{name}", "--help"], capture_output=True, text=True
                )
                self.assertNotIn("there is no option", run.stderr, (command, name))
                self.assertNotIn("report this", run.stderr, (command, name))

    @unittest.skipUnless(shutil.which("mandoc"), "mandoc is not installed")
    def test_pages_are_clean_and_complete(self):
        for command in [None, *commands()]:
            page = output("--list", "man", *([command] if command else []))
            lint = subprocess.run(
                ["mandoc", "-Tlint", "-Wwarning"], input=page, capture_output=True, text=True
            )
            complaints = [line for line in lint.stdout.splitlines() if "missing date" not in line]
            self.assertEqual(complaints, [], command)
            shown = subprocess.run(
                ["mandoc", "-Tascii"], input=page, capture_output=True, text=True
            ).stdout
            shown = re.sub(".\b", "", shown)
            wanted = (
                {f"--{name}" for name in options(command)}
                if command
                else {f"dploc-{c}(1)" for c in commands()}
            )
            self.assertEqual([name for name in wanted if name not in shown], [], command)


class Completion:
    """What a shell offers for a line; each shell by its own machinery."""

    def __init__(self, folder: Path):
        self.folder = folder

    def script(self, shell: str) -> str:
        path = self.folder / f"dploc.{shell}"
        path.write_text(output("--list", "completions", shell))
        return str(path)

    def bash(self, line: str) -> list[str]:
        words = line.split(" ")
        code = """source "$1"; shift; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _dploc
            printf "%s\\n" "${COMPREPLY[@]}" """
        run = subprocess.run(
            ["bash", "-c", code, "bash", self.script("bash"), *words],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
        )
        return run.stdout.split()

    def fish(self, line: str) -> list[str]:
        code = f"source {self.script('fish')}; complete -C '{line}'"
        run = subprocess.run(
            ["fish", "--no-config", "-c", code],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=True,
            env=dict(os.environ, HOME=str(self.folder)),
        )
        return [offer.split("\t")[0] for offer in run.stdout.splitlines()]

    def zsh(self, line: str) -> list[str]:
        """Types the line and a tab into a zsh on a pseudo-terminal and reads what it shows."""
        process, master = pty.fork()
        if process == 0:
            os.chdir(self.folder)
            os.environ.update(TERM="dumb", HOME=str(self.folder), PS1="ready> ")
            os.execvp("zsh", ["zsh", "-f", "-i"])
        # Keys that wait to be read would cut the list short: the widget says when it stands there.
        setup = f"""LISTMAX=9999; stty cols 200
            autoload -Uz compinit && compinit -u -D && source {self.script('zsh')}
            tab() {{ zle list-choices; zle -R; print LIST''ED }}; zle -N tab
            bindkey '^I' tab; print LOAD''ED\n"""
        os.write(master, setup.encode())
        self.until(master, "LOADED")
        os.write(master, line.encode() + b"\t")
        shown = self.until(master, "LISTED")
        os.write(master, b"\x15exit\n")  # ^U empties the line
        self.until(master, "never")
        os.close(master)
        os.waitpid(process, 0)
        return re.findall(r"[a-zA-Z-][\w.-]*", shown)

    @staticmethod
    def until(master: int, text: str) -> str:
        """Reads until the text is shown, or to the end."""
        shown = ""
        while text not in shown:
            try:
                shown += os.read(master, 65536).decode(errors="replace")
            except OSError:  # the other side is closed
                break
        return shown


class CompletionTest(unittest.TestCase):
    """Lines, what must be offered, and what must not."""

    CASES = [
        ("dploc sy", {"synth"}, {"fit"}),
        ("dploc synth --ep", {"--epsilon"}, {"--unit"}),
        ("dploc synth --unit ", {"trip", "user"}, {"city.csv"}),
        ("dploc fit city.csv --method ", {"bridge", "adatrace", "ldptrace", "sglt"}, {"city.csv"}),
        ("dploc inspect --region por", {"porto", "porto-downtown"}, {"sf"}),
        ("dploc region s", {"sf", "simulated"}, {"porto", "city.csv"}),
        ("dploc fit ci", {"city.csv"}, {"--cell"}),
        ("dploc fit -o ci", {"city.csv"}, set()),
    ]

    def check(self, shell: str):
        if not shutil.which(shell):
            self.skipTest(f"{shell} is not installed")
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "city.csv").touch()
            completion = getattr(Completion(Path(folder)), shell)
            for line, wanted, unwanted in self.CASES:
                offers = set(completion(line)) - set(line.split())
                self.assertEqual(wanted - offers, set(), (line, offers))
                self.assertEqual(unwanted & offers, set(), (line, offers))

    def test_bash(self):
        self.check("bash")

    def test_fish(self):
        self.check("fish")

    def test_zsh(self):
        self.check("zsh")

    def test_every_option_is_offered(self):
        scripts = {
            shell: output("--list", "completions", shell) for shell in ("bash", "zsh", "fish")
        }
        for command in commands():
            for name in options(command):
                self.assertIn(f" --{name}", scripts["bash"])
                self.assertIn(f"--{name}", scripts["zsh"])
                self.assertIn(f"from {command}' -l {name}", scripts["fish"])


if __name__ == "__main__":
    DPLOC = os.path.abspath(sys.argv.pop(1))
    unittest.main()
