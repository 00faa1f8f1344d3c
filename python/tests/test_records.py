"""All that people get from the package is handed on: by pickle, by copy, as a dictionary for json, as a table, as a picture."""

import contextlib
import copy
import functools
import importlib.util
import inspect
import io
import json
import os
import pathlib
import pickle
import re
import sys
import tempfile
import types
import unittest
import unittest.mock
import warnings

import numpy

import ending
import dualbragg
from dualbragg import _progress, _records, refinement, settings
from dualbragg._dualbragg import lib
from test_fit import REFINED, shot, start_of

SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(60, 44), pixel_size=0.4, misset=(10, 20, 30))


def has(package):
    return importlib.util.find_spec(package) is not None


@functools.lru_cache(None)
def scene():
    """A model that is not refined, counts, and a start."""
    truth, counts = shot()
    return truth, counts, start_of(truth)


@functools.lru_cache(None)
def fitted():
    """A result, and the first thing that its progress function was told."""
    told = []
    _, counts, start = scene()
    result = dualbragg.fit(image=counts, experiment=start, refine=REFINED, progress=told.append,
                           model=settings.Model(symmetry="P 4 2 2"))
    return result, told[0]


def brighter(experiment, random):
    experiment["scale"] = random.lognormal(0, 0.3)


def said(record):
    """All that it is, as a text."""
    return json.dumps(record.to_dict())


class Records(unittest.TestCase):
    maxDiff = 2000

    @classmethod
    def setUpClass(cls):
        crystal = dualbragg.Experiment(**SCENE)
        crystal.set_amplitudes([[1, 2, 3], [2, 0, 1], [1, 1, 1]], [30, 40, 50], 80)
        amplitudes = dualbragg.Amplitudes(crystal, [[1, 2, 3], [2, 0, 1]])
        plan = dualbragg.Plan(crystal, ["cell_a"], dtype=float, regions=[(0, slice(3, 20), (5, 44))], precision="double")
        plan.share(amplitudes)
        plan.set_background(numpy.linspace(0, 1, plan.shape[0]))
        crystal["cell_a"] = 78.5
        plan.update(crystal)
        batch = dualbragg.Batch(crystal, ["misset_x"])
        batch.share(amplitudes)
        image = numpy.linspace(0, 9, 12, dtype=numpy.float32).reshape(3, 4)
        cls.crystal, cls.plan, cls.batch = crystal, plan, batch
        found = [crystal, amplitudes, plan, batch, crystal.panels[0], dualbragg.fields()["shape"], dualbragg.parameters()["scale"],
                 dualbragg.MeasuredImage(image, beam_centre_px=(1, 2)), dualbragg.Vector(numpy.array([0.1, 2]), default_F=3.0),
                 dualbragg.RandomShots(crystal, 3, jitter={"cell_a": 0.1}, noise={"gain": 2}), dualbragg.Orientation(crystal, 9, 8, 1.5, -3)]
        if lib.DB_PYTHON_FIT:
            cls.result, told = fitted()
            r = cls.result
            found += [r, r.shots[0], told, r.estimates["cell_a"], r.directions[0], r.verdict, r.verdict.tests["rows"],
                      r.other_lattice, r.mates, r.before, dualbragg.refinement.ShotsEvent("done", 0, 1, 2, "", float("nan"), "", "")]
        cls.found = {type(each).__name__: each for each in found}

    def test_all_classes_are_records(self):
        """Whoever adds a class has to show here that it can be handed on."""
        known = {name for name in _records._kinds if not name.startswith("_")}
        public = {name for name in dualbragg.__all__ if inspect.isclass(kind := getattr(dualbragg, name))
                  and not issubclass(kind, Exception)}
        self.assertEqual(public - known, set())
        if lib.DB_PYTHON_FIT:
            self.assertEqual(known, set(self.found))

    def test_they_come_back(self):
        for name, record in self.found.items():
            with self.subTest(name):
                if name == "FitResult":  # below; it tells how much memory it took
                    continue
                written = said(record)
                others = [pickle.loads(pickle.dumps(record)), type(record).from_dict(json.loads(written))]
                others += [copy.copy(record), copy.deepcopy(record)] if name != "Shot" else []
                for other in others:
                    self.assertIs(type(other), type(record))
                    self.assertEqual(said(other), written)
                with self.assertRaisesRegex(dualbragg.UsageError, "expected a dictionary made by to_dict"):
                    type(record).from_dict({"unheard_of": 3})

    def test_they_can_be_looked_at(self):
        """In a line of a terminal, and with a picture in a notebook."""
        for name, record in self.found.items():
            self.assertLess(len(repr(record)), 3000, name)
            self.assertIn(name, repr(record))
        for name in ("Plan", "MeasuredImage", "FitResult"):
            if name in self.found and name != "Plan":
                self.assertIn("<img", self.found[name]._repr_html_())
            self.assertIn("<table>", self.found[name]._repr_html_() if name in self.found else "<table>")
        if lib.DB_PYTHON_FIT:
            self.assertIn("<td>cell</td>", self.result._repr_html_())

    def test_plans_render_the_same(self):
        for made in (pickle.loads(pickle.dumps(self.plan)), dualbragg.Plan.from_dict(json.loads(said(self.plan)))):
            numpy.testing.assert_array_equal(made.forward(), self.plan.forward())
            cotangent = numpy.ones(made.shape)
            numpy.testing.assert_array_equal(made.vjp_all(cotangent).amplitudes, self.plan.vjp_all(cotangent).amplitudes)
            self.assertEqual(made.experiment["cell_a"], 78.5)
        other = copy.copy(self.batch)
        numpy.testing.assert_array_equal(other.forward([self.crystal]), self.batch.forward([self.crystal]))
        self.assertEqual(other.amplitude_count, 2)

    def test_what_json_cannot_say_is_told(self):
        shots = dualbragg.RandomShots(self.crystal, 3, vary=brighter)
        self.assertIs(pickle.loads(pickle.dumps(shots)).vary, brighter)
        with self.assertRaisesRegex(dualbragg.UsageError, "brighter.*pickle may"):
            shots.to_dict()

    @unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
    def test_results_write_what_they_wrote(self):
        r = self.result
        kept = pickle.loads(pickle.dumps(r))
        again = dualbragg.FitResult.from_dict(json.loads(said(kept)))
        self.assertEqual(str(again), str(r))
        self.assertEqual(again.document, kept.document)
        numpy.testing.assert_array_equal(again.covariance, r.covariance)
        for i in (0, len(r.shoeboxes) - 1):
            for a, b in zip(again.pixels(i), r.pixels(i)):
                numpy.testing.assert_array_equal(a, b)
        with tempfile.TemporaryDirectory() as folder:
            for end in (".yaml", ".expt", ".mat", ".hkl", ".refl", ".png", ".html"):
                names = [os.path.join(folder, which + end) for which in "ab"]
                r.write(names[0])
                again.write(names[1])
                read = [re.sub(rb'"date":"[^"]*"', b"", pathlib.Path(name).read_bytes()) for name in names]
                self.assertTrue(read[0] == read[1], end)
            with self.assertRaisesRegex(dualbragg.UsageError, "ends in one of .*html"):
                again.write("result.txt")


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Refinements(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.truth, cls.counts, cls.start = scene()

    def fit(self, **given):
        return dualbragg.fit(image=self.counts, experiment=self.start, **given)

    def test_dataclasses_are_dictionaries(self):
        Refine, Stage, Data, Settings = settings.Refine, settings.Stage, settings.Data, settings.Settings
        refine = {"misset_x": Refine(range=0.3), "cell_a": Refine(prior=[78, 0.1])}
        stages = [Stage(name="fine", refine=["misset_x", "cell_a"], max_evaluations=2)]
        whole = Settings(refine=refine, stages=stages, data=Data(dmin=4, max_shoeboxes=20))
        plain = dict(refine={"misset_x": {"range": 0.3}, "cell_a": {"prior": [78, 0.1]}}, data={"dmin": 4, "max_shoeboxes": 20},
                     stages=[{"name": "fine", "refine": ["misset_x", "cell_a"], "max_evaluations": 2}])
        self.assertEqual(whole.to_dict(), plain)
        self.assertEqual(Settings.from_dict(plain).to_dict(), plain)
        results = [self.fit(config=plain), self.fit(config=Settings.from_dict(plain)),
                   self.fit(config=Settings(data=Data(dmin=4)), refine=refine, stages=stages, data=Data(max_shoeboxes=20)),
                   self.fit(config=dict(plain, refine=["misset_x"]), refine=refine)]
        for other in results[1:]:
            self.assertEqual(other.values, results[0].values)
        self.assertLessEqual(len(results[0].shoeboxes), 20)
        self.assertGreater(results[2].reflections["d_spacing"].min(), 4)
        for words, call in (("there is no key 'dmim'", lambda: Data.from_dict({"dmim": 3})),
                            ("data.dmin: expected a finite number", lambda: self.fit(data=Data(dmin=float("nan")))),
                            ("model.cell: expected only symmetry and find_orientation beside experiment", lambda: self.fit(model=settings.Model(cell=3))),
                            ("data.target", lambda: self.fit(data=Data(target="chi2")))):
            with self.assertRaisesRegex(dualbragg.UsageError, words):
                call()
        with self.assertRaises(TypeError):
            Data(dmim=2.5)

    def test_a_list_of_images_is_many_shots(self):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for i in range(3):
                truth, counts = shot(i)
                names.append(os.path.join(folder, f"image {i}.img"))
                truth.write_smv(names[-1], counts)
            truth.write_matrix(os.path.join(folder, "a.mat"))
            model = settings.Model(spots="closed", mosaic_rms=0.15, Ncells=[128, 128, 263], matrix=os.path.join(folder, "a.mat"),
                                   misset=[0.05, -0.05, 0.05], cell=[78, 78, 38], symmetry="P 4")
            told = dict(model=model, data=settings.Data(max_shoeboxes=30),
                        stages=[settings.Stage(name="joint", refine="all", max_evaluations=4)])
            found = dualbragg.fit(image=names, refine=dict(misset_x={}, cell_a=settings.Refine(shared=True)), **told)
            self.assertEqual([s.name for s in found.shots], names)
            self.assertEqual(list(found.estimates), ["cell_a", "cell_b"])
            copied = pickle.loads(pickle.dumps(found))
            self.assertEqual(*[{name: value for name, value in made.document.items() if name not in ("provenance", "resources")}
                               for made in (copied, found)])
            with self.assertRaisesRegex(dualbragg.UsageError, "write_models: expected the result as fit returned it"):
                copied.write_models(folder)
            series = dualbragg.fit(image=names, refine=["misset_x"], shots=settings.Shots(series=True), **told)
            self.assertEqual(list(series.estimates), ["misset_x"])
            same = dualbragg.fit(settings.Settings(shots=settings.Shots(series=True)), image=names, refine=["misset_x"], **told)
            self.assertEqual(*[[each.values for each in made.shots] for made in (same, series)])
            joint = dualbragg.fit(image=names, refine=["misset_x"], intensity="joint", model=model,
                                  intensities=settings.Intensities(dmin=3, passes=0))
            self.assertIn("intensities", joint.document)
            for words, given in (("no list of images beside shots.list", dict(image=names, shots=dict(list="a.txt"))), ("found none", dict(image=[])),
                                 ("list of float", dict(image=[2.0])), ("quotes", dict(image=['a"b.img']))):
                with self.assertRaisesRegex(dualbragg.UsageError, words):
                    dualbragg.fit(**given)

    def test_progress_is_shown(self):
        shown = io.StringIO()
        with contextlib.redirect_stderr(shown):
            self.fit(refine=["misset_x"], progress=True)
            dualbragg.Plan(self.truth, progress=True).forward()
            dualbragg.find_orientation(self.start, self.counts, progress=True)
        self.assertRegex(shown.getvalue(), r"stage \d+, evaluation \d+: target -?[\d.]+\n")
        self.assertTrue(shown.getvalue().endswith("100 %\n"), shown.getvalue()[-60:])
        with self.assertRaisesRegex(dualbragg.UsageError, "progress: expected a function or True, found 3"):
            dualbragg.Plan(self.truth, progress=3)
        event = refinement.ShotsEvent("working", 0, 1, 4, "errors", float("nan"), "", "")
        self.assertEqual(_progress.line_of(event), ("errors: 1 of 4 shots", 0.25))
        self.assertEqual(_progress.line_of(0.5), ("50 %", 0.5))

    def test_notebooks_show_progress_in_one_cell(self):
        cells = []

        class Cell:
            def __init__(self, html):
                self.texts = [html]
                cells.append(self)

            def update(self, html):
                self.texts.append(html)

        shell = types.SimpleNamespace(kernel=True)
        display = types.SimpleNamespace(HTML=lambda text: text, display=lambda html, display_id: Cell(html))
        fakes = {"IPython": types.SimpleNamespace(get_ipython=lambda: shell, display=display), "IPython.display": display}
        with unittest.mock.patch.dict(sys.modules, fakes):
            self.fit(refine=["misset_x"], progress=True)
        self.assertEqual(len(cells), 1)
        self.assertGreater(len(cells[0].texts), 1)
        self.assertIn("target", cells[0].texts[-1])


class Tables(unittest.TestCase):
    def setUp(self):
        self.crystal = dualbragg.Experiment(**SCENE)

    @unittest.skipUnless(has("pandas"), "no pandas")
    def test_pandas(self):
        frame = dualbragg.to_pandas(self.crystal)
        self.assertEqual(frame.loc["cell_a", "value"], 78)
        self.assertEqual(dualbragg.to_pandas(dualbragg.fields()).loc["distance", "unit"], "mm")
        for bad in (3, {"a": 3}, numpy.zeros(3)):
            with self.assertRaisesRegex(dualbragg.UsageError, "expected a structured array"):
                dualbragg.to_pandas(bad)

    @unittest.skipUnless(has("xarray"), "no xarray")
    def test_xarray(self):
        plan = dualbragg.Plan(self.crystal, ["cell_a", "misset_x"])
        image, derivatives = plan.gradient()
        made = dualbragg.to_xarray(plan)
        numpy.testing.assert_array_equal(made.image, image)
        numpy.testing.assert_array_equal(made.derivative.sel(parameter="misset_x"), derivatives[1])
        self.assertEqual(float(made.image.isel(slow=3, fast=5).fast), 5.5)
        self.assertEqual(list(made.unit.values), ["A", "deg"])
        measured = dualbragg.to_xarray(dualbragg.MeasuredImage(image, gain=2))
        self.assertEqual((measured.counts.shape, measured.attrs["gain"]), (image.shape, 2))
        self.assertEqual(dualbragg.to_xarray(self.crystal).value.sel(name="distance"), 90)
        row = dualbragg.to_xarray(dualbragg.Plan(self.crystal, regions=[(0, (0, 4), (0, 5))]))
        self.assertEqual(row.image.dims, ("pixel",))

    def test_packages_that_are_missing_are_named(self):
        for package, call in (("xarray", dualbragg.to_xarray), ("pandas", dualbragg.to_pandas),
                              ("matplotlib", dualbragg.plot_spots)):
            with unittest.mock.patch.dict(sys.modules, {package: None, package + ".pyplot": None}):
                with self.assertRaisesRegex(dualbragg.UnsupportedError, f"needs the package {package}.*python3-{package}"):
                    call(self.crystal)


@unittest.skipUnless(has("matplotlib") and lib.DB_PYTHON_FIT, "no matplotlib, or no refinement")
class Plots(unittest.TestCase):
    def test_what_is_drawn(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of other packages
            self.draw()

    def draw(self):
        import matplotlib
        matplotlib.use("Agg")
        (truth, counts, _), (result, _) = scene(), fitted()
        axes = dualbragg.plot_spots(truth)
        predicted = dualbragg.predict(truth)
        self.assertEqual(len(axes.collections[0].get_offsets()), min(len(predicted), 2000))
        brightest = predicted[predicted["photons"].argmax()]["position"]
        image = axes.images[0]
        self.assertEqual(list(image.get_extent()), [0, 480, 480, 0])
        fast, slow = (int(v) for v in brightest)
        self.assertEqual(image.get_array()[slow, fast], dualbragg.Plan(truth).forward()[slow, fast])
        axes = dualbragg.plot_spots(result, counts, axes=axes)
        self.assertEqual([len(c.get_offsets()) for c in axes.collections[1:]], [len(result.reflections), len(result.shoeboxes)])
        arrows = dualbragg.plot_residuals(result, scale=10).collections[0]
        boxes = result.shoeboxes[result.shoeboxes["pixels_used"] > 0]
        numpy.testing.assert_allclose(numpy.stack([arrows.U, arrows.V], -1), boxes["centroid_offset"])
        self.assertEqual(arrows.scale, 0.1)
        (left, right), (bottom, top) = arrows.axes.get_xlim(), arrows.axes.get_ylim()
        self.assertTrue(left == top == 0 and right > boxes["predicted"][:, 0].max() and bottom > boxes["predicted"][:, 1].max())
        drawn = dualbragg.plot_correlations(result)
        numpy.testing.assert_array_equal(drawn.images[0].get_array(), result.correlation)
        self.assertEqual([t.get_text() for t in drawn.get_xticklabels()], list(result.estimates))
        for call, bad in ((dualbragg.plot_residuals, truth), (dualbragg.plot_correlations, truth), (dualbragg.plot_spots, 3)):
            with self.assertRaisesRegex(dualbragg.UsageError, "expected .* result|FitResult"):
                call(bad)
        import matplotlib.pyplot
        matplotlib.pyplot.close("all")


if __name__ == "__main__":
    ending.main()
