"""Curves of f' and f'' from stills: the truth comes back, as far as the errors say."""

import pickle
import tempfile
import unittest

import numpy

import ending
import dualbragg
from dualbragg._rendering import Rendering

ENERGY = 12398.419843320026 / 1.1
GRID = ENERGY + numpy.array([-45.0, -12.0, 12.0, 45.0])
TRUTH = {"a": numpy.stack([GRID, [-5, -7.5, -6.5, -4], [0.5, 1.5, 3.9, 3.6]], 1),
         "b": numpy.stack([GRID, [-4.5, -5.5, -8, -5], [0.5, 0.6, 2.0, 3.7]], 1)}


def scenes(count, tmp):
    """Crystals in random orientations, each with a spectrum of its own, and Friedel mates that differ."""
    chance = numpy.random.default_rng(3)
    hkl = numpy.array([(h, k, l) for h in range(-8, 9) for k in range(-8, 9) for l in range(-5, 6)])
    parts = (chance.normal(0, 60, (len(hkl), 3)) + 1j * chance.normal(0, 60, (len(hkl), 3))) * [1, 0.06, 0.06]
    made = []
    for n in range(count):
        path = f"{tmp}/{n}.txt"
        with open(path, "w", encoding="ascii") as file:
            for energy in ENERGY + numpy.linspace(-40, 40, 7):
                file.write(f"{energy:.6f} {chance.exponential():.6f}\n")
        e = dualbragg.Experiment(cell=(40, 44, 30), Ncells=(12, 12, 14), distance=45, spots="closed",
                                 mosaic_rms=0.25, detector_pixels=(60, 60), pixel_size=0.9, spectrum=path,
                                 misset=chance.uniform(-180, 180, 3), fluence=4e27)
        e.set_site_kinds(hkl, parts, TRUTH)
        made.append(e)
    return made


class Curves(unittest.TestCase):
    def test_curves_come_back_with_their_errors(self):
        chance = numpy.random.default_rng(5)
        with tempfile.TemporaryDirectory() as folder:
            experiments = scenes(8, folder)
        background, images = 3.0, []
        for e in experiments:
            images.append(chance.poisson(dualbragg.Plan(e, precision="double").forward() + background))
            for name, curve in TRUTH.items():
                e.set_site_curve(name, numpy.stack([GRID, numpy.full(4, -5.0), numpy.full(4, 2.0)], 1))
        found = dualbragg.refine_site_curves(experiments, images, background=background)
        self.assertTrue(found.settled)
        self.assertAlmostEqual(found.chi2 / found.pixels, 1, delta=0.03)
        pulls = numpy.concatenate([((found.curves[k][:, 1:] - TRUTH[k][:, 1:]) / found.errors[k]).ravel() for k in TRUTH])
        self.assertTrue((abs(pulls) < 4).all(), pulls)
        self.assertTrue(0.6 < numpy.sqrt((pulls ** 2).mean()) < 1.5, pulls)
        self.assertLess(max(e[1:-1].max() for e in found.errors.values()), 0.6)  # away from the start
        numpy.testing.assert_allclose(numpy.sqrt(numpy.diagonal(found.covariance))[:4], found.errors["a"][:, 0])
        smooth = dualbragg.refine_site_curves(experiments, images, background=background, smoothness=1e9)
        for curve in smooth.curves.values():
            bend = numpy.diff(numpy.diff(curve[:, 1:], axis=0) / numpy.diff(GRID)[:, None], axis=0)
            self.assertLess(abs(bend).max(), 0.01)
        broken, mask = [image.astype(float) for image in images], numpy.ones((60, 60))
        mask[20:30] = 0
        for image in broken:
            image[20:30] = numpy.nan
        part = dualbragg.refine_site_curves(experiments, broken, background=background, masks=[mask] * 8)
        self.assertEqual(part.pixels, 8 * 50 * 60)
        self.assertAlmostEqual(part.chi2 / part.pixels, 1, delta=0.03)
        self.assertTrue(all(numpy.isnan(image[20:30]).all() for image in broken))  # they are the caller's

    def test_renderers_move_curves_of_each_shot(self):
        """Images of a batch have one list of structure factors."""
        with tempfile.TemporaryDirectory() as folder:
            e, = scenes(1, folder)
        names, options = ["fp:0:1", "cell_a"], dict(precision="double")
        render = Rendering(e, names, numpy.float64, None, options)
        values = render.start() + [[0, 0], [1, 0], [-1, 0.1]]
        images, cotangent = render.forward(values, None, render.new(values)), numpy.linspace(0, 1, 3 * 3600).reshape(3, 60, 60)
        slopes, _ = render.vjp(values, None, cotangent)
        for row, image, by, slope in zip(values, images, cotangent, slopes):
            for name, value in zip(names, row):
                e[name] = value
            plan = dualbragg.Plan(e, names, dtype=float, **options)
            numpy.testing.assert_array_equal(plan.forward(), image)
            numpy.testing.assert_array_equal(plan.vjp(by), slope)
        shots = [e.copy() for _ in range(3)]  # each has curves of its own, then
        for i, shot in enumerate(shots):
            shot["misset_x"] += i
        made = Rendering(shots, names, numpy.float64, None, options)
        for render in (made, pickle.loads(pickle.dumps(made))):
            many = values + numpy.array([[[0.0]], [[0.01]]])
            images, along = render.forward(many, None, render.new(many)), numpy.full(many.shape, 0.1)
            slopes, _ = render.vjp(many, None, numpy.stack([cotangent] * 2))
            tangents = render.jvp(many, None, along, None, render.new(many))
            for n, image in enumerate(images.reshape(6, 60, 60)):
                alone = Rendering(shots[n % 3], names, numpy.float64, None, options)
                row = many.reshape(6, -1)[n]
                numpy.testing.assert_array_equal(alone.forward(row, None, alone.new(row)), image)
                numpy.testing.assert_array_equal(alone.vjp(row, None, cotangent[n % 3])[0], slopes.reshape(6, -1)[n])
                numpy.testing.assert_array_equal(alone.jvp(row, None, along[0, 0], None, alone.new(row)),
                                                 tangents.reshape(6, 60, 60)[n])
        other = e.copy()
        other.set_site_curve("b", TRUTH["b"] + [[0, 0, 0], [0, 0, 0], [0, 0, 0], [0, 1, 0]])  # far from the mean energy
        with self.assertRaisesRegex(dualbragg.UsageError, "shot 1: expected the structure factors of the first"):
            Rendering([e, other], ["cell_a"], numpy.float64, None, options)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "Amplitudes: .*by single amplitudes"):
            dualbragg.Amplitudes(e, [[1, 2, 3]])

    def test_what_is_wrong_is_told(self):
        plain = dualbragg.Experiment(cell=(40, 44, 30), default_F=10, wavelength=1.1, distance=45, spots="closed",
                                     mosaic_rms=0.25, detector_pixels=(60, 60), pixel_size=0.9)
        image = numpy.ones((60, 60))
        for wrong, message in ((([plain], [image]), "do not depend on the photon energy"), (([plain], []), "expected an image"),
                               (([], []), "expected an image")):
            with self.assertRaisesRegex(dualbragg.UsageError, message):
                dualbragg.refine_site_curves(*wrong)
        hkl = numpy.array([(1, 0, 0), (-1, 0, 0)])
        sites = plain.copy()
        sites.set_site_kinds(hkl, numpy.ones((2, 3)), TRUTH)
        other = plain.copy()
        other.set_site_kinds(hkl, numpy.ones((2, 3)), {"a": TRUTH["a"] + [[1, 0, 0]], "b": TRUTH["b"]})
        with self.assertRaisesRegex(dualbragg.UsageError, "still 1: expected the kinds of sites and energies of the first"):
            dualbragg.refine_site_curves([sites, other], [image, image])
        with self.assertRaisesRegex(dualbragg.UsageError, "still 0: expected an image .and mask. of .60, 60., found .60, 59."):
            dualbragg.refine_site_curves([sites], [image[:, 1:]])
        with self.assertRaisesRegex(dualbragg.InputError, "still 0: expected finite counts"):
            dualbragg.refine_site_curves([sites], [image * numpy.nan])
        with self.assertRaisesRegex(dualbragg.UsageError, "smoothness of at least 0"):
            dualbragg.refine_site_curves([sites], [image], smoothness=-1)
        with self.assertRaisesRegex(dualbragg.UsageError, "background: expected photons"):
            dualbragg.refine_site_curves([sites], [image], background=-1)


if __name__ == "__main__":
    ending.main()
