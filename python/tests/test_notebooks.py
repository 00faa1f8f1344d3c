"""The notebooks of examples/notebooks run as they stand, cell after cell; skipped where PyTorch or matplotlib is not
installed."""

import importlib.util
import json
import os
import unittest
import warnings

import ending

from dualbragg._dualbragg import lib

FOLDER = os.path.join(os.environ.get("SOURCE_DIR", "."), "examples", "notebooks")
NEEDED = {"ten_minutes": ["matplotlib"]}


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Notebooks(unittest.TestCase):
    def run_all(self, name):
        for package in NEEDED.get(name, ["matplotlib", "torch"]):
            if importlib.util.find_spec(package) is None:
                self.skipTest(f"{name}: {package} is not installed")
        import matplotlib
        matplotlib.use("Agg")
        path = os.path.join(FOLDER, name + ".ipynb")
        self.assertLess(os.path.getsize(path), 50000, "a notebook is kept without its outputs")
        with open(path, encoding="utf-8") as file:
            cells = [c for c in json.load(file)["cells"] if c["cell_type"] == "code"]
        names = {}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages
            for i, cell in enumerate(cells):
                self.assertEqual(cell["outputs"], [])
                exec(compile("".join(cell["source"]), f"{name}, code cell {i}", "exec"), names)
        import matplotlib.pyplot
        matplotlib.pyplot.close("all")

    def test_ten_minutes(self):
        self.run_all("ten_minutes")

    def test_beside_the_port(self):
        self.run_all("beside_the_port")

    def test_train_a_network(self):
        self.run_all("train_a_network")

    def test_structure_factors(self):
        self.run_all("structure_factors")


if __name__ == "__main__":
    ending.main()
