"""Functions of JAX; skipped where it is not installed."""

import unittest

import numpy

import ending
import dualbragg

try:
    import jax
    import jax.numpy as jnp
    from jax.test_util import check_grads

    import dualbragg.jax
    jax.config.update("jax_enable_x64", True)
except ImportError:
    jax = None

SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(12, 9), pixel_size=2, misset=(10, 20, 30), oversample=2,
             fluence=1e24, shape="gauss")
NAMES = ["cell_a", "misset_y", "distance"]
AT = [78.1, 20.05, 90.3]


@unittest.skipUnless(jax, "JAX is not installed")
class Functions(unittest.TestCase):
    def renderer(self, **more):
        return dualbragg.jax.Renderer(dualbragg.Experiment(**dict(SCENE, **more)), NAMES, "float64",
                                      precision="double")

    def test_derivatives_both_ways(self):
        for more in ({}, dict(spots="closed", mosaic_rms=0.5)):
            render, values = self.renderer(**more), jnp.array(AT)
            size = render(values).max()
            self.assertGreater(size, 0)
            for mode in ("fwd", "rev"):
                check_grads(lambda v: render(v) / size, (values,), order=1, modes=[mode], atol=1e-4,
                            rtol=1e-4, eps=1e-6)
            forward, reverse = jax.jacfwd(render)(values), jax.jacrev(render)(values)
            self.assertEqual(forward.shape, (9, 12, 3))
            self.assertLess(abs(forward - reverse).max(), 1e-12 * abs(forward).max())
            image, derivatives = render.plan.gradient()
            numpy.testing.assert_allclose(image, render(values), rtol=1e-14)
            self.assertLess(abs(numpy.moveaxis(derivatives, 0, -1) - reverse).max(),
                            1e-12 * abs(reverse).max())

    def test_compiled_and_mapped(self):
        render = self.renderer()
        values = jnp.array([AT, [78.2, 20.5, 91], [77.5, 19, 88]])
        each = jnp.stack([render(v) for v in values])
        for images in (render(values), jax.vmap(render)(values), jax.jit(render)(values),
                       jax.jit(jax.vmap(render))(values)):
            numpy.testing.assert_array_equal(images, each)
        slope = jax.grad(lambda v: (render(v) ** 2).sum())
        numpy.testing.assert_allclose(jax.jit(jax.vmap(slope))(values),
                                      jnp.stack([slope(v) for v in values]), rtol=1e-13)

    def test_structure_factors(self):
        e = dualbragg.Experiment(**SCENE)
        hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-15, 16)] * 3, indexing="ij"),
                          -1).reshape(-1, 3)
        e.set_amplitudes(hkl, numpy.full(len(hkl), 100.0))
        render = dualbragg.jax.Renderer(e, ["misset_y"], "float64", precision="double",
                                        amplitudes=dualbragg.Amplitudes(e, hkl[::7]))
        values, F = jnp.array([20.0]), jnp.full(len(hkl[::7]), 100.0)
        size = render(values, F).max()

        def loss(v, f):
            return ((render(v, f) / size) ** 2).sum()

        slope = jax.jit(jax.grad(loss, (0, 1)))(values, F)
        self.assertGreater((slope[1] != 0).sum(), 20)
        _, along = jax.jvp(loss, (values, F), (jnp.ones(1), jnp.ones(len(F))))
        self.assertAlmostEqual(float(along / (slope[0].sum() + slope[1].sum())), 1, places=9)

    def test_single_precision(self):
        render = dualbragg.jax.Renderer(dualbragg.Experiment(**SCENE), NAMES)
        image, along = jax.jvp(render, (jnp.array(AT, "float32"),), (jnp.ones(3, "float32"),))
        self.assertEqual(image.dtype, "float32")
        self.assertEqual(along.dtype, "float32")
        _, back = jax.vjp(render, jnp.array(AT, "float32"))
        self.assertEqual(back(along)[0].dtype, "float32")

    def test_without_parameters_it_is_an_image(self):
        e = dualbragg.Experiment(**SCENE)
        # JAX's threads take numbers below 1e-37 for 0
        numpy.testing.assert_allclose(dualbragg.jax.Renderer(e)(), dualbragg.Plan(e).forward(), rtol=0, atol=1e-37)

    def test_what_does_not_fit_is_refused(self):
        render = self.renderer()
        with self.assertRaisesRegex(dualbragg.UsageError, r"values: .*\(3,\)"):
            render(jnp.zeros(2))
        with self.assertRaisesRegex(dualbragg.UsageError, "floating"):
            render(jnp.zeros(3, int))
        for few in (jnp.float16, jnp.bfloat16):
            with self.assertRaisesRegex(dualbragg.UsageError, "digits.*float16"):
                render(jnp.array(AT, few))
        with self.assertRaisesRegex(Exception, "cell edge a"):
            render(jnp.array([-1.0, 0, 90])).block_until_ready()
        with self.assertRaises(Exception):
            jax.hessian(lambda v: (render(v) ** 2).sum())(jnp.array(AT))
        jax.config.update("jax_enable_x64", False)
        try:
            with self.assertRaisesRegex(dualbragg.UsageError, "jax_enable_x64"):
                self.renderer()
        finally:
            jax.config.update("jax_enable_x64", True)


if __name__ == "__main__":
    ending.main()
