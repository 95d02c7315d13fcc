"""Which library is loaded: the one beside the package, or, where there is none, the system's."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

import dploc
from support import Case

SHOW = "import dploc; print(dploc.library.lib._name)"


class Loaded(Case):
    def shown(self, folder, **environment):
        # In that folder: Python looks for packages where it stands before it looks elsewhere.
        return subprocess.run([sys.executable, "-c", SHOW], check=True, capture_output=True,
                              text=True, timeout=120, cwd=folder,
                              env={**os.environ, "PYTHONPATH": folder, **environment}).stdout

    def test_the_one_beside_the_package(self):
        package = Path(dploc.__file__).parent
        self.assertIn(str(package / "libdploc.so.0"), self.shown(str(package.parent)))

    def test_the_systems_where_none_is_beside(self):
        """As in a Debian package, whose library is in a package of its own."""
        package, alone = Path(dploc.__file__).parent, Path(self.path("alone"))
        shutil.copytree(package, alone / "dploc",
                        ignore=shutil.ignore_patterns("libdploc*", "__pycache__"))
        shown = self.shown(str(alone), LD_LIBRARY_PATH=str(package))
        self.assertEqual(shown.strip(), "libdploc.so.0")


if __name__ == "__main__":
    unittest.main()
