"""Functions of JAX; skipped where it is not installed."""

import os
import pickle
import unittest
import unittest.mock

import numpy

import ending
import dualbragg

os.environ["XLA_FLAGS"] = os.environ.get("XLA_FLAGS", "") + " --xla_force_host_platform_device_count=2"
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
    def renderer(self, second_order="error", **more):
        return dualbragg.jax.Renderer(dualbragg.Experiment(**dict(SCENE, **more)), NAMES, "float64",
                                      precision="double", second_order=second_order)

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

        # many images of the same structure factors, mapped or not; or each with its own
        many = jnp.array([[20.0], [20.1], [20.3]])
        each = jnp.stack([render(v, F) for v in many])
        for images in (render(many, F), jax.vmap(render, (0, None))(many, F), jax.vmap(render)(many, jnp.stack([F] * 3)),
                       render(many, jnp.stack([F] * 3))):
            numpy.testing.assert_array_equal(images, each)
        slopes = jax.grad(lambda f: sum(loss(v, f) for v in many))(F)
        numpy.testing.assert_allclose(jax.grad(lambda f: ((render(many, f) / size) ** 2).sum())(F), slopes, rtol=1e-9)
        apart = jax.vmap(jax.grad(loss, 1), (0, None))(many, F)
        numpy.testing.assert_allclose(apart, jnp.stack([jax.grad(loss, 1)(v, F) for v in many]), rtol=1e-9)
        numpy.testing.assert_array_equal(render(values), render(values, jnp.full(len(F), 100.0)))
        with self.assertRaisesRegex(dualbragg.UsageError, r"amplitudes: .*\(3,\)"):
            render(values, F[:3])

    def test_second_derivatives(self):
        closed = dict(spots="closed", mosaic_rms=0.5)
        render, values = self.renderer("differences", **closed), jnp.array(AT)
        size = render(values).max()
        check_grads(lambda v: render(v) / size, (values,), order=2, modes=["fwd", "rev"], atol=1e-3, rtol=1e-3, eps=1e-5)
        scale = jnp.array([0.05, 0.1, 0.5])

        def loss(x):
            return ((render(values + scale * x) / size - 0.3) ** 2).sum()

        found = jax.hessian(loss)(jnp.zeros(3))
        for other in (jax.jacrev(jax.jacrev(loss)), jax.jacfwd(jax.jacfwd(loss)), jax.jacrev(jax.jacfwd(loss)),
                      jax.jit(jax.hessian(loss))):
            self.assertLess(abs(other(jnp.zeros(3)) - found).max(), 1e-5 * abs(found).max())
        h = 1e-4
        slopes = jax.grad(loss)
        expected = jnp.stack([(slopes(h * x) - slopes(-h * x)) / (2 * h) for x in jnp.eye(3)])
        self.assertLess(abs(found - expected).max(), 1e-5 * abs(found).max())
        newton = self.renderer("gauss-newton", **closed)
        J = jax.jacrev(newton)(values).reshape(-1, 3) / size
        H = jax.hessian(lambda v: ((newton(v) / size - 0.3) ** 2).sum() / 2)(values)
        numpy.testing.assert_allclose(H, J.T @ J, rtol=1e-9)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "second derivatives.*gauss-newton"):
            jax.hessian(lambda v: (self.renderer()(v) ** 2).sum())(values)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "third derivatives"):
            jax.jacfwd(jax.hessian(loss))(jnp.zeros(3))
        with self.assertRaisesRegex(dualbragg.UsageError, "second_order: .*newton"):
            self.renderer("newton")

    def test_values_have_names(self):
        render = self.renderer()
        named = render.named()
        self.assertEqual({n: float(v) for n, v in named.items()}, dict(cell_a=78, misset_y=20, distance=90))
        numpy.testing.assert_array_equal(render(named), render(render.start()))
        slopes = jax.jit(jax.grad(lambda p: (render(p) ** 2).sum()))(dict(zip(NAMES, AT)))
        expected = jax.grad(lambda v: (render(v) ** 2).sum())(jnp.array(AT))
        numpy.testing.assert_allclose([slopes[n] for n in NAMES], expected, rtol=1e-13)
        for angle in (20.05, 20):
            numpy.testing.assert_array_equal(render({"misset_y": angle}), render(jnp.array([78.0, angle, 90])))
        with self.assertRaisesRegex(dualbragg.UsageError, "misset_x is not among"):
            render({"misset_x": 1.0})

    def test_several_shots_and_copies(self):
        shots = [dualbragg.Experiment(**dict(SCENE, misset=(10, 20 + i, 30))) for i in range(3)]
        render = dualbragg.jax.Renderer(shots, ["distance"], "float64", precision="double")
        each = jnp.stack([dualbragg.jax.Renderer(s, ["distance"], "float64", precision="double")() for s in shots])
        for made in (render, pickle.loads(pickle.dumps(render))):
            for images in (made(), made(jnp.array([90.0])), jax.jit(made)(made.named())):
                numpy.testing.assert_array_equal(images, each)
        self.assertEqual(jax.grad(lambda v: (render(v) ** 2).sum())(render.start()).shape, (3, 1))
        for shape in ((), (1,), (2, 1), (2, 3)):
            numpy.testing.assert_array_equal(render({"distance": jnp.full(shape, 90.0)}),
                                             jnp.broadcast_to(each, (*shape[:-1], *each.shape)))
        with self.assertRaisesRegex(dualbragg.UsageError, r"distance: .*\(..., 3\), found \(5,\)"):
            render({"distance": jnp.full((5,), 90.0)})

    def test_shots_are_shared_among_devices(self):
        render = self.renderer()
        values = jnp.array([AT, [78.2, 20.5, 91], [77.5, 19, 88], [78, 20, 92]])
        mesh = jax.sharding.Mesh(jax.devices()[:2], ("shots",))
        P = jax.sharding.PartitionSpec
        here = jax.device_put(values, jax.sharding.NamedSharding(mesh, P("shots")))

        def shared(function, out):
            return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=P("shots"), out_specs=out, check_vma=False))

        images = shared(render, P("shots"))(here)
        self.assertEqual(images.sharding.spec[0], "shots")
        numpy.testing.assert_array_equal(images, render(values))
        total = shared(lambda v: jax.lax.psum((render(v) ** 2).sum(), "shots"), P())
        numpy.testing.assert_allclose(jax.grad(total)(here), jax.grad(lambda v: (render(v) ** 2).sum())(values), rtol=1e-13)
        apart = jax.pmap(jax.grad(lambda v: (render(v) ** 2).sum()))(values.reshape(2, 2, 3))
        numpy.testing.assert_allclose(apart.reshape(4, 3), jax.grad(lambda v: (render(v) ** 2).sum())(values), rtol=1e-13)

    def test_functions_outside_of_compiled_ones_are_compiled_once(self):
        render, calls = self.renderer(), []
        values = jnp.array(AT)
        jax.grad(lambda v: (render(v) ** 2).sum())(values)
        with unittest.mock.patch.object(dualbragg.jax._Operation, "_work", lambda *given: calls.append(given)):
            render(values + 1)
            jax.grad(lambda v: (render(v) ** 2).sum())(values + 2)
        self.assertEqual(calls, [])

    def test_python_is_called_with_arrays_of_numpy(self):
        render, kinds, values = self.renderer(), [], jnp.array(AT)
        forward = dualbragg._rendering.Rendering.forward

        def watched(own, at, *rest):
            kinds.append(type(at))
            return forward(own, at, *rest)

        with unittest.mock.patch.object(dualbragg._rendering.Rendering, "forward", watched), \
                unittest.mock.patch.object(jax, "pure_callback", None):  # which is slow
            image = jax.jit(lambda v: render(v) + render(2 * v - v))(values)
        self.assertEqual(kinds, [numpy.ndarray] * 2)
        numpy.testing.assert_array_equal(image, 2 * render(values))

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
        jax.config.update("jax_enable_x64", False)
        try:
            with self.assertRaisesRegex(dualbragg.UsageError, "jax_enable_x64"):
                self.renderer()
        finally:
            jax.config.update("jax_enable_x64", True)


if __name__ == "__main__":
    ending.main()
