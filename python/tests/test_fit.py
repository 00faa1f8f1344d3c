"""Refinement from Python: what goes in, what comes out, what is refused."""

import copy
import math
import json
import os
import pickle
import signal
import tempfile
import threading
import unittest

import numpy

import ending
import dualbragg
from dualbragg._dualbragg import lib

SCENE = dict(cell=(78, 78, 38), Ncells=(128, 128, 263), default_F=300, spots="closed",
             mosaic_rms=0.15, wavelength=1.1, distance=120, detector_pixels=(480, 480), pixel_size=0.15,
             misset=(10, 20, 30), fluence=2e23)
REFINED = ["misset_x", "misset_y", "misset_z", "cell_a", "cell_c"]


def shot(seed=1, **changes):
    """A model with reflections of different brightness, and counts of it above a background."""
    truth = dualbragg.Experiment(**SCENE)
    random = numpy.random.default_rng(3)
    hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-26, 27)] * 3, indexing="ij"), -1).reshape(-1, 3)
    truth.set_amplitudes(hkl, random.exponential(200, len(hkl)))
    for name, value in changes.items():
        truth[name] = value
    image = dualbragg.Plan(truth, precision="double").forward()
    counts = numpy.random.default_rng(seed).poisson(image + 10).astype(numpy.float32)
    return truth, counts


def start_of(truth):
    start = truth.copy()
    for name, change in dict(misset_x=0.06, misset_y=-0.05, misset_z=0.05, cell_a=0.12,
                             cell_c=0.05).items():
        start[name] += change
    return start


@unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
class Fits(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.truth, cls.counts = shot()

    def test_arrays_are_refined_from_an_experiment(self):
        told = []
        result = dualbragg.fit(image=self.counts, experiment=start_of(self.truth), refine=REFINED,
                               model=dict(symmetry="P 4 2 2"), progress=told.append)
        self.assertTrue(result.usable, result.reason)
        self.assertEqual(list(result.estimates)[:5], REFINED)
        shown = result._repr_html_()
        self.assertIn(f"<td>{REFINED[0]}</td><td>{result.estimates[REFINED[0]].value:.8g}</td>", shown)
        self.assertIn("data:image/png", shown)
        for name in REFINED:
            p = result.estimates[name]
            self.assertLess(abs(p.value - self.truth[name]), 5 * p.error, str(p))
            self.assertEqual(p.unit, "A" if name.startswith("cell") else "deg")
            self.assertEqual(result.experiment[name], p.value)
        self.assertLess(result.errors["cell_a"], 0.1)  # with that of the held distance, 0.2 mm of 120
        self.assertEqual(result.experiment["cell_b"], result.experiment["cell_a"])  # tied
        self.assertEqual(len(result.history), result.evaluations)
        numpy.testing.assert_array_equal([e.target for e in told], result.history["target"])
        self.assertEqual(told[-1].values["cell_a"], result.history["value"][-1][3])
        variance = result.covariance[0, 0]
        self.assertAlmostEqual(variance, result.errors["misset_x"]**2, delta=1e-9 * variance)
        self.assertEqual(result.model_image.shape, self.counts.shape)
        self.assertEqual(result.name, "the image")
        self.assertGreater(len(result.reflections), 50)
        measured, model, sigma = result.pixels(0)
        box = result.shoeboxes[0]["region"]
        numpy.testing.assert_array_equal(
            measured, self.counts[box["slow_start"]:, box["fast_start"]:][:measured.shape[0],
                                                                          :measured.shape[1]])
        self.assertEqual(model.shape, sigma.shape)
        self.assertIn("cell_a", str(result))
        self.written(result)

    def written(self, result):
        with tempfile.TemporaryDirectory() as folder:
            for ending in ("json", "yaml", "html", "expt", "mat", "hkl"):
                path = os.path.join(folder, "a." + ending)
                result.write(path)
                self.assertGreater(os.path.getsize(path), 50)
            with self.assertRaisesRegex(dualbragg.UsageError, ".json"):
                result.write(os.path.join(folder, "a.txt"))
        told = result.document
        for name in set(told["verdict"]) - {"tests"}:
            self.assertEqual(getattr(result.verdict, name), told["verdict"][name], name)
        for name in ("seconds", "distance_step", "all_spots", "left_spots", "sigma_z_limit"):
            self.assertIn(told[name], (getattr(result, name), None))
        self.assertEqual(result.other_lattice.spots, told["other_lattice"]["spots"])
        self.assertEqual(result.mates.pairs, told["mates"]["pairs"])

    def test_inputs_are_not_replaced_and_lists_keep_their_group(self):
        with tempfile.TemporaryDirectory() as folder:
            image, listed, written = (os.path.join(folder, n) for n in ("a.img", "a.expt", "b.expt"))
            self.truth.write_smv(image, self.counts)
            self.truth.to_expt(listed)
            with open(listed, encoding="utf-8") as file:
                stated = file.read().replace('" P 1"', '" P 2 (x+1/12,y,z)"')  # of no table
            with open(listed, "w", encoding="utf-8") as file:
                file.write(stated)
            result = dualbragg.fit(image=image, model=dict(expt=listed, spots="closed", mosaic_rms=0.15),
                                   refine=dict(misset_x={}), stages=[dict(max_evaluations=1)])
            for each in (result, pickle.loads(pickle.dumps(result))):
                with self.assertRaisesRegex(dualbragg.UsageError, "a.expt would replace the input of model.expt .*a.expt; "
                                            "choose another name"):
                    each.write(listed)
                with open(listed, encoding="utf-8") as file:
                    self.assertEqual(file.read(), stated)
                for _ in range(2):  # what a result has written may be replaced
                    each.write(written)
                with open(written, encoding="utf-8") as file:
                    self.assertIn('" P 2 (x+1/12,y,z)"' if "gemmi" in dualbragg.features() else '" P 1"', file.read())

    def test_arrays_of_the_caller_stay_as_they_are(self):
        random = numpy.random.default_rng(5)
        light = numpy.exp(-((numpy.mgrid[:480, :480] - 240) / 200.0)**2).prod(0)
        dark = numpy.repeat(numpy.repeat(random.uniform(0, 300, (8, 8)), 60, 0), 60, 1)
        counts = (12 * (self.counts + random.poisson(30 * light)) + dark).astype(numpy.float32)
        counts.flags.writeable = False
        before = counts.copy()
        for _ in range(2):
            result = dualbragg.fit(image=counts, experiment=start_of(self.truth), refine=REFINED[:3])
            self.assertTrue(any("dark levels" in line for line in result.notices), result.notices)
            numpy.testing.assert_array_equal(counts, before)

    def test_a_centring_that_nobody_named_is_told(self):
        truth = dualbragg.Experiment(**{**SCENE, "distance": 60, "default_F": 0})  # for 200 spots
        hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-40, 41)] * 3, indexing="ij"), -1).reshape(-1, 3)
        even = hkl.sum(axis=1) % 2 == 0
        truth.set_amplitudes(hkl, numpy.where(even, numpy.random.default_rng(3).exponential(400, len(hkl)), 0))
        counts = numpy.random.default_rng(1).poisson(dualbragg.Plan(truth).forward() + 10).astype(numpy.float32)
        result = dualbragg.fit(image=counts, experiment=start_of(truth), refine=REFINED)
        self.assertEqual(result.verdict.centring, "I")
        self.assertGreater(result.verdict.centring_gain, 0)
        self.assertEqual(result.document["verdict"]["centring"], "I")

    def test_orientation_is_found(self):
        lost = self.truth.copy()
        for name in ("misset_x", "misset_y", "misset_z"):
            lost[name] = 0
        found = dualbragg.find_orientation(lost, self.counts)
        self.assertGreater(found.indexed, 5 * found.by_chance)
        # the spots of the model found are those of the image
        image = dualbragg.Plan(found.experiment.copy(), precision="double").forward()
        self.assertEqual(image.shape, self.counts.shape)
        again = dualbragg.fit(image=self.counts, experiment=found.experiment, refine=REFINED[:3])
        self.assertTrue(again.usable, again.reason)
        lattices = dualbragg.find_lattices(lost, self.counts, numpy.int64(2))
        self.assertEqual(lattices[0].indexed, found.indexed)
        # an experiment that was found is what it is in other processes, and as a copy
        for given in (found.experiment, lattices[0].experiment, again.experiment):
            one, *others = [dualbragg.Plan(e, precision="double").forward() for e in (
                given, pickle.loads(pickle.dumps(given)), copy.copy(given), copy.deepcopy(given))]
            unturned = dualbragg.Plan(lost, precision="double").forward()
            self.assertLess(numpy.corrcoef(one.ravel(), unturned.ravel())[0, 1], 0.5)
            for other in others:
                numpy.testing.assert_array_equal(one, other)
        self.assertEqual(str(again).count("converged"), 1, str(again))

    def test_many_shots_share_a_cell(self):
        with tempfile.TemporaryDirectory() as folder:
            names = []
            for i in range(2):
                truth, counts = shot(i, misset_x=10 + 7 * i)
                truth.write_matrix(os.path.join(folder, f"{i}.mat"))
                names.append(os.path.join(folder, f"{i}.img"))
                truth.write_smv(names[-1], counts)
            with open(names[1], "r+b") as file:
                header = file.read(512)
                file.seek(0)
                file.write(header.replace(b"DISTANCE=120", b"DISTANCE=000"))
            listing = os.path.join(folder, "shots.txt")
            with open(listing, "w", encoding="utf-8") as out:
                out.writelines(f"{n} model.matrix={n[:-4]}.mat\n" for n in names)
            told, again = [], []
            kept = os.path.join(folder, "kept.checkpoint")
            with self.assertWarnsRegex(DeprecationWarning, "model.cells is called model.Ncells now"):
                former = dualbragg.fit(image=names[0], model=dict(cells=[128, 128, 263], matrix=names[0][:-4] + ".mat",
                                                                  spots="closed"), refine=REFINED[:1], progress=lambda e: True)
            self.assertTrue(any("cells is called" in line for line in former.notices), former.notices)
            self.assertEqual(former.name, names[0])
            sections = dict(
                shots=dict(list=listing),
                model=dict(spots="closed", mosaic_rms=0.15, Ncells=[128, 128, 263], misset=[0.05, -0.05, 0.05],
                           distance=120),
                refine=dict(misset_x={}, misset_y={}, misset_z={}, cell_a=dict(shared=True)),
                data=dict(max_shoeboxes=40), stages=[dict(name="joint", max_evaluations=8)])
            result = dualbragg.fit(progress=told.append, checkpoint=kept, **sections)
            self.assertEqual(sum("1.img: DISTANCE is 0" in n for n in result.notices), 1, result.notices)
            resumed = dualbragg.fit(progress=again.append, checkpoint=kept, resume=True, **sections)
            self.assertTrue(any(e.kind == "resumed" for e in again))
            self.assertEqual(resumed.estimates["cell_a"].value, result.estimates["cell_a"].value)
            for refused in (lambda: dualbragg.fit(checkpoint=listing, **sections), lambda: dualbragg.remove_checkpoint(listing)):
                with self.assertRaisesRegex(dualbragg.UsageError, "shots.txt: exists and is no checkpoint, or cannot be read; choose another name"):
                    refused()
            self.assertTrue(os.path.exists(listing))
            dualbragg.remove_checkpoint(kept)
            self.assertFalse([n for n in os.listdir(folder) if n.startswith("kept")])
            result.write(os.path.join(folder, "result.json"))
            with open(os.path.join(folder, "result.json"), encoding="utf-8") as file:
                self.assertEqual(len(json.load(file)["shots"]), 2)
            models = os.path.join(folder, "models")
            os.mkdir(models)
            result.write_models(models, images=True)
            endings = [os.path.splitext(n)[1] for n in os.listdir(models)]
            self.assertEqual([endings.count(e) for e in (".yaml", ".expt", ".refl", ".txt")], [3, 3, 2, 1])
            with open(listing, encoding="utf-8") as file:
                listed = file.read()
            with self.assertRaisesRegex(dualbragg.UsageError, "shots.txt would replace the input of shots.list .*shots.txt"):
                result.write_models(folder)
            with open(listing, encoding="utf-8") as file:
                self.assertEqual(file.read(), listed)
            self.assertFalse([n for n in os.listdir(folder) if n.startswith("000") or n.startswith("refined")])
            with self.assertRaisesRegex(dualbragg.UsageError, "ends in .json or .html"):
                result.write("result.txt")
            with self.assertRaisesRegex(dualbragg.UsageError, "resume: expected checkpoint"):
                dualbragg.fit(resume=True, **sections)
            self.joint_intensities_are_those_of_the_program(folder, sections)
        self.assertEqual(result.used, 2, result.shots)
        self.assertEqual(list(result.estimates), ["cell_a"])
        self.assertLess(abs(result.estimates["cell_a"].value - 78), 5 * result.estimates["cell_a"].error)
        self.assertEqual(result.local, REFINED[:3])
        self.assertTrue(any(e.kind == "evaluated" for e in told))
        table = result.table
        self.assertEqual(list(table["misset_x"]), [s.values["misset_x"] for s in result.shots])

    def joint_intensities_are_those_of_the_program(self, folder, sections):
        known = os.path.join(folder, "known.hkl")
        sections = {**{n: v for n, v in sections.items() if n != "stages"}, "intensity": "joint"}
        sections["model"] = {**sections["model"], "cell": [78, 78, 38, 90, 90, 90], "symmetry": "P 4"}
        with self.assertRaisesRegex(dualbragg.FileError, "known.hkl"):
            dualbragg.fit(intensities=dict(reference=known), **sections)
        result = dualbragg.fit(intensities=dict(dmin=3, passes=0), **sections)
        self.assertEqual(result.document["settings"]["stages"][0]["algorithm"], "moments")
        result.write(known)
        held = dualbragg.fit(intensities=dict(dmin=3, passes=0, reference=known), **sections)
        self.assertGreater(held.document["intensities"]["overall"]["reference_count"], 100)

    def test_checkpoints_are_of_many_shots(self):
        with self.assertRaisesRegex(dualbragg.UsageError, "checkpoint: expected a list of shots"):
            dualbragg.fit(image=self.counts, experiment=start_of(self.truth), refine=REFINED, checkpoint="x")

    def test_progress_ends_it(self):
        start = start_of(self.truth)
        result = dualbragg.fit(image=self.counts, experiment=start, refine=REFINED,
                               progress=lambda e: e.evaluation >= 2)
        self.assertEqual(result.status, "cancelled")

        def fails(_):
            raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            dualbragg.fit(image=self.counts, experiment=start, refine=REFINED, progress=fails)

    def test_control_c_ends_it(self):
        start = start_of(self.truth)
        # a shell has its background's processes ignore it
        self.addCleanup(signal.signal, signal.SIGINT, signal.signal(signal.SIGINT, signal.default_int_handler))

        def press(evaluation):
            signal.raise_signal(signal.SIGINT)

        with self.assertRaises(KeyboardInterrupt):
            dualbragg.fit(image=self.counts, experiment=start, refine=REFINED, progress=press)
        slow = dualbragg.Experiment(cell=(78, 78, 38), default_F=100, Ncells=(9, 9, 9), wavelength=1,
                                    distance=100, mosaic_spread=1, mosaic_domains=400,
                                    detector_pixels=(1500, 1500))
        plan = dualbragg.Plan(slow, precision="mixed")
        threading.Timer(0.1, signal.raise_signal, [signal.SIGINT]).start()
        with self.assertRaises(KeyboardInterrupt):
            plan.forward()

    def test_what_does_not_fit_is_refused(self):
        start = start_of(self.truth)

        def refuses(kind, words, **keywords):
            keywords = {**dict(image=self.counts, experiment=start, refine=REFINED), **keywords}
            with self.assertRaises(kind) as caught:
                dualbragg.fit(**keywords)
            for word in words:
                self.assertIn(word, str(caught.exception))

        refuses(dualbragg.UsageError, ["misset_q", "misset_x"], refine=["misset_q"])
        refuses(dualbragg.UsageError, ["refine"], refin={})
        refuses(dualbragg.UsageError, ["data", "gian", "gain"], data=dict(gian=1))
        refuses(dualbragg.UsageError, ["finite"], data=dict(gain=math.nan))
        refuses(dualbragg.UsageError, ["image", "float64"], image=self.counts.astype(float))
        refuses(dualbragg.UsageError, ["image", "shape"], image=self.counts[0])
        refuses(dualbragg.InputError, ["480 x 480"], image=self.counts[:-1])
        refuses(dualbragg.UsageError, ["expected an image"], image=None)
        refuses(dualbragg.UsageError, ["image", "list"], image=[[1.0]])
        refuses(dualbragg.UsageError, ["experiment", "dict"], experiment={})
        refuses(dualbragg.UsageError, ["model.cell", "beside experiment"], model=dict(cell=[1, 2, 3]))
        refuses(dualbragg.FileError, ["/nowhere.cbf"], image="/nowhere.cbf", experiment=None)
        refuses(dualbragg.FileError, ["/nowhere.yaml"], config="/nowhere.yaml")
        refuses(dualbragg.InputError, ["strong"], image=numpy.zeros_like(self.counts))
        bad = self.counts.copy()
        bad[3, 5] = math.nan
        refuses(dualbragg.InputError, ["(5, 3)", "nan"], image=bad)
        mask = numpy.zeros(bad.shape, numpy.uint8)
        refuses(dualbragg.UsageError, ["image.mask"], image=dualbragg.MeasuredImage(bad, mask[1:]))


if __name__ == "__main__":
    ending.main()
