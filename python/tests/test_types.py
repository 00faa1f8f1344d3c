"""Types: all public names have them, Experiment's keywords have those of the library's table, and checkers find no fault in
a program that uses them.

    python3 test_types.py --write     renews dualbragg/_keywords.py and dualbragg/settings.py"""

import ast
import importlib.util
import inspect
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

import dualbragg
import ending
from dualbragg import experiment
from dualbragg._keywords import Keywords
from dualbragg._library import ffi, lib, text

SOURCE = pathlib.Path(os.environ["SOURCE_DIR"], "python", "dualbragg")
KEYWORDS, SETTINGS = SOURCE / "_keywords.py", SOURCE / "settings.py"
HEAD = '''"""Keywords of Experiment as a type, for completion and for checkers: the library's fields, and names of files (made by
python/tests/test_types.py --write)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, Sequence, TypedDict, Union

if TYPE_CHECKING:
    from ._types import Floats, Path

Numbers = Union[Sequence[float], "Floats"]


class Keywords(TypedDict, total=False):
    """Keywords of Experiment; dualbragg.fields() has their ranges and explanations."""
'''


def type_of(name, field, choices):
    if choices == ("no", "yes"):
        return "bool"
    if choices[:2] == ("no", "yes"):
        return f"Union[bool, {type_of(name, field, choices[2:])}]"
    if choices:
        return f"Literal[{', '.join(repr(c).replace(chr(39), chr(34)) for c in choices)}]"
    if field.count > 1:
        return "Union[float, Numbers]" if field.fewest else "Numbers"
    return "float" if field.kind == lib.DB_FIELD_NUMBER else "int"


def keywords():
    """Return the text of _keywords.py."""
    lines = []
    for i, (name, field) in enumerate(dualbragg.fields().items()):
        lines.append((name, type_of(name, lib.db_setup_fields[i], field.choices), field.unit))
    own = [(name, "Path", "") for name in experiment._FILES]
    own += [(name, "str", "") for name in experiment._TEXTS]
    own += [(name, "float" if count == 1 else "Numbers", "") for name, count in experiment._NUMBERS.items()]
    own += [("layer_depth", f"Literal[{', '.join(f'{chr(34)}{d}{chr(34)}' for d in experiment._LAYER_DEPTHS)}]", "")]
    known = {name for name, *_ in lines}
    text = HEAD
    for name, kind, unit in lines + [o for o in own if o[0] not in known]:
        if name not in ("expt_number", "expt_frame"):
            wrapped = textwrap.fill(f"{name}: {kind}" + (f"  # {unit}" if unit else ""), 116, initial_indent=" " * 4,
                                    subsequent_indent=" " * 8)
            text += wrapped + "\n"
    return text


SETTINGS_HEAD = '''"""Settings of a refinement as dataclasses: sections and keys of its configuration, for fit, which checks the values (made
by python/tests/test_types.py --write). None: the default.

    from dualbragg.settings import Data, Model, Refine, Settings, Stage

    found = dualbragg.fit(Settings(image="frame.cbf", model=Model(cell=[78, 78, 38]), data=Data(dmin=2.5),
                                   refine={"cell_a": Refine(range=1)}))
    found = dualbragg.fit(image="frame.cbf", model=Model(find_orientation=True))           # or as keywords
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional, Sequence, TypedDict, Union

from ._configuration import Section

if TYPE_CHECKING:
    from typing import Literal

    from ._keywords import Numbers
    from ._types import Path
'''
# What a configuration has besides the sections of numbers, texts and files.
OWN = [("model", "Union[Model, Dict[str, Any]]", "the starting model"),
       ("panel_groups", 'Union[str, Dict[str, Any]]', "groups of panels that move as one: lists of panels by name; panels; level N"),
       ("intensity", 'Union[Literal["free", "joint"], Intensity, Dict[str, Any]]', "intensities of reflections: free, joint, or "
        "known"),
       ("refine", "Union[Sequence[str], Mapping[str, Union[Refine, Dict[str, Any]]]]", "names of refined parameters, or settings "
        "of each by name"),
       ("starts", "Union[Starts, Dict[str, Any]]", "several starting orientations, for one that is known roughly"),
       ("stages", "Sequence[Union[Stage, Dict[str, Any]]]", "stages of the refinement, in their order"),
       ("data", "Union[Data, Dict[str, Any]]", "pixels of the image to use, and its noise"),
       ("shots", "Union[Shots, Dict[str, Any]]", "many shots refined together, instead of one image"),
       ("intensities", "Union[Intensities, Dict[str, Any]]", "one intensity of each reflection for all shots (intensity: "
        "joint), or merged ones of a series"),
       ("curves", "Union[Curves, Dict[str, Any]]", "refined curves of f' and f'' of kinds of sites, which many shots share")]
KINDS = {"DB_KEY_FILE": "Path", "DB_KEY_NAME": "str", "DB_KEY_SITES": "str",
         "DB_KEY_LATTICES": "Union[bool, Dict[str, int]]", "DB_KEY_ALGORITHM": "str", "DB_KEY_PARAMETER": "str", "DB_KEY_PARAMETER_SET": "Union[str, Sequence[str]]"}


def wrapped(line, then):
    return textwrap.fill(line, 124, initial_indent=" " * 4, subsequent_indent=" " * then, break_on_hyphens=False) + "\n"


def key_type(name, field, choices):
    for kind, its in KINDS.items():
        if field.kind == getattr(lib, kind):
            return its
    return type_of(name, field, choices)


def keys(section):
    """Yield name, type and meaning of each key of a section."""
    for k in range(section.count):
        key = section.keys[k]
        field = getattr(key, "is")
        name, unit, otherwise = text(field.name), text(field.unit), text(key.open)
        choices = dualbragg.fields()[name].choices if name in dualbragg.fields() else choices_of(field)
        meaning = (f"{unit}: " if unit else "") + text(field.help) + (f"; default: {otherwise}" if otherwise else "")
        yield name, key_type(name, field, choices), meaning


def choices_of(field):
    found = []
    while field.choices != ffi.NULL and field.choices[len(found)] != ffi.NULL:
        found.append(text(field.choices[len(found)]))
    return tuple(found)


def section_class(name, help_text, members):
    made = f'\n\n@dataclass\nclass {name}(Section):\n    """{help_text[0].upper() + help_text[1:]}."""\n'
    for member, kind, meaning in members:
        made += wrapped(f"{member}: Optional[{kind}] = None", 8) + wrapped(f'"""{meaning}"""', 4)
    return made


def settings():
    """Return the text of settings.py."""
    sections = {text(s.name): s for s in [lib.db_config_sections[i] for i in range(lib.DB_SECTION_COUNT)]}
    made = SETTINGS_HEAD
    sections = {**sections, "refine": lib.db_refine_section, "stages": lib.db_stage_section}
    names = {"refine": "Refine", "stages": "Stage"}
    helps = {"refine": "settings of a refined parameter", "stages": "stage of a refinement"}
    for name, section in sections.items():
        if name:
            made += section_class(names.get(name, name.capitalize()), helps.get(name, text(section.help)), keys(section))
    members = [*keys(sections[""]), *OWN]
    made += section_class("Settings", "whole configuration", members)
    made += "\n\nclass Sections(TypedDict, total=False):\n    \"\"\"Keywords of fit: the members of Settings.\"\"\"\n"
    for name, kind, _ in members:
        if name != "image":
            made += wrapped(f"{name}: {kind}", 8)
    made += "\n\nclass DataKeywords(TypedDict, total=False):\n    \"\"\"Keywords of searches for orientations: the members of Data.\"\"\"\n"
    for name, kind, _ in keys(sections["data"]):
        made += wrapped(f"{name}: {kind}", 8)
    return made


def public(name):
    return not name.startswith("_") or name in ("__init__", "__call__", "__getitem__", "__setitem__", "__len__", "__iter__")


def missing(tree, where):
    """Yield public functions of a module or class that lack types."""
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and (public(node.name) or node.name == "_Planned"):
            yield from missing(node, f"{where}.{node.name}")
        if not isinstance(node, ast.FunctionDef) or not public(node.name):
            continue
        a = node.args
        given = [*a.posonlyargs, *a.args, *a.kwonlyargs, *filter(None, (a.vararg, a.kwarg))]
        lack = [g.arg for g in given if g.annotation is None and g.arg not in ("self", "cls")]
        if lack or node.returns is None:
            yield f"{where}.{node.name}: {', '.join(lack) or 'what it returns'}"


# of this Python's environment, or of the path
PYRIGHT = next(filter(None, (shutil.which(name, path=os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")]))
                             for name in ("basedpyright", "pyright"))), None)

FRAMEWORKS = importlib.util.find_spec("torch") and importlib.util.find_spec("jax")

PROGRAM = '''
import numpy
from numpy.typing import NDArray

import dualbragg
from dualbragg import Amplitudes, Batch, Experiment, FitResult, MeasuredImage, Plan, RandomShots, Vector
from dualbragg.settings import Data, Intensities, Model, Refine, Settings, Shots, Stage

crystal = Experiment(cell=(78, 78, 38), Ncells=(20, 20, 20), default_F=100, wavelength=1.0, distance=100,
                     detector_pixels=(512, 512), spots="closed", layer_depth="front")
crystal["cell_a"] = crystal["cell_a"] + 0.1
crystal.U = dualbragg.random_rotation(1)
cell: NDArray[numpy.float64] = crystal.unit_cell
panel = crystal.panels[0]
size: tuple[float, float] = panel.pixel_size
plan = Plan(crystal, parameters=["cell_a", "misset_x"], precision="mixed", regions=[(0, slice(0, 8), (0, 8))])
image, derivatives = plan.gradient()
chi2, gradient, curvature = plan.normal(image)
step: float = chi2 + float(gradient[0])
vector: Vector = Plan(crystal).vjp_all(image)
amplitudes = Amplitudes(crystal, numpy.array([[1, 0, 0]]), symmetry="P 43 21 2", friedel=True)
images = Batch(crystal).forward([crystal])
shots = RandomShots(crystal, 10, jitter={"cell_a": 0.1}, noise={"gain": 2})
sample = shots[0]["image"]
counts: NDArray[numpy.int32] = dualbragg.noise(sample, 3, psf="gauss", psf_fwhm=1.0)
measured = MeasuredImage(counts.astype(numpy.float32), gain=1)
result = dualbragg.fit("fit.yaml", image=measured, progress=lambda e: False, refine=["misset_x"])
turned = dualbragg.find_orientation(crystal, measured, dmin=2.5).experiment
names: dict[str, float] = result.values
for name, parameter in result.estimates.items():
    print(name, parameter.value, parameter.error, result.shots[0].verdict.usable, turned.shape)
settings = Settings(image="a.cbf", model=Model(cell=[78, 78, 38], find_orientation=True), data=Data(dmin=2.5, target="poisson"),
                    refine={"cell_a": Refine(range=1)}, stages=[Stage(name="one", refine="all")])
again: FitResult = dualbragg.fit(settings, progress=True)
again = dualbragg.fit(image=["a.cbf", "b.cbf"], intensity="joint", intensities=Intensities(dmin=2), shots=Shots(series=True))
kept: FitResult = FitResult.from_dict(again.to_dict())
crystal.matrices("mosflm").U = crystal.matrices("dxtbx").U
other: Plan = Plan.from_dict(plan.to_dict())
e: Experiment = other.experiment
dualbragg.plot_residuals(kept, scale=10)
dualbragg.plot_spots(e, measured)
dualbragg.to_xarray(plan)
values: dict[str, float] = e.values
'''
WRONG = '''
import dualbragg, dualbragg.settings

crystal = dualbragg.Experiment(cell=(78, 78, 38), distanse=100)
crystal = dualbragg.Experiment(spots="open")
crystal["cell_a"] = "long"
names: list[int] = dualbragg.features()
dualbragg.Plan(crystal).forwards()
dualbragg.fit(model=dualbragg.settings.Model(cel=3))
dualbragg.fit(dta={})
dualbragg.find_orientation(crystal, "a.cbf", dmim=3)
dualbragg.settings.Stage(target="chi")
'''


class Types(unittest.TestCase):
    maxDiff = None

    def test_keywords_are_the_tables(self):
        self.assertEqual(KEYWORDS.read_text(), keywords(), "python3 python/tests/test_types.py --write")

    @unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
    def test_settings_are_the_configuration(self):
        self.assertEqual(SETTINGS.read_text(), settings(), "python3 python/tests/test_types.py --write")

    @unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
    def test_an_experiment_takes_what_a_model_takes(self):
        known = {*Keywords.__annotations__, *inspect.signature(dualbragg.Experiment).parameters, *experiment._ELSEWHERE}
        for section in (lib.DB_SECTION_MODEL, lib.DB_SECTION_INTENSITY):
            self.assertEqual({name for name, *_ in keys(lib.db_config_sections[section])} - known, set())

    def test_all_public_functions_have_types(self):
        lack = []
        for path in sorted([*SOURCE.glob("[!_]*.py"), *SOURCE.glob("[!_]*/**/*.py")]):
            lack += missing(ast.parse(path.read_text()), ".".join(path.relative_to(SOURCE).with_suffix("").parts))
        self.assertEqual(lack, [])

    def check(self, command, program, folder):
        path = pathlib.Path(folder, "program.py")
        path.write_text(program)
        pathlib.Path(folder, "pyrightconfig.json").write_text('{"typeCheckingMode": "strict"}')
        environment = {**os.environ, "MYPYPATH": str(SOURCE.parent), "PYTHONPATH": str(SOURCE.parent)}
        return subprocess.run([*command, str(path)], capture_output=True, text=True, cwd=folder, env=environment, check=False)

    def use(self, command, errors):
        with tempfile.TemporaryDirectory() as folder:
            right, wrong = self.check(command, PROGRAM, folder), self.check(command, WRONG, folder)
        self.assertEqual(right.returncode, 0, right.stdout + right.stderr)
        found = {line.split(":")[1] for line in wrong.stdout.splitlines() if "program.py:" in line and "error" in line}
        self.assertEqual(found, {str(n) for n in errors}, wrong.stdout + wrong.stderr)

    @unittest.skipUnless(importlib.util.find_spec("mypy") and importlib.util.find_spec("typing_extensions"), "no mypy")
    def test_mypy_of_the_package(self):
        # without torch or jax, their classes and decorators are Any
        strict = ["--strict"] if FRAMEWORKS else ["--strict", "--allow-subclassing-any", "--allow-untyped-decorators"]
        found = subprocess.run([sys.executable, "-m", "mypy", *strict, "--ignore-missing-imports", "--cache-dir", os.devnull,
                                "--config-file", os.devnull, str(SOURCE)], capture_output=True, text=True, check=False)
        self.assertEqual(found.returncode, 0, found.stdout + found.stderr)

    @unittest.skipUnless(PYRIGHT, "no basedpyright and no pyright")
    @unittest.skipUnless(FRAMEWORKS, "no torch or no jax: their types are not known")
    def test_types_are_complete(self):
        # --verifytypes takes the first Python on the path, whatever --pythonpath says
        environment = {**os.environ, "PYTHONPATH": str(SOURCE.parent),
                       "PATH": os.pathsep.join([os.path.dirname(sys.executable), os.environ.get("PATH", "")])}
        with tempfile.TemporaryDirectory() as folder:
            found = subprocess.run([PYRIGHT, "--verifytypes", "dualbragg", "--ignoreexternal", "--outputjson"],
                                   capture_output=True, text=True, cwd=folder, env=environment, check=False)
        try:
            told = json.loads(found.stdout)["typeCompleteness"]
        except (KeyError, ValueError):
            self.fail(found.stdout + found.stderr)
        self.assertEqual(pathlib.Path(told["packageRootDirectory"]).resolve(), SOURCE.resolve())
        lack = [f"{symbol['name']}: {', '.join(d['message'] for d in symbol['diagnostics'])}" for symbol in told["symbols"]
                if symbol["isExported"] and not (symbol["isTypeKnown"] and not symbol["isTypeAmbiguous"])]
        self.assertEqual(lack, [])
        self.assertEqual(told["completenessScore"], 1)

    @unittest.skipUnless(importlib.util.find_spec("mypy") and importlib.util.find_spec("typing_extensions"), "no mypy")
    def test_mypy(self):
        self.use([sys.executable, "-m", "mypy", "--strict", "--follow-imports=silent"], range(4, 13))

    @unittest.skipUnless(PYRIGHT, "no basedpyright and no pyright")
    def test_pyright(self):
        self.use([PYRIGHT, "--pythonpath", sys.executable], range(4, 13))


if __name__ == "__main__":
    if "--write" in sys.argv:
        KEYWORDS.write_text(keywords())
        SETTINGS.write_text(settings())
    else:
        ending.main()
