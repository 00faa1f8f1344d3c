"""Tensors of PyTorch; skipped where it is not installed."""

import copy
import pickle
import unittest
import warnings

import numpy

import ending
import dualbragg

try:
    import torch

    import dualbragg.torch
    # its own forward mode calls what it has deprecated
    warnings.filterwarnings("ignore", ".torch.jit.script. is deprecated", FutureWarning)
except ImportError:
    torch = None

# a small detector, since checks of derivatives go through each pixel
SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(12, 9), pixel_size=2, misset=(10, 20, 30), oversample=2,
             fluence=1e24, shape="gauss")
CLOSED = dict(spots="closed", mosaic_rms=0.5)
NAMES = ["cell_a", "misset_y", "distance"]


def weighted(images):
    return torch.linspace(-1, 2, images.numel(), dtype=images.dtype).reshape(images.shape)


def at(*values):
    return torch.tensor(values, dtype=torch.float64, requires_grad=True)


class Shots(torch.utils.data.Dataset if torch else object):
    """Images at random orientations, for workers of a DataLoader."""

    def __init__(self, render):
        self.render = render

    def __len__(self):
        return 6

    def __getitem__(self, i):
        return self.render(torch.tensor([78.0, 20 + i, 90], dtype=torch.float64))


class Still(torch.utils.data.Dataset if torch else object):
    """One image, and the threads of the worker that renders it."""

    def __init__(self, render):
        self.render = render

    def __len__(self):
        return 1

    def __getitem__(self, i):
        if i:
            raise IndexError(i)
        return self.render(), dualbragg.threads()


@unittest.skipUnless(torch, "PyTorch is not installed")
class Tensors(unittest.TestCase):
    def renderer(self, names=NAMES, second_order="error", **more):
        return dualbragg.torch.Renderer(dualbragg.Experiment(**dict(SCENE, **more)), names,
                                        torch.float64, precision="double", second_order=second_order)

    def scaled(self, render, *values):
        """The renderer in units of its brightest pixel."""
        with torch.no_grad():
            size = render(at(*values)).max()
        self.assertGreater(size, 0)
        return lambda v: render(v) / size

    def test_gradcheck_both_ways(self):
        for more in ({}, CLOSED):
            scaled = self.scaled(self.renderer(**more), 78.1, 20.05, 90.3)
            self.assertTrue(torch.autograd.gradcheck(
                scaled, (at(78.1, 20.05, 90.3),), eps=1e-6, atol=1e-5, rtol=1e-4,
                check_forward_ad=True))

    def test_gradgradcheck(self):
        # by differences of derivatives: any parameter
        scaled = self.scaled(self.renderer(second_order="differences", **CLOSED), 78.1, 20.05, 90.3)
        self.assertTrue(torch.autograd.gradgradcheck(scaled, (at(78.1, 20.05, 90.3),), eps=1e-5,
                                                     atol=1e-3, rtol=1e-3))
        # Gauss-Newton is exact where images are linear
        linear = self.renderer(["scale"], "gauss-newton", **CLOSED)
        self.assertTrue(torch.autograd.gradgradcheck(self.scaled(linear, 1.0), (at(1.2),), eps=1e-5,
                                                     atol=1e-5))

    def test_gauss_newton_is_the_normal_matrix(self):
        render = self.renderer(second_order="gauss-newton", **CLOSED)
        values = at(78.05, 20.02, 90.1)
        data = render(at(78, 20, 90)).detach()
        hessian = torch.autograd.functional.hessian(
            lambda v: 0.5 * ((render(v) - data)**2).sum(), values)
        jacobian = torch.func.jacrev(render)(values.detach()).reshape(-1, 3)
        expected = jacobian.T @ jacobian
        self.assertLess(((hessian - expected) / expected.diagonal().sqrt().outer(
            expected.diagonal().sqrt())).abs().max(), 1e-10)
        self.assertTrue(torch.allclose(torch.func.jacfwd(render)(values.detach()).reshape(-1, 3),
                                       jacobian, rtol=1e-9, atol=1e-9 * float(jacobian.abs().max())))

    def test_batches_and_vmap_are_one_by_one(self):
        render = self.renderer()
        values = torch.tensor([[78.0, 20, 90], [78.2, 20.5, 91], [77.5, 19, 88], [78, 20, 92]],
                              dtype=torch.float64)
        each = torch.stack([render(v) for v in values])
        self.assertTrue(torch.equal(render(values), each))
        self.assertEqual(render.start().tolist(), [78, 20, 90])  # not where it was last
        self.assertTrue(torch.equal(render(values.reshape(2, 2, 3)), each.reshape(2, 2, 9, 12)))
        self.assertTrue(torch.equal(torch.func.vmap(render)(values), each))
        weight = torch.rand(each.shape, dtype=torch.float64)
        one = values.clone().requires_grad_()
        (render(one) * weight).sum().backward()
        mapped = torch.func.vmap(torch.func.grad(lambda v, w: (render(v) * w).sum()))(values, weight)
        self.assertTrue(torch.equal(mapped, one.grad))

    def test_structure_factors(self):
        e = dualbragg.Experiment(**SCENE)
        hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-15, 16)] * 3, indexing="ij"),
                          -1).reshape(-1, 3)
        e.set_amplitudes(hkl, numpy.full(len(hkl), 100.0))
        wanted = dualbragg.Amplitudes(e, hkl[::7])
        render = dualbragg.torch.Renderer(e, ["misset_y"], torch.float64, amplitudes=wanted,
                                          second_order="differences", precision="double")
        F = torch.full((len(wanted),), 100.0, dtype=torch.float64, requires_grad=True)
        size = render(render.start(), F).max().detach()
        loss = ((render(render.start(), F) / size - 0.1) ** 2).sum()
        slope, = torch.autograd.grad(loss, F)
        self.assertGreater((slope != 0).sum(), 20)
        strong = slope.abs().argsort()[-4:]  # enough of them for differences

        def part(values, some):
            all_of_them = F.detach().index_put((strong,), some)
            return render(values, all_of_them) / size

        self.assertTrue(torch.autograd.gradcheck(
            part, (at(20.05), F.detach()[strong].requires_grad_()), eps=1e-5, atol=1e-5,
            check_forward_ad=True))
        self.assertEqual(pickle.loads(pickle.dumps(render))(render.start(), F).shape, (9, 12))
        images = render(torch.tensor([[20.0], [20.1]], dtype=torch.float64), F)
        self.assertEqual(images.shape, (2, 9, 12))
        # shots of the same structure factors are one batch, with what each by itself has
        values = torch.tensor([[20.0], [20.1], [20.3]], dtype=torch.float64)
        for step in (0, 3):
            many, one = [(F.detach() + step).requires_grad_() for _ in range(2)]
            found = render(values, many)
            expected = torch.stack([render(v, one) for v in values])
            self.assertTrue(torch.equal(found, expected))
            for images in (found, expected):
                (images * weighted(images)).sum().backward()
            torch.testing.assert_close(many.grad, one.grad, rtol=1e-12, atol=0)
            along = torch.linspace(-1, 1, len(F), dtype=torch.float64)
            moved = [torch.func.jvp(f, (F.detach(),), (along,))[1] for f in (
                lambda a: render(values, a), lambda a: torch.stack([render(v, a) for v in values]))]
            torch.testing.assert_close(*moved, rtol=1e-10, atol=1e-12 * float(moved[0].abs().max()))
        self.assertIsNotNone(render._rendering._batch)
        alone = dualbragg.torch.Renderer(e, amplitudes=wanted)
        self.assertEqual(alone(amplitudes=F).dtype, torch.float32)
        with self.assertRaisesRegex(dualbragg.UsageError, r"amplitudes: .*\(3,\)"):
            alone(amplitudes=F[:3])
        with self.assertRaisesRegex(dualbragg.UsageError, r"amplitudes: .*nan for \(-15"):
            alone(amplitudes=F * torch.nan)

    def test_backward_is_at_the_values_of_its_own_image(self):
        render = self.renderer()
        one = at(78, 20, 90)
        first = (render(one) ** 2).sum()
        render(at(79, 21, 95)).sum().backward()
        first.backward()
        alone = at(78, 20, 90)
        (render(alone) ** 2).sum().backward()
        self.assertTrue(torch.equal(one.grad, alone.grad))

    def test_compiled_code_has_it_as_an_operator(self):
        render = self.renderer()

        def loss(values):
            return (2 * render(values) + 1).square().mean()

        compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
        one, two = at(78, 20, 90), at(78, 20, 90)
        loss(one).backward()
        compiled(two).backward()
        self.assertTrue(torch.allclose(one.grad, two.grad, rtol=1e-14))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about itself
            torch.library.opcheck(torch.ops.dualbragg.render.default, (at(78, 20, 90), render.number))

    def test_workers_of_a_loader(self):
        render = self.renderer()
        expected = [render(torch.tensor([78.0, 20 + i, 90], dtype=torch.float64)) for i in range(6)]
        for start in ("fork", "spawn"):
            loader = torch.utils.data.DataLoader(Shots(render), batch_size=3, num_workers=2,
                                                 multiprocessing_context=start)
            self.assertTrue(torch.equal(torch.cat(list(loader)), torch.stack(expected)), start)

    def test_modules_are_kept(self):
        model = dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"cell_a": (77, 79)})
        with torch.no_grad():
            model.steps += 0.3
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            self.assertTrue(torch.equal(other(), model()))
        fresh = dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"cell_a": (77, 79)})
        fresh.load_state_dict(model.state_dict())
        self.assertTrue(torch.equal(fresh(), model()))

    def test_a_state_names_its_parameters(self):
        def module(*names):
            return dualbragg.torch.Image(dualbragg.Experiment(**SCENE), names, {"cell_a": (77, 79)})

        model = module(*NAMES)
        with torch.no_grad():
            model.steps += torch.tensor([0.1, 0.2, 0.3])
        other = module("misset_y", "distance", "cell_a")
        other.load_state_dict(model.state_dict())
        self.assertEqual(other.steps.tolist(), model.steps[[1, 2, 0]].tolist())
        torch.testing.assert_close(other.values(), model.values()[[1, 2, 0]], rtol=1e-15, atol=0)
        parts = torch.nn.ModuleDict(dict(image=module(*NAMES)))
        parts.load_state_dict(torch.nn.ModuleDict(dict(image=model)).state_dict())
        self.assertTrue(torch.equal(parts["image"](), model()))
        for names in (("cell_a", "misset_x", "distance"), ("cell_a",)):
            with self.assertRaisesRegex(RuntimeError, "parameters: expected cell_a.*found cell_a, misset_y"):
                module(*names).load_state_dict(model.state_dict())
        nameless = {n: v for n, v in model.state_dict().items() if n != "_extra_state"}
        with self.assertRaisesRegex(RuntimeError, "_extra_state"):
            module(*NAMES).load_state_dict(nameless)

    def test_a_module_learns_structure_factors(self):
        e = dualbragg.Experiment(**SCENE)
        hkl = numpy.stack(numpy.meshgrid(*[numpy.arange(-15, 16)] * 3, indexing="ij"), -1).reshape(-1, 3)
        e.set_amplitudes(hkl, numpy.full(len(hkl), 100.0))
        factors = dualbragg.Amplitudes(e, hkl[::7])
        factors.put(e, numpy.linspace(50, 150, len(factors)))
        for names in (["misset_y"], []):
            model = dualbragg.torch.Image(e, names, dtype=torch.float64, amplitudes=factors)
            self.assertEqual(model.amplitudes().tolist(), factors.get(e).tolist())
            numpy.testing.assert_array_equal(model().detach().numpy(), dualbragg.Plan(e, dtype="float64").forward())
            (model() ** 2).sum().backward()
            self.assertGreater(int((model.amplitude_steps.grad != 0).sum()), 20)
            with torch.no_grad():
                model.amplitude_steps += torch.linspace(-0.2, 0.2, len(factors), dtype=torch.float64)
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
                self.assertTrue(torch.equal(other(), model()))
            turned = dualbragg.torch.Image(e, names, dtype=torch.float64,
                                           amplitudes=dualbragg.Amplitudes(e, hkl[::7][::-1]))
            turned.load_state_dict(model.state_dict())
            self.assertTrue(torch.equal(turned(), model()))
        with self.assertRaisesRegex(RuntimeError, "hkl: expected .*found .-15, -15, -15."):
            dualbragg.torch.Image(e, [], amplitudes=dualbragg.Amplitudes(e, hkl[1::7])).load_state_dict(
                model.state_dict())
        self.assertIsNone(dualbragg.torch.Image(e, ["misset_y"]).amplitudes())

    def test_workers_render_the_crystal_that_they_are_given(self):
        e = dualbragg.Experiment(**SCENE)
        turned = e.copy()
        turned._c.crystal.orientation = [0, 1, 0, 0, 0, 1, 1, 0, 0]  # as a search does
        expected = dualbragg.torch.Renderer(turned, dtype=torch.float64)()
        self.assertFalse(torch.equal(expected, dualbragg.torch.Renderer(e, dtype=torch.float64)()))
        loader = torch.utils.data.DataLoader(Still(dualbragg.torch.Renderer(turned, dtype=torch.float64)),
                                             batch_size=None, num_workers=1, multiprocessing_context="spawn")
        (image, threads), = loader
        self.assertTrue(torch.equal(image, expected))
        self.assertEqual(threads, 1)

    def test_a_module_learns_its_parameters(self):
        truth = dualbragg.Experiment(**dict(SCENE, **CLOSED))
        start = truth.copy()
        start["misset_y"] += 0.1
        start["cell_a"] += 0.1
        model = dualbragg.torch.Image(start, ["cell_a", "misset_y"], {"cell_a": (77, 79)},
                                      torch.float64)
        data = torch.from_numpy(dualbragg.Plan(truth, dtype="float64").forward())
        self.assertAlmostEqual(float(model.values()[0].detach()), 78.1, places=9)
        descent = torch.optim.LBFGS(model.parameters(), max_iter=60, line_search_fn="strong_wolfe",
                                    tolerance_grad=1e-14, tolerance_change=1e-16)

        def loss():
            descent.zero_grad()
            off = ((model() - data) ** 2).sum() / (data ** 2).sum()
            off.backward()
            return off

        descent.step(loss)
        self.assertAlmostEqual(float(model.values()[0].detach()), 78, places=3)
        self.assertAlmostEqual(float(model.values()[1].detach()), 20, places=3)

    def test_without_parameters_it_is_an_image(self):
        e = dualbragg.Experiment(**SCENE)
        self.assertTrue((dualbragg.torch.Renderer(e)().numpy() == dualbragg.Plan(e).forward()).all())

    def test_what_does_not_fit_is_refused(self):
        render = self.renderer()
        refused = self.assertRaisesRegex
        with refused(dualbragg.UsageError, r"values: .*\(3,\)"):
            render(torch.zeros(2, dtype=torch.float64))
        with refused(dualbragg.UsageError, "floating"):
            render(torch.zeros(3, dtype=torch.int64))
        for few in (torch.float16, torch.bfloat16):
            with refused(dualbragg.UsageError, "values: .*digits.*float16"):
                render(torch.tensor([78.1, 20, 90], dtype=few))
        with refused(dualbragg.InputError, "cotangent of pixel .*nan"):
            (render(at(78, 20, 90)) * torch.nan).sum().backward()
        with refused(dualbragg.InputError, "direction of cell_a: .*nan"):
            torch.func.jvp(render, (at(78, 20, 90).detach(),), (at(torch.nan, 0, 0).detach(),))
        with refused(dualbragg.UsageError, "values: .*list"):
            render([78.0, 20.0, 90.0])
        with refused(dualbragg.UsageError, "processor.*meta"):
            render(torch.zeros(3, device="meta"))
        with refused(dualbragg.UsageError, "misset_y: .*finite"):
            render(torch.tensor([78.0, torch.nan, 90]))
        with refused(dualbragg.InputError, "cell edge a"):
            render(torch.tensor([-1.0, 0, 90]))
        with refused(dualbragg.UsageError, "dtype"):
            dualbragg.torch.Renderer(dualbragg.Experiment(**SCENE), NAMES, torch.float16)
        for device in (None, "cpu", "cpu:0", torch.device("cpu"), torch.device("cpu", 0)):
            dualbragg.torch.Renderer(dualbragg.Experiment(**SCENE), NAMES, device=device)(render.start())
        with refused(dualbragg.UsageError, "second_order: .*newton"):
            self.renderer(second_order="newton")
        with refused(dualbragg.UsageError, "misset_z"):
            dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"misset_z": (0, 1)})
        for bounds in ((0, torch.inf), (-torch.inf, 79)):
            with refused(dualbragg.UsageError, "bounds of cell_a: .*finite"):
                dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"cell_a": bounds})
        values = at(78, 20, 90)
        slope, = torch.autograd.grad(render(values).sum(), values, create_graph=True)
        with refused(dualbragg.UnsupportedError, "second derivatives"):
            slope.sum().backward()



@unittest.skipUnless(torch, "PyTorch is not installed")
class Memory(unittest.TestCase):
    def test_tensors_are_used_as_they_are(self):
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), ["cell_a"])
        image = torch.empty(plan.shape)
        self.assertIs(plan.forward(image), image)
        numpy.testing.assert_array_equal(image.numpy(), plan.forward())
        numpy.testing.assert_array_equal(plan.vjp(image), plan.vjp(image.numpy()))
        room = plan.empty()
        shared = torch.from_dlpack(room)
        plan.forward(room)
        self.assertTrue(torch.equal(shared, image))
        for bad, message in ((image.double(), "out: expected float32, found float64"),
                             (image.T, "out: expected the shape"),
                             (torch.empty(2, *plan.shape)[:, :, ::2][0], "out: expected the shape"),
                             (image.clone().requires_grad_(), "without gradients"),
                             (image.to(torch.int32), "found another type")):
            with self.assertRaisesRegex(dualbragg.UsageError, message):
                plan.forward(bad)


if __name__ == "__main__":
    ending.main()
