"""The code in the documents runs as it stands there, one block after the other."""

import os
import re
import tempfile
import unittest

import ending

from dualbragg._dualbragg import lib

SOURCE = os.environ.get("SOURCE_DIR", ".")


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Documents(unittest.TestCase):
    def test_examples_run(self):
        for name in ("README.md", "python/README.md", "docs/howto/python.md"):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as document:
                blocks = re.findall(r"^```python\n(.*?)^```", document.read(), re.S | re.M)
            self.assertTrue(blocks, name)
            before = os.getcwd()
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.abspath(os.path.join(SOURCE, "examples")),
                           os.path.join(folder, "examples"))
                os.chdir(folder)
                try:
                    names = {}
                    for block in blocks:
                        exec(compile(block, name, "exec"), names)
                finally:
                    os.chdir(before)


if __name__ == "__main__":
    ending.main()
