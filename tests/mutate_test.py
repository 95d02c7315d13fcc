"""scripts/mutate.py: a mutant applies as it says, or is refused with the reason."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPT = Path(__file__).resolve().parent.parent / "scripts" / "mutate.py"
SOURCE = "int f(void) {\n    return one(a,\n               b);\n}\nint g(void) { return 1; }\n"


class Mutate(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.tree = Path(folder.name)
        (self.tree / "a.c").write_text(SOURCE)

    def run_on(self, mutant):
        """Exit status and output of applying the text to the tree."""
        path = self.tree / "mutant"
        path.write_text(mutant)
        done = subprocess.run([sys.executable, SCRIPT, path, self.tree], capture_output=True,
                              text=True, check=False)
        return done.returncode, done.stdout.strip()

    def edited(self, *edits):
        """The file's text after edits that must apply."""
        self.assertEqual(self.run_on("# Why.\ntests: x\n\nfile: a.c\n" + "\n".join(edits)),
                         (0, "a.c"))
        return (self.tree / "a.c").read_text()

    def refused(self, mutant):
        """The reason of a refusal, which leaves the tree alone."""
        status, reason = self.run_on(mutant)
        self.assertEqual(status, 1)
        self.assertEqual((self.tree / "a.c").read_text(), SOURCE)
        return reason

    def test_white_space_matches_across_lines(self):
        self.assertIn("return 0;\n}", self.edited("old: return  one(a, b);", "new: return 0;"))

    def test_texts_go_on_over_lines(self):
        text = self.edited("old: int g(void)", "     { return 1; }", "new: int g(void) {", "}")
        self.assertTrue(text.endswith("int g(void) {\n}\n"))

    def test_an_empty_new_text_deletes(self):
        self.assertNotIn("one", self.edited("old: return one(a, b);", "new:"))

    def test_two_edits_of_one_file_both_stay(self):
        text = self.edited("old: (a,", "new: (c,", "old: return 1", "new: return 2")
        self.assertIn("one(c,", text)
        self.assertIn("return 2", text)

    def test_all_replaces_every_place(self):
        self.assertEqual(self.edited("old all: (void)", "new: (int x)").count("(int x)"), 2)

    def test_an_edit_without_effect_is_refused(self):
        head = "tests: x\nfile: a.c\nold: return 1\nnew: return 2\n"
        self.assertIn("found 0 times", self.refused(head + "old: absent\nnew: b\n"))
        self.assertIn("found 2 times", self.refused(head + "old: (void)\nnew: ()\n"))
        self.assertIn("changes nothing", self.refused(head + "old: (a,\nnew: (a,\n"))
        self.assertIn("found 0 times", self.refused(head + "old all: absent\nnew: b\n"))
        self.assertIn("no file b.c", self.refused(head + "file: b.c\nold: a\nnew: b\n"))

    def test_a_malformed_mutant_is_refused(self):
        self.assertIn("no line tests:", self.refused("file: a.c\nold: return 1\nnew: 2\n"))
        self.assertIn("followed by", self.refused("tests: x\nfile: a.c\nnew: 2\n"))
        self.assertIn("followed by", self.refused("tests: x\nfile: a.c\nold: a\nold: b\nnew: c\n"))
        self.assertIn("an edit is", self.refused("tests: x\nfile: a.c\n"))
        self.assertIn("not understood", self.refused("sed -i s/a/b/ a.c\ntests: x\n"))
        self.assertIn("is empty", self.refused("tests: x\nfile: a.c\nold:\nnew: b\n"))


if __name__ == "__main__":
    unittest.main()
