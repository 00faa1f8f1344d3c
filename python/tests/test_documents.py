"""The code in the documents runs as it stands there, one block after the other, and prints what they show."""

import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

import ending

from dualbragg._dualbragg import lib

SOURCE = os.environ.get("SOURCE_DIR", ".")
sys.path.append(os.path.join(SOURCE, "tests", "docs"))
from run_pages import missing_line  # noqa: E402


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Documents(unittest.TestCase):
    def test_examples_run(self):
        for name in ("README.md", "python/README.md", "docs/howto/python.md", "docs/tutorials/python.md"):
            with open(os.path.join(SOURCE, name), encoding="utf-8") as document:
                blocks = re.findall(r"^```python\n(.*?)^```(?:\n\n```text\n(.*?)^```)?", document.read(), re.S | re.M)
            self.assertTrue(blocks, name)
            before = os.getcwd()
            with tempfile.TemporaryDirectory() as folder:
                os.symlink(os.path.abspath(os.path.join(SOURCE, "examples")),
                           os.path.join(folder, "examples"))
                os.chdir(folder)
                try:
                    names = {}
                    for block, shown in blocks:
                        printed = io.StringIO()
                        with contextlib.redirect_stdout(printed):
                            exec(compile(block, name, "exec"), names)
                        line = missing_line(shown, printed.getvalue())
                        self.assertIsNone(line, f"{name} shows a line that is not printed: {line}\n{printed.getvalue()}")
                finally:
                    os.chdir(before)


if __name__ == "__main__":
    ending.main()
