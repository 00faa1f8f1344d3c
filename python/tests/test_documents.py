"""The code in the documents runs as it stands there, one block after the other, and prints what they show."""

import ast
import contextlib
import io
import os
import re
import sys
import tempfile
import unittest

import ending

import dualbragg
from dualbragg import experiment
from dualbragg._dualbragg import lib

SOURCE = os.environ.get("SOURCE_DIR", ".")
sys.path.append(os.path.join(SOURCE, "tests", "docs"))
from run_pages import missing_line  # noqa: E402


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Documents(unittest.TestCase):
    def test_examples_run(self):
        for name in ("README.md", "python/README.md", "docs/howto/python.md", "docs/tutorials/python.md",
                     "docs/tutorials/anomalous.md"):
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

    def test_the_reference_has_all_that_people_call(self):
        sys.path.append(os.path.join(SOURCE, "docs", "site"))
        import python_reference
        with open(os.path.join(SOURCE, "docs", "reference", "python-api.md"), encoding="utf-8") as file:
            page = file.read()
        made = python_reference.expanded(page, os.path.join(SOURCE, "python", "dualbragg"))
        shown = set(re.findall(r"^### `(\w+)`$", made, re.M))
        elsewhere = {"features", "threads", "version"}  # of the module that has no other public names
        self.assertEqual(set(dualbragg.__all__) - shown - elsewhere, set())
        for line in ("Plan.vjp(cotangent: Memory, out: Memory | None=None) -> Floats", "Batch.experiment: Experiment",
                     "values: Floats | None = None", "crystal size in unit cells", "header: Path | None=None"):
            self.assertTrue(line in made, line)
        self.assertEqual(set(python_reference.BLOCK.findall(page)),
                         {n[:-3] for n in os.listdir(os.path.join(SOURCE, "python", "dualbragg"))
                          if n.endswith(".py") and not n.startswith("_")})

    def test_the_names_of_the_port_and_ours_exist(self):
        """Each name of the port's configurations has its row, and what stands beside it is a keyword or a parameter."""
        def page(*path):
            with open(os.path.join(SOURCE, *path), encoding="utf-8") as file:
                return file.read()
        port = ast.parse(page("python", "dualbragg", "nanobrag_torch", "config.py"))
        ours = {*dualbragg.fields(), *dualbragg.parameters(), *experiment._NUMBERS, *experiment._FILES, "layer_depth"}
        howto = page("docs", "howto", "from-nanobrag-torch.md")
        for kind in ("CrystalConfig", "DetectorConfig", "BeamConfig"):
            fields, = [[n.target.id for n in c.body if isinstance(n, ast.AnnAssign)] for c in port.body
                       if isinstance(c, ast.ClassDef) and c.name == kind]
            table = re.search(rf"^\| `{kind}` \| dualbragg \|\n.*?\n\n", howto, re.S | re.M).group()
            rows = [re.findall(r"`([^`]*)`", cell) for line in table.splitlines()[2:] for cell in line.split("|")[1:3]]
            self.assertEqual(sorted(n for names in rows[::2] for n in names), sorted(fields), kind)
            named = {n for names in rows[1::2] for n in names if re.fullmatch(r"[A-Za-z_]\w*", n)}
            self.assertEqual(named - ours - {"Plan", "fit"}, set(), kind)


if __name__ == "__main__":
    ending.main()
