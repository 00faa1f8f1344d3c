"""Images and derivatives as Python gets them."""

import base64
import importlib.util
import multiprocessing
import os
import re
import struct
import subprocess
import sys
import tempfile
import threading
import tracemalloc
import unittest
import zlib

import numpy

import ending
import dualbragg
from dualbragg import _library
from dualbragg._rendering import Rendering

SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(60, 44), pixel_size=0.4, misset=(10, 20, 30), oversample=2,
             flux=1e12, exposure=1, beamsize=0.1, shape="gauss")
CLOSED = dict(SCENE, spots="closed", mosaic_rms=0.3)


def differences(keywords, name, step):
    images = []
    for sign in (1, -1):
        experiment = dualbragg.Experiment(**keywords)
        experiment[name] += sign * step
        images.append(dualbragg.Plan(experiment, precision="double", dtype=numpy.float64).forward())
    return (images[0] - images[1]) / (2 * step)


class Images(unittest.TestCase):
    def test_derivatives_are_those_of_the_image(self):
        names = ["cell_a", "misset_y", "distance", "wavelength"]
        for keywords in (SCENE, CLOSED):
            plan = dualbragg.Plan(dualbragg.Experiment(**keywords), names, precision="double",
                                  dtype=numpy.float64)
            image, derivatives = plan.gradient()
            self.assertEqual(image.shape, (44, 60))
            numpy.testing.assert_allclose(image, plan.forward(), rtol=1e-14)
            for name, derivative in zip(names, derivatives):
                step = 1e-4 * dualbragg.parameters()[name].scale
                expected = differences(keywords, name, step)
                scale = abs(expected).max()
                self.assertGreater(scale, 0)
                self.assertLess(abs(derivative - expected).max(), 1e-6 * scale, name)

    def test_normal_equations_are_sums_over_pixels(self):
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), ["cell_a", "misset_x", "scale"],
                              precision="double", dtype=numpy.float64)
        image, derivatives = plan.gradient()
        random = numpy.random.default_rng(5)
        data = (image * random.uniform(0.9, 1.1, image.shape)).astype(numpy.float32)
        weight = random.uniform(0, 1, image.shape).astype(numpy.float32)
        weight[weight < 0.3] = 0
        chi2, gradient, curvature = plan.normal(data, weight)
        residual = image - data
        self.assertAlmostEqual(chi2 / (weight * residual**2).sum(), 1, places=10)
        jacobian = derivatives.reshape(3, -1)
        w = weight.reshape(-1).astype(float)
        expected = jacobian @ (w * residual.reshape(-1))
        numpy.testing.assert_allclose(gradient, expected, rtol=1e-9, atol=1e-12 * abs(expected).max())
        numpy.testing.assert_allclose(curvature, (jacobian * w) @ jacobian.T, rtol=1e-8,
                                      atol=1e-12 * abs(curvature).max())

    def test_products_are_those_with_the_derivatives(self):
        names = ["cell_a", "misset_y", "scale"]
        for keywords in (SCENE, CLOSED):
            plan = dualbragg.Plan(dualbragg.Experiment(**keywords), names, precision="double",
                                  dtype=numpy.float64)
            image, derivatives = plan.gradient()
            random = numpy.random.default_rng(7)
            cotangent, direction = random.normal(size=image.shape), random.normal(size=3)
            own = numpy.empty_like(image)
            gradient = plan.vjp(cotangent, own)
            rows = derivatives.reshape(3, -1)
            lengths = numpy.linalg.norm(rows, axis=1) * numpy.linalg.norm(cotangent)
            self.assertLess((abs(gradient - rows @ cotangent.ravel()) / lengths).max(), 1e-12)
            numpy.testing.assert_allclose(own, image, rtol=1e-14)
            again, tangent = plan.jvp(direction)
            numpy.testing.assert_allclose(again, image, rtol=1e-14)
            expected = numpy.tensordot(direction, derivatives, 1)
            size = numpy.tensordot(abs(direction), abs(derivatives), 1).max()
            self.assertLess(abs(tangent - expected).max(), 1e-12 * size)

    def listed(self, **keywords):
        e = dualbragg.Experiment(**{**SCENE, **keywords})
        hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-14, 15)] * 3, indexing="ij"),
                          -1).reshape(-1, 3)
        e.set_amplitudes(hkl, numpy.random.default_rng(2).uniform(20, 100, len(hkl)))
        return e, hkl

    def test_derivatives_by_structure_factors(self):
        random = numpy.random.default_rng(4)
        for keywords in ({}, dict(spots="closed", mosaic_rms=0.3)):
            e, hkl = self.listed(**keywords)
            chosen = hkl[random.choice(len(hkl), 500, replace=False)]
            wanted = dualbragg.Amplitudes(e, chosen)
            plan = dualbragg.Plan(e, ["cell_a", "scale"], precision="double", dtype=numpy.float64)
            self.assertEqual(plan.amplitude_count, 29**3)
            plan.share(wanted)
            self.assertEqual(plan.amplitude_count, 500)
            cotangent = random.normal(size=plan.shape)
            found = plan.vjp_all(cotangent)
            numpy.testing.assert_allclose(found.values, plan.vjp(cotangent), rtol=1e-12)
            direction = dualbragg.Vector(random.normal(size=2), random.normal(size=500))
            image, tangent = plan.jvp_all(direction)
            numpy.testing.assert_allclose(image, plan.forward(), rtol=1e-13)
            self.assertAlmostEqual(
                (tangent * cotangent).sum() / (direction.values @ found.values +
                                               direction.amplitudes @ found.amplitudes), 1, places=9)
            images, step = [], 1e-5
            for sign in (1, -1):
                moved = e.copy()
                values = wanted.get(e) + sign * step * direction.amplitudes
                wanted.put(moved, values)
                numpy.testing.assert_array_equal(wanted.get(moved), values)
                images.append(dualbragg.Plan(moved, precision="double", dtype="float64").forward())
            slope = (images[0] - images[1]) / (2 * step)
            expected = plan.jvp_all(dualbragg.Vector(amplitudes=direction.amplitudes))[1]
            self.assertLess(abs(slope - expected).max(), 1e-6 * abs(expected).max())

    def test_structure_factors_are_shared(self):
        e, hkl = self.listed()
        each = dualbragg.Plan(e, precision="double", dtype=numpy.float64)
        cotangent = numpy.random.default_rng(4).normal(size=each.shape)
        own = each.vjp_all(cotangent)
        self.assertIsNone(own.values)
        half = hkl[(hkl > 0).all(1) | ((hkl[:, 0] > 0) & (hkl[:, 1] < 0) & (hkl[:, 2] == 0))]
        plan = dualbragg.Plan(e, precision="double", dtype=numpy.float64)
        plan.share(dualbragg.Amplitudes(e, half, friedel=True))
        found = plan.vjp_all(cotangent).amplitudes
        box = own.amplitudes.reshape(29, 29, 29)
        for value, (h, k, l) in list(zip(found, half))[::97]:
            expected = box[h + 14, k + 14, l + 14] + box[14 - h, 14 - k, 14 - l]
            self.assertAlmostEqual(value, expected, delta=1e-12 * abs(found).max())
        for words, bad in (("(40, 0, 0)", [[40, 0, 0]]), ("share a value", [[1, 2, 3], [-1, -2, -3]]),
                           ("whole", [[1.5, 2, 3]])):
            with self.assertRaises(dualbragg.UsageError) as caught:
                dualbragg.Amplitudes(e, bad, friedel=True)
            self.assertIn(words, str(caught.exception))
        other = dualbragg.Experiment(**SCENE)
        other.set_amplitudes([[0, 0, 0], [1, 1, 1]], [1, 2])
        for taker in (plan, dualbragg.Batch(e)):
            with self.assertRaisesRegex(dualbragg.UsageError, "of the extent .29, 29, 29., as the plan has, found .0, 0, 0. and .2, 2, 2."):
                taker.share(dualbragg.Amplitudes(other, [[1, 1, 1]]))
        with self.assertRaisesRegex(dualbragg.UsageError, "direction.amplitudes: .*found"):
            plan.jvp_all(dualbragg.Vector(amplitudes=numpy.zeros(3)))

    def test_batches_are_one_by_one(self):
        for keywords in (SCENE, CLOSED):
            shots = [dualbragg.Experiment(**dict(keywords, misset=(10 + i, 20, 30))) for i in range(5)]
            shots[3]["distance"] += 3
            kind = dict(precision="double", dtype=numpy.float64)
            batch = dualbragg.Batch(shots[0], ["cell_a", "misset_y"], **kind)
            plans = [dualbragg.Plan(s, ["cell_a", "misset_y"], **kind) for s in shots]
            random = numpy.random.default_rng(7)
            images = batch.forward(shots)
            numpy.testing.assert_array_equal(batch.forward(s.copy() for s in shots), images)
            cotangents, directions = random.normal(size=images.shape), random.normal(size=(5, 2))
            data, weight = images * 0.9, random.uniform(size=images.shape)
            gradients = batch.vjp(shots, cotangents)
            _, tangents = batch.jvp(shots, directions)
            chi2, slopes, curvatures = batch.normal(shots, data, weight)
            for i, plan in enumerate(plans):
                numpy.testing.assert_array_equal(images[i], plan.forward())
                numpy.testing.assert_array_equal(gradients[i], plan.vjp(cotangents[i]))
                numpy.testing.assert_array_equal(tangents[i], plan.jvp(directions[i])[1])
            one = plans[3].gradient()
            self.assertAlmostEqual(chi2[3] / (weight[3] * (one[0] - data[3])**2).sum(), 1, places=12)
            self.assertEqual(slopes.shape, (5, 2))
            self.assertAlmostEqual(curvatures[3][0, 0] / (weight[3] * one[1][0]**2).sum(), 1, places=10)
        e, hkl = self.listed()
        batch = dualbragg.Batch(e, **kind)
        other = e.without_list()
        other["misset_x"] += 1
        cotangents = random.normal(size=(2, *batch.shape))
        sums = batch.vjp_sums([e, other], cotangents)
        plan = dualbragg.Plan(e, **kind)
        expected = plan.vjp_all(cotangents[0]).amplitudes
        e["misset_x"] += 1
        plan.update(e)
        expected += plan.vjp_all(cotangents[1]).amplitudes
        numpy.testing.assert_array_equal(sums.amplitudes, expected)
        each = batch.vjp_all([e, other], cotangents)
        numpy.testing.assert_array_equal(each.amplitudes[0], plan.vjp_all(cotangents[0]).amplitudes)
        self.assertEqual(each.default_F.shape, (2,))
        # other structure factors
        e.set_amplitudes(hkl, numpy.linspace(50, 90, len(hkl)))
        batch.update(e)
        plan.update(e)
        numpy.testing.assert_array_equal(batch.forward([e])[0], plan.forward())
        along = random.normal(size=(1, batch.amplitude_count))
        numpy.testing.assert_array_equal(
            batch.jvp([e], numpy.empty((1, 0)), amplitudes=along)[1][0],
            plan.jvp_all(dualbragg.Vector(amplitudes=along[0]))[1])
        for words, call in (("shot 1", lambda: batch.forward([e, 3])),
                            ("cotangents", lambda: batch.vjp([e], cotangents)),
                            ("shot 1", lambda: batch.forward([e, dualbragg.Experiment(
                                **dict(SCENE, detector_pixels=(61, 44)))]))):
            with self.assertRaises(dualbragg.Error) as caught:
                call()
            self.assertIn(words, str(caught.exception))

    def test_arrays_of_the_caller_are_filled(self):
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), ["cell_a"])
        own, rows = numpy.zeros((44, 60), numpy.float32), numpy.zeros((1, 44, 60), numpy.float32)
        image, derivatives = plan.gradient(own, rows)
        self.assertIs(image, own)
        self.assertIs(derivatives, rows)
        self.assertGreater(own.max(), 0)
        self.assertGreater(abs(rows).max(), 0)
        room = plan.empty(4)
        self.assertEqual([each.shape for each in (room[3], room[1:3], room[3:1])], [(44, 60), (2, 44, 60), (0, 44, 60)])
        with self.assertRaisesRegex(dualbragg.UsageError, "slice of step 1, found 2"):
            room[::2]

    def test_nothing_is_copied(self):
        """A call allocates what it returns, and nothing of the size of an image besides."""
        experiment = dualbragg.Experiment(**dict(SCENE, detector_pixels=(500, 400), oversample=1))
        plan, batch = dualbragg.Plan(experiment, ["cell_a", "misset_y"]), dualbragg.Batch(experiment, ["cell_a"])
        image, many = plan.forward(), batch.forward([experiment] * 2)
        for call, images in ((lambda: plan.forward(image), 0), (plan.forward, 1), (plan.gradient, 3), (lambda: plan.vjp(image), 0),
                             (lambda: plan.jvp(numpy.ones(2)), 2), (lambda: plan.normal(image, image), 0),
                             (lambda: plan.vjp_all(image), 0), (lambda: plan.update(experiment), 0),
                             (lambda: batch.forward([experiment] * 2, many), 0), (lambda: batch.vjp([experiment] * 2, many), 0)):
            call()
            tracemalloc.start()
            call()
            most = tracemalloc.get_traced_memory()[1] / image.nbytes
            tracemalloc.stop()
            self.assertTrue(images <= most < images + 0.05, (images, most))

    def test_update_is_a_new_plan(self):
        experiment = dualbragg.Experiment(**SCENE)
        plan = dualbragg.Plan(experiment, ["cell_a"], precision="mixed")
        before = plan.forward()
        experiment["misset_x"] += 0.3
        plan.update(experiment)
        after = plan.forward()
        self.assertFalse(numpy.array_equal(before, after))
        numpy.testing.assert_array_equal(
            after, dualbragg.Plan(experiment, ["cell_a"], precision="mixed").forward())

    def test_regions_are_parts_of_the_image(self):
        experiment = dualbragg.Experiment(**CLOSED)
        whole = dualbragg.Plan(experiment, precision="double").forward()
        plan = dualbragg.Plan(experiment, precision="double",
                              regions=[(0, slice(3, 9), (50, 60)), (0, (0, 2), slice(None))])
        numpy.testing.assert_array_equal(
            plan.forward(), numpy.concatenate([whole[3:9, 50:].ravel(), whole[:2].ravel()]))

    def test_threads_of_python_have_plans_of_their_own(self):
        expected = dualbragg.Plan(dualbragg.Experiment(**SCENE)).forward()
        found = []

        def work():
            plan = dualbragg.Plan(dualbragg.Experiment(**SCENE))
            for _ in range(5):
                found.append(plan.forward())

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(found), 20)
        for image in found:
            numpy.testing.assert_array_equal(image, expected)

    def test_one_call_at_a_time(self):
        shots, data = [dualbragg.Experiment(**SCENE)], numpy.ones((44, 60), numpy.float32)
        found = []

        def meanwhile(call):
            try:
                found.append(call())
            except dualbragg.UsageError as error:
                found.append(str(error))

        def progress(_):
            if not found:
                for call in calls:
                    other = threading.Thread(target=meanwhile, args=(call,))
                    other.start()
                    other.join()
                meanwhile(calls[0])  # by the function itself

        plan = dualbragg.Plan(shots[0], ["cell_a"], progress=progress)
        batch = dualbragg.Batch(shots[0], ["cell_a"], progress=progress)
        for user, arguments, calls in (
                (plan, (), (plan.forward, lambda: plan.vjp(data), lambda: plan.update(shots[0]))),
                (batch, (shots,), (lambda: batch.forward(shots), lambda: batch.vjp(shots, data[None]),
                                   lambda: batch.update(shots[0])))):
            found.clear()
            expected = type(user)(shots[0], ["cell_a"]).forward(*arguments)
            numpy.testing.assert_array_equal(user.forward(*arguments), expected)
            self.assertEqual(len(found), 4)
            for message in found:
                self.assertIn(f"this {type(user).__name__} is in use", message)
            numpy.testing.assert_array_equal(user.forward(*arguments), expected)  # free again

    def test_threads_never_get_an_image_of_another(self):
        plan, images, refused = dualbragg.Plan(dualbragg.Experiment(**SCENE)), [], []
        expected = plan.forward()

        def work():
            for _ in range(50):
                try:
                    images.append(plan.forward())
                except dualbragg.UsageError as error:
                    refused.append(error)

        threads = [threading.Thread(target=work) for _ in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        self.assertEqual(len(images) + len(refused), 200)
        for image in images:
            numpy.testing.assert_array_equal(image, expected)

    def test_threads_in_use(self):
        ask = "import dualbragg; print(dualbragg.threads())"
        self.assertGreaterEqual(dualbragg.threads(), 1)
        child = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True,
                               env=dict(os.environ, OMP_NUM_THREADS="3"))
        self.assertEqual(child.stdout.strip(), "3")
        for method in ("spawn", "fork", "forkserver"):
            with multiprocessing.get_context(method).Pool(1) as pool:
                self.assertEqual(pool.apply(dualbragg.threads), 1, method)
                self.assertEqual(pool.apply(dualbragg.threads, (2,)), 2, method)
        before = dualbragg.threads()
        with self.assertRaises(dualbragg.UsageError):
            dualbragg.threads(-1)
        self.assertEqual(dualbragg.threads(), before)

    def test_threads_sleep_while_they_wait(self):
        ask = "import dualbragg, os; print(os.environ.get('OMP_WAIT_POLICY'))"
        base = {n: v for n, v in os.environ.items() if n not in ("OMP_WAIT_POLICY", "GOMP_SPINCOUNT")}
        turns = {}
        for name, said in (("unsaid", {}), ("count", dict(GOMP_SPINCOUNT="5")), ("policy", dict(OMP_WAIT_POLICY="active"))):
            child = subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True, check=True,
                                   env=dict(base, OMP_DISPLAY_ENV="verbose", **said))
            self.assertEqual(child.stdout.strip(), str(said.get("OMP_WAIT_POLICY")))  # nobody else is told
            found = re.search(r"GOMP_SPINCOUNT *= *'(\d+)'", child.stderr)
            if not found:
                self.skipTest("not GCC's OpenMP")
            turns[name] = int(found.group(1))
        self.assertEqual((turns["unsaid"], turns["count"]), (0, 5))
        self.assertGreater(turns["policy"], 1000)

    def test_progress_is_told_and_cancels(self):
        told = []
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), progress=told.append)
        plan.forward()
        self.assertTrue(told)
        self.assertTrue(all(0 <= f <= 1 for f in told))
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), progress=lambda fraction: True)
        with self.assertRaises(dualbragg.CancelledError):
            plan.forward()

    def test_contexts_end_after_their_plans(self):
        """The garbage collector ends the objects of a circle in any order."""
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE))
        context = _library._address(plan._context)
        _library.ffi.release(plan._context)
        self.assertIn(context, _library._contexts)
        del plan
        self.assertNotIn(context, _library._contexts)

    @unittest.skipUnless(os.environ.get("DUALBRAGG"), "DUALBRAGG: the program")
    def test_image_is_that_of_the_program(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "image.bin")
            flags = ("-cell 78 78 38 90 90 90 -Na 12 -Nb 11 -Nc 10 -default_F 100 -lambda 1.1 "
                     "-distance 90 -detpixels_x 60 -detpixels_y 44 -pixel 0.4 -misset 10 20 30 "
                     "-oversample 2 -flux 1e12 -exposure 1 -beamsize 0.1 -gauss_xtal -precision "
                     "double -floatfile " + path).split()
            subprocess.run([os.environ["DUALBRAGG"], "sim", *flags], check=True,
                           stdout=subprocess.DEVNULL)
            expected = numpy.fromfile(path, numpy.float32).reshape(44, 60)
        numpy.testing.assert_array_equal(
            dualbragg.Plan(dualbragg.Experiment(**SCENE), precision="double").forward(), expected)


class SecondDerivatives(unittest.TestCase):
    NAMES = ["cell_a", "misset_x", "scale"]
    SHARP = dict(spots="closed", Ncells=(1500, 1500, 1500), detector_pixels=(256, 256), pixel_size=0.2)

    def rendering(self, dtype, **more):
        e = dualbragg.Experiment(**{**SCENE, "oversample": 1, **more})
        return Rendering(e, self.NAMES, numpy.dtype(dtype), None, {}, second_order="differences")

    def products(self, own, first):
        return numpy.array([own.difference(first, own.start(), None, row, None)[0] for row in numpy.eye(3) * own.scales()])

    def test_they_are_those_of_the_image(self):
        for more in ({}, dict(spots="closed", mosaic_rms=0.3), self.SHARP):
            found = []
            for dtype in ("float32", "float64"):
                own = self.rendering(dtype, **more)
                ones, at, scales = numpy.ones(own.image), own.start(), own.scales()
                H = self.products(own, lambda v, f, ones=ones: own.exact().vjp(v, f, ones)) * scales
                slopes = own.exact().vjp(at, None, ones)[0] * scales
                top = abs(H).max()
                self.assertLess(abs(H - H.T).max(), 1e-7 * top)
                numpy.testing.assert_allclose(H[2, :2] / scales[2], slopes[:2] / at[2], rtol=0, atol=1e-9 * abs(slopes).max())
                self.assertLess(abs(H[2, 2]), 1e-9 * top)                    # the image is linear in the scale
                found.append(H)
            numpy.testing.assert_allclose(*found, rtol=0, atol=1e-9 * top)
            # the image alone, by its own second differences
            h = numpy.array([1e-2, 0, 0]) * scales / (20 if more is self.SHARP else 1)
            sums = [own.exact().forward(at + k * h, None, own.exact().new(at)).sum() for k in (-2, -1, 0, 1, 2)]
            second = numpy.dot([-1, 16, -30, 16, -1], sums) / 12 / (h[0] / scales[0]) ** 2
            self.assertLess(abs(H[0, 0] / second - 1), 1e-5)

    def test_steps_get_smaller_until_they_agree(self):
        own, asked = self.rendering("float64"), []

        def first(values, factors):
            asked.append(values[1] - own.start()[1])
            return [numpy.array([numpy.sin((values[1] - own.start()[1]) / 1e-4)]), None]

        found = own.difference(first, own.start(), None, numpy.array([0, own.scales()[1], 0]), None)
        self.assertLess(abs(found[0][0] / own.scales()[1] / 1e4 - 1), 1e-6)
        self.assertGreater(asked[0] / asked[-1], -70)
        self.assertEqual(len(asked), 12)
        def limited(values, factors):  # and until parameters can be such
            if abs(values[1] - own.start()[1]) > 1e-5 * own.scales()[1]:
                raise dualbragg.InputError("beyond its range")
            return [values ** 2]

        found = own.difference(limited, own.start(), None, own.scales(), None)
        numpy.testing.assert_allclose(found[0], 2 * own.start() * own.scales(), rtol=1e-7)
        with self.assertRaisesRegex(dualbragg.InputError, "beyond its range"):
            own.difference(limited, own.start() + own.scales(), None, own.scales(), None)
        random = numpy.random.default_rng(1)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "not smooth"):
            own.difference(lambda v, f: [random.normal(size=3)], own.start(), None, own.scales(), None)


class Spots(unittest.TestCase):
    def test_spots_have_the_photons_of_the_image(self):
        experiment = dualbragg.Experiment(**dict(CLOSED, distance=200, pixel_size=0.1,
                                                 detector_pixels=(240, 176), mosaic_rms=0.05))
        image = dualbragg.Plan(experiment, precision="double", dtype=numpy.float64).forward()
        spots = dualbragg.predict(experiment, most_excitation=6)
        spot = spots[spots["photons"].argmax()]
        apart = numpy.sort(numpy.abs(spots["position"] - spot["position"]).max(1))
        self.assertGreater(apart[1], 40)  # from its nearest neighbour
        rows, columns = numpy.indices(image.shape) + 0.5
        off = [columns - spot["position"][0], rows - spot["position"][1]]
        light = numpy.where((abs(off[0]) < 20) & (abs(off[1]) < 20), image, 0)
        self.assertAlmostEqual(light.sum() / spot["photons"], 1, places=4)
        for i in range(2):
            self.assertAlmostEqual((light * off[i]).sum() / light.sum(), 0, delta=0.01)
            self.assertAlmostEqual((light * off[i]**2).sum() / light.sum(),
                                   spot["covariance"][i], delta=0.1)
        self.assertEqual(len(dualbragg.predict(experiment, least_photons=1e300)), 0)

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "no pandas")
    def test_tables_become_those_of_pandas(self):
        spots = dualbragg.predict(dualbragg.Experiment(**CLOSED))
        frame = dualbragg.to_pandas(spots)
        self.assertEqual(list(frame.columns[:7]), ["h", "k", "l", "panel", "source", "position_fast", "position_slow"])
        numpy.testing.assert_array_equal(frame[["h", "k", "l"]], spots["hkl"])
        numpy.testing.assert_array_equal(frame["position_slow"], spots["position"][:, 1])
        with self.assertRaisesRegex(dualbragg.UsageError, "expected a structured array, .* found list"):
            dualbragg.to_pandas([1, 2])

    def test_notebooks_show_the_image(self):
        wide = dict(CLOSED, distance=200, pixel_size=0.1, detector_pixels=(600, 320), mosaic_rms=0.05)
        plan = dualbragg.Plan(dualbragg.Experiment(**wide), ["cell_a"])
        shown = plan._repr_html_()
        self.assertIn("<td>320 x 600</td>", shown)
        png = base64.b64decode(re.search('base64,([^"]*)"', shown)[1])
        fast, slow = struct.unpack(">II", png[16:24])
        data = png.index(b"IDAT")
        length, = struct.unpack(">I", png[data - 4:data])
        shades = numpy.frombuffer(zlib.decompress(png[data + 4:data + 4 + length]), numpy.uint8).reshape(slow, fast + 1)[:, 1:]
        self.assertEqual((slow, fast), (107, 200))  # three pixels are one
        brightest = numpy.unravel_index(plan.forward().argmax(), plan.shape)
        self.assertEqual(shades[brightest[0] // 3, brightest[1] // 3], 0)
        self.assertEqual(shades.max(), 255)
        self.assertEqual(png[-12:], struct.pack(">I", 0) + b"IEND" + struct.pack(">I", zlib.crc32(b"IEND")))


if __name__ == "__main__":
    ending.main()
