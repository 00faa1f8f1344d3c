"""The notebooks of examples/notebooks run as they stand, cell after cell, and print what is stored in them; skipped where
PyTorch or matplotlib is not installed.

    python3 test_notebooks.py --write [NAME ...]     runs them and stores what they show (needs nbclient and ipykernel)

What cells print is compared to 2 % of its numbers, but of cells with the tag "varies": numbers that are rounding alone, or
random numbers, which another version of PyTorch makes otherwise."""

import contextlib
import importlib.util
import io
import json
import os
import pathlib
import sys
import unittest
import warnings

import ending

from dualbragg._dualbragg import lib

SOURCE = os.environ.get("SOURCE_DIR", ".")
FOLDER = pathlib.Path(SOURCE, "examples", "notebooks")
NEEDED = {"ten_minutes": ["matplotlib"]}
LARGEST = 250000  # bytes of a notebook
DRAWN = {"dpi": 50}
sys.path.append(os.path.join(SOURCE, "tests", "docs"))
from run_pages import missing_line  # noqa: E402


def write(path):
    """Runs a notebook, and keeps what it shows."""
    import nbclient
    import nbformat
    book = nbformat.read(path, 4)
    hidden = nbformat.v4.new_code_cell(f"%matplotlib inline\n%config InlineBackend.print_figure_kwargs = {DRAWN}")
    book.cells.insert(0, hidden)
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3", record_timing=False,
                            resources={"metadata": {"path": str(path.parent)}}).execute()
    del book.cells[0]
    for n, cell in enumerate(c for c in book.cells if c.cell_type == "code"):
        cell.execution_count = n + 1
        cell.outputs = merged([o for o in cell.outputs if o.get("name") != "stderr"])
        for output in cell.outputs:
            output.pop("execution_count", None)
            if output.output_type == "execute_result":
                output.execution_count = n + 1
    book.metadata = nbformat.NotebookNode(
        kernelspec={"display_name": "Python 3", "language": "python", "name": "python3"}, language_info={"name": "python"})
    nbformat.validate(book)
    path.write_text(json.dumps(json.loads(nbformat.writes(book)), indent=1, ensure_ascii=False, sort_keys=True) + "\n",
                    encoding="utf-8")


def merged(outputs):
    """Pieces of text as one."""
    found = []
    for output in outputs:
        if output.output_type == "stream" and found and found[-1].output_type == "stream":
            found[-1].text += output.text
        else:
            found.append(output)
    return found


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Notebooks(unittest.TestCase):
    def run_all(self, name):
        for package in NEEDED.get(name, ["matplotlib", "torch"]):
            if importlib.util.find_spec(package) is None:
                self.skipTest(f"{name}: {package} is not installed")
        path = FOLDER / (name + ".ipynb")
        self.assertLess(path.stat().st_size, LARGEST, "pictures of a notebook are small")
        cells = [c for c in json.loads(path.read_text(encoding="utf-8"))["cells"] if c["cell_type"] == "code"]
        names = {"display": lambda *shown: None}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages
            import matplotlib
            matplotlib.use("Agg")
            for i, cell in enumerate(cells):
                self.run_cell(f"{name}, code cell {i}", cell, names)
        import matplotlib.pyplot
        matplotlib.pyplot.close("all")

    def run_cell(self, where, cell, names):
        printed, stored = io.StringIO(), "".join("".join(o["text"]) for o in cell["outputs"] if o["output_type"] == "stream")
        with contextlib.redirect_stdout(printed), contextlib.redirect_stderr(io.StringIO()):
            exec(compile("".join(cell["source"]), where, "exec"), names)
        self.assertEqual(bool(stored), bool(printed.getvalue()), f"{where} does not store what it prints: --write")
        if "varies" not in cell["metadata"].get("tags", []):
            line = missing_line(stored, printed.getvalue())
            self.assertIsNone(line, f"{where} has stored a line that is not printed: {line}\n{printed.getvalue()}")

    def test_pictures_are_stored(self):
        for path in sorted(FOLDER.glob("*.ipynb")):
            shown = [o for c in json.loads(path.read_text(encoding="utf-8"))["cells"] for o in c.get("outputs", [])]
            self.assertTrue(any("image/png" in o.get("data", {}) for o in shown), f"{path.name} shows no picture: --write")
            self.assertFalse([o for o in shown if o["output_type"] == "error"], path.name)

    def test_ten_minutes(self):
        self.run_all("ten_minutes")

    def test_beside_the_port(self):
        self.run_all("beside_the_port")

    def test_train_a_network(self):
        self.run_all("train_a_network")

    def test_structure_factors(self):
        self.run_all("structure_factors")


if __name__ == "__main__":
    if "--write" in sys.argv:
        for asked in sys.argv[2:] or sorted(p.stem for p in FOLDER.glob("*.ipynb")):
            write(FOLDER / (asked + ".ipynb"))
    else:
        ending.main()
