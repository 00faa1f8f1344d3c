"""Curves of f' and f'' of sites in plans and renderers."""

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
    def test_normal_equations_are_products_of_images(self):
        """A spot has slopes by the points of curves that are next to its energy alone."""
        with tempfile.TemporaryDirectory() as folder:
            e, = scenes(1, folder)
        names = ["misset_x", "cell_a", "scale"] + [f"{c}:{k}:{i}" for k in (0, 1) for c in ("fp", "fdp") for i in range(4)]
        boxes = [(0, slice(y, y + 6), slice(x, x + 6)) for y in range(0, 54, 6) for x in range(0, 54, 6)]  # few spots each
        plan = dualbragg.Plan(e, names, dtype=float, precision="double", regions=boxes)
        image, slopes = plan.gradient()
        slopes = slopes.reshape(len(names), -1)
        data = numpy.random.default_rng(7).poisson(image).astype(float)
        weight = 1 / (1 + image)
        chi2, gradient, curvature = plan.normal(data, weight)
        residual = (image - data).ravel()
        self.assertAlmostEqual(chi2 / (weight.ravel() @ residual ** 2), 1, delta=1e-9)
        length = numpy.sqrt((slopes ** 2 * weight.ravel()).sum(1))
        self.assertTrue((length > 0).all())
        numpy.testing.assert_allclose(curvature / numpy.outer(length, length),
                                      (slopes * weight.ravel()) @ slopes.T / numpy.outer(length, length), atol=1e-9)
        numpy.testing.assert_allclose(gradient / length / chi2 ** 0.5, slopes @ (weight.ravel() * residual) / length / chi2 ** 0.5,
                                      atol=1e-9)

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


if __name__ == "__main__":
    ending.main()
