"""Tensors of PyTorch; skipped where it is not installed."""

import contextlib
import copy
import importlib.util
import io
import os
import pickle
import re
import shutil
import tempfile
import unittest
import unittest.mock
import warnings

import numpy

import ending
import dualbragg
from dualbragg._dualbragg import lib

try:
    import torch

    import dualbragg.torch
    from dualbragg._rendering import Rendering
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

    def test_batching_rules(self):
        scaled = self.scaled(self.renderer(**CLOSED), 78.1, 20.05, 90.3)
        values = at(78.1, 20.05, 90.3)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about its own loops
            self.assertTrue(torch.autograd.gradcheck(
                scaled, (values,), eps=1e-6, atol=1e-5, rtol=1e-4, check_batched_grad=True,
                check_forward_ad=True, check_batched_forward_grad=True))
            functional = torch.autograd.functional.jacobian
            each = torch.stack([torch.autograd.grad(scaled(values)[i, j], values)[0] for i in range(9) for j in range(12)])
            for found in (functional(scaled, values, vectorize=True), torch.func.jacrev(scaled)(values.detach()),
                          functional(scaled, values, vectorize=True, strategy="forward-mode"),
                          torch.func.jacfwd(scaled)(values.detach())):
                self.assertLess((found.reshape(-1, 3) - each).abs().max(), 1e-12 * each.abs().max())

    def test_all_second_derivatives_are_those_of_the_loss(self):
        """Each way that torch has to take them, against differences of the loss itself."""
        scaled = self.scaled(self.renderer(second_order="differences", **CLOSED), 78.1, 20.05, 90.3)
        scale = torch.tensor([0.05, 0.1, 0.5], dtype=torch.float64)
        start = at(78.1, 20.05, 90.3).detach()

        def loss(x):
            return ((scaled(start + scale * x) - 0.3) ** 2).sum()

        h, zero = 2e-3, torch.zeros(3, dtype=torch.float64)

        def second(i, j, h):
            a, b = torch.eye(3, dtype=torch.float64)[[i, j]] * h
            return (loss(a + b) - loss(a - b) - loss(b - a) + loss(-a - b)) / (4 * h * h)

        expected = torch.tensor([[(4 * second(i, j, h) - second(i, j, 2 * h)) / 3 for j in range(3)] for i in range(3)])
        f = torch.func
        for hessian in (f.hessian(loss)(zero), f.jacrev(f.jacrev(loss))(zero), f.jacfwd(f.jacfwd(loss))(zero),
                        f.jacrev(f.jacfwd(loss))(zero), torch.autograd.functional.hessian(loss, zero),
                        torch.autograd.functional.hessian(loss, zero, vectorize=True)):
            self.assertLess((hessian - expected).abs().max(), 1e-5 * expected.abs().max())

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
        # and all at once, with gradients of either alone and of both
        rows = F.detach() + torch.arange(3)[:, None]
        stacked = torch.stack([render(v, f) for v, f in zip(values, rows)])
        for images in (render(values, rows), torch.func.vmap(render)(values, rows)):
            self.assertTrue(torch.equal(images, stacked))
        self.assertTrue(torch.equal(torch.func.vmap(render, (0, None))(values, F.detach()),
                                    torch.stack([render(v, F.detach()) for v in values])))
        gradients = torch.func.grad(lambda v, f: (render(v, f) ** 2).sum(), (0, 1))
        for found, expected in zip(torch.func.vmap(gradients, (0, None))(values, F.detach()),
                                   zip(*[gradients(v, F.detach()) for v in values])):
            torch.testing.assert_close(found, torch.stack(expected), rtol=1e-9, atol=0)
        both = torch.func.grad(lambda v, f: (render(v, f) ** 2).sum(), (0, 1))(values, F.detach())
        alone_by_F = torch.func.grad(lambda f: (render(values, f) ** 2).sum())(F.detach())
        torch.testing.assert_close(both[1], alone_by_F, rtol=1e-12, atol=0)
        # an image is a quadratic form of structure factors that are not interpolated
        def loss(f):
            return render(render.start(), f).sum() / size
        along = torch.linspace(0, 1, len(F), dtype=torch.float64)
        curved = torch.func.jvp(torch.func.grad(loss), (F.detach(),), (along,))[1]
        torch.testing.assert_close(curved, torch.func.grad(loss)(along), rtol=1e-5, atol=1e-9)
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
        self.assertTrue(torch.equal(render(render.start()), render(render.start(), torch.from_numpy(wanted.get(e)))))
        alone = dualbragg.torch.Renderer(e, amplitudes=wanted)
        self.assertEqual(alone(amplitudes=F).dtype, torch.float32)
        with self.assertRaisesRegex(dualbragg.UsageError, r"amplitudes: .*\(3,\)"):
            alone(amplitudes=F[:3])
        with self.assertRaisesRegex(dualbragg.UsageError, r"amplitudes: .*nan for \(-15"):
            alone(amplitudes=F * torch.nan)
        with self.assertRaisesRegex(dualbragg.UsageError, "amplitudes: expected none"):
            dualbragg.torch.Renderer(e)(amplitudes=F)

    def test_values_have_names(self):
        render = self.renderer()
        named = render.named()
        self.assertEqual({n: v.item() for n, v in named.items()}, dict(cell_a=78, misset_y=20, distance=90))
        self.assertTrue(torch.equal(render(named), render(render.start())) and torch.equal(render(), render(named)))
        turned = at(20.5)
        image = render({"misset_y": turned[0]})
        self.assertTrue(torch.equal(image, render(at(78, 20.5, 90))))
        image.sum().backward()
        values = at(78, 20.5, 90)
        render(values).sum().backward()
        self.assertEqual(turned.grad[0], values.grad[1])
        many = render({"misset_y": torch.tensor([20.0, 20.5]), "distance": torch.tensor([[90.0], [91]])})
        self.assertEqual(many.shape, (2, 2, 9, 12))
        self.assertTrue(torch.equal(many[1, 1], render(at(78, 20.5, 91))))
        for number in (20.5, 20):  # of Python
            self.assertTrue(torch.equal(render({"misset_y": number}), render(at(78, number, 90))))
        for wrong, what in (({"misset_x": turned[0]}, "misset_x is not among"), ({"misset_y": "20"}, "misset_y: .*str"),
                            ({"misset_y": torch.tensor(3)}, "misset_y: .*int64")):
            with self.assertRaisesRegex(dualbragg.UsageError, what):
                render(wrong)

    def test_several_shots(self):
        shots = [dualbragg.Experiment(**dict(SCENE, misset=(10, 20 + i, 30))) for i in range(3)]
        for i, shot in enumerate(shots):
            shot.U = dualbragg.random_rotation(i)  # each stays what it is, but for the parameters
        render = dualbragg.torch.Renderer(shots, ["distance", "scale"], torch.float64, precision="double")
        self.assertEqual(render.shape, (3, 9, 12))
        own = [dualbragg.torch.Renderer(s, ["distance", "scale"], torch.float64, precision="double") for s in shots]
        values = torch.tensor([[90.0, 1], [91, 1.5], [92, 2]], dtype=torch.float64, requires_grad=True)
        each = torch.stack([r(v) for r, v in zip(own, values)])
        self.assertTrue(torch.equal(render(values), each))
        self.assertTrue(torch.equal(render(values[1]), torch.stack([r(values[1]) for r in own])))
        two = torch.stack([values, values.flip(0)])
        self.assertTrue(torch.equal(render(two)[1], render(values.flip(0))))
        self.assertTrue(torch.equal(torch.func.vmap(render)(two), render(two)))
        self.assertTrue(torch.equal(pickle.loads(pickle.dumps(render))(values), each))
        found, = torch.autograd.grad((render(values) * weighted(each)).sum(), values)
        expected, = torch.autograd.grad((each * weighted(each)).sum(), values)
        self.assertTrue(torch.equal(found, expected))
        for wrong, what in (([], "experiment: .*sequence"), ([shots[0], 3], "experiment: .*sequence"),
                            ([shots[0], dualbragg.Experiment(**dict(SCENE, default_F=3))], "shot 1: .*structure factors")):
            with self.assertRaisesRegex(dualbragg.UsageError, what):
                dualbragg.torch.Renderer(wrong)
        with self.assertRaisesRegex(dualbragg.UsageError, r"values: .*\(2,\) or \(..., 3, 2\), found \(2, 2\)"):
            render(values[:2])
        nearer = torch.tensor(90.5, dtype=torch.float64)
        near = render({"distance": nearer, "scale": nearer / nearer})
        for shape in ((1,), (2, 1), (2, 3)):
            images = render({"distance": nearer.expand(shape), "scale": torch.ones(shape)})
            self.assertTrue(torch.equal(images, near.expand(*shape[:-1], 3, 9, 12)), shape)
        for names in (["distance"], ["distance", "scale"]):
            with self.assertRaisesRegex(dualbragg.UsageError, r"distance: .*\(..., 3\), found \(5,\)"):
                render({name: torch.full((5,), 90.0) for name in names})

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
        renderers = self.renderer(), self.renderer(distance=95)

        def loss(render, values):
            return (2 * render(values) + 1).square().mean()

        compiled = torch.compile(loss, fullgraph=True, backend="aot_eager")
        for render in renderers:
            one, two = at(78, 20, 90), at(78, 20, 90)
            loss(render, one).backward()
            compiled(render, two).backward()
            self.assertTrue(torch.allclose(one.grad, two.grad, rtol=1e-14))
        mapped = torch.compile(torch.func.vmap(renderers[0]), fullgraph=True, backend="aot_eager")
        rows = torch.stack([at(78, 20, 90), at(78, 21, 90)]).detach()
        self.assertTrue(torch.equal(mapped(rows), renderers[0](rows)))
        model = dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"cell_a": (77, 79)})
        self.assertTrue(torch.equal(torch.compile(model, fullgraph=True, backend="aot_eager")(), model()))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about itself
            torch.library.opcheck(torch.ops.dualbragg.render.default, (at(78, 20, 90), torch.empty(0).double(),
                                                                       render.number))

    @unittest.skipUnless(shutil.which("c++") or shutil.which("g++"), "no compiler for Inductor")
    def test_inductor(self):
        """The compiler that torch.compile takes by itself."""
        render, data = self.renderer(**CLOSED), self.renderer(**CLOSED)(at(78, 20, 90)).detach()

        def loss(values):
            image = render(values)
            return ((image - data).square() / (image + 1)).sum().sqrt()

        compiled = torch.compile(loss, fullgraph=True)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of torch about itself
            for start in ((78.1, 20.05, 90.3), (77.9, 20, 90)):
                one, two = at(*start), at(*start)
                (found := compiled(one)).backward()
                (expected := loss(two)).backward()
                torch.testing.assert_close(found, expected, rtol=1e-12, atol=0)
                torch.testing.assert_close(one.grad, two.grad, rtol=1e-10, atol=0)

    def test_modules_move(self):
        render = self.renderer()
        image, number = render(), render.number
        self.assertEqual((list(render.parameters()), render.state_dict()), ([], {}))
        single = copy.deepcopy(render).float()
        self.assertEqual((single().dtype, single.dtype, single.plan.dtype), (torch.float32, torch.float32, "float32"))
        torch.testing.assert_close(single().double(), image, rtol=1e-6, atol=1e-30)
        self.assertEqual((render.number, render().dtype), (number, torch.float64))
        self.assertIs(render.to("cpu"), render)
        self.assertEqual(render.number, number)
        with self.assertRaisesRegex(dualbragg.UsageError, "dtype: .*float16"):
            render.half()
        model = torch.nn.Sequential(dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES)).double()
        self.assertEqual(model[0]().dtype, torch.float64)
        if not torch.cuda.is_available():
            with self.assertRaises((dualbragg.Error, RuntimeError, AssertionError)):
                render.cuda()
        self.assertTrue(torch.equal(render(), image))

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
            for step in model.steps.values():
                step += 0.3
        for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
            self.assertTrue(torch.equal(other(), model()))
        fresh = dualbragg.torch.Image(dualbragg.Experiment(**dict(SCENE, distance=91)), NAMES, {"cell_a": (76, 80)})
        file = io.BytesIO()
        torch.save(model.state_dict(), file)
        file.seek(0)
        fresh.load_state_dict(torch.load(file))  # weights alone
        self.assertTrue(torch.equal(fresh(), model()))
        self.assertIn("cell_a = 78", repr(model))

    def test_parameters_of_a_module_have_names(self):
        """Each parameter of the library can be one, and is a torch parameter of that name."""
        experiment = dualbragg.Experiment(**SCENE)
        names = list(experiment.values)
        model = dualbragg.torch.Image(experiment, names)
        self.assertEqual({n for n, _ in model.named_parameters()}, {f"steps.{n}" for n in names})
        self.assertEqual({n: v.item() for n, v in model.values().items()}, experiment.values)
        self.assertEqual(model.units["cell_a"], "A")

        model = dualbragg.torch.Image(experiment, NAMES, {"cell_a": (77, 79)}, torch.float64)
        model.set_values(dict(cell_a=78.25, distance=91))
        moved = dict(cell_a=78.25, misset_y=20, distance=91)
        for name, value in model.values().items():
            self.assertAlmostEqual(value.item(), moved[name], places=12)
        turned = torch.tensor([20.0, 20.1], dtype=torch.float64)
        images = model({"misset_y": turned})
        self.assertTrue(torch.equal(images[0], model()))
        self.assertEqual(images.shape, (2, 9, 12))
        slope, = torch.autograd.grad(model().sum(), model.steps["distance"])
        self.assertGreater(abs(slope.item()), 0)
        for wrong, what in (({"cell_a": 79.5}, "cell_a: .*between 77 and 79"), ({"cell_b": 1}, "cell_b is not among"),
                            ({"distance": float("nan")}, "distance: .*finite"), ({"distance": [1, 2]}, "distance: .*shape"),
                            ({"distance": "x"}, "distance: .*number")):
            with self.assertRaisesRegex(dualbragg.UsageError, what):
                model.set_values({"misset_y": 3, **wrong})
        self.assertAlmostEqual(model.values()["misset_y"].item(), 20, places=12)  # nothing of it is taken
        with self.assertRaisesRegex(dualbragg.UsageError, "own: .*one experiment"):
            dualbragg.torch.Image(experiment, own=["scale"])

    def test_a_module_of_many_shots(self):
        shots = [dualbragg.Experiment(**dict(SCENE, misset=(10, 20 + i, 30))) for i in range(3)]
        model = dualbragg.torch.Image(shots, ["cell_a"], {"cell_a": (77, 79), "scale": (0.1, 9)}, torch.float64,
                                      own=["misset_y", "scale"], precision="double")
        self.assertEqual({n: tuple(p.shape) for n, p in model.steps.items()}, dict(cell_a=(), misset_y=(3,), scale=(3,)))
        self.assertEqual(model.values()["misset_y"].tolist(), [20, 21, 22])
        model.set_values(dict(cell_a=78.2, scale=torch.tensor([1.5, 0.5, 2]), misset_y=21.5))
        images = model()
        for i, shot in enumerate(shots):
            for name, value in (("cell_a", 78.2), ("misset_y", 21.5), ("scale", (1.5, 0.5, 2)[i])):
                shot[name] = value
            alone = dualbragg.Plan(shot, precision="double", dtype="float64").forward()
            self.assertLess(abs(images[i].detach().numpy() - alone).max(), 1e-9 * alone.max())
        (images ** 2).sum().backward()
        together = model.steps["cell_a"].grad
        self.assertEqual([p.grad.shape for p in model.steps.values()], [(), (3,), (3,)])
        for p in model.parameters():
            p.grad = None
        for i in range(3):
            (model()[i] ** 2).sum().backward()
        torch.testing.assert_close(model.steps["cell_a"].grad, together, rtol=1e-10, atol=0)
        other = dualbragg.torch.Image(shots[::-1], ["cell_a"], {"cell_a": (76, 80)}, torch.float64,
                                      own=["scale", "misset_y"], precision="double")
        other.load_state_dict(model.state_dict())
        for name, value in model.values().items():
            torch.testing.assert_close(other.values()[name], value, rtol=1e-15, atol=0)
        self.assertIn("of each shot", repr(model))
        with self.assertRaisesRegex(RuntimeError, r"size mismatch for steps.misset_y"):
            dualbragg.torch.Image(shots[:2], ["cell_a"], own=["misset_y", "scale"]).load_state_dict(model.state_dict())
        shots[0]["misset_y"] = 1
        with self.assertRaisesRegex(dualbragg.UsageError, "misset_y: .*in common, found 1 to 21.5"):
            dualbragg.torch.Image(shots, ["misset_y"])

    def test_a_state_names_its_parameters(self):
        def module(*names):
            return dualbragg.torch.Image(dualbragg.Experiment(**SCENE), names, {"cell_a": (77, 79)})

        model = module(*NAMES)
        with torch.no_grad():
            for step, value in zip(model.steps.values(), (0.1, 0.2, 0.3)):
                step += value
        other = module("misset_y", "distance", "cell_a")
        other.load_state_dict(model.state_dict())
        for name, value in model.values().items():
            torch.testing.assert_close(other.values()[name], value, rtol=1e-15, atol=0)
        parts = torch.nn.ModuleDict(dict(image=module(*NAMES)))
        parts.load_state_dict(torch.nn.ModuleDict(dict(image=model)).state_dict())
        self.assertTrue(torch.equal(parts["image"](), model()))
        with self.assertRaisesRegex(RuntimeError, "Missing .*steps.misset_x.*\n.*Unexpected .*steps.misset_y"):
            module("cell_a", "misset_x", "distance").load_state_dict(model.state_dict())
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
            self.assertGreater(int((model.steps["amplitudes"].grad != 0).sum()), 20)
            with torch.no_grad():
                model.steps["amplitudes"] += torch.linspace(-0.2, 0.2, len(factors), dtype=torch.float64)
            for other in (pickle.loads(pickle.dumps(model)), copy.deepcopy(model)):
                self.assertTrue(torch.equal(other(), model()))
            turned = dualbragg.torch.Image(e, names, dtype=torch.float64,
                                           amplitudes=dualbragg.Amplitudes(e, hkl[::7][::-1]))
            turned.load_state_dict(model.state_dict())
            self.assertTrue(torch.equal(turned(), model()))
        with self.assertRaisesRegex(RuntimeError, "amplitudes: expected hkl .*found .-15, -15, -15."):
            dualbragg.torch.Image(e, [], amplitudes=dualbragg.Amplitudes(e, hkl[1::7])).load_state_dict(
                model.state_dict())
        self.assertIsNone(dualbragg.torch.Image(e, ["misset_y"]).amplitudes())
        shots = [e.copy(), e.copy()]
        shots[1]["misset_y"] += 1
        both = dualbragg.torch.Image(shots, own=["misset_y"], dtype=torch.float64, amplitudes=factors)
        (both() ** 2).sum().backward()
        alone = [dualbragg.torch.Image(s, ["misset_y"], dtype=torch.float64, amplitudes=factors) for s in shots]
        for model in alone:
            (model() ** 2).sum().backward()
        torch.testing.assert_close(both.steps["amplitudes"].grad, sum(m.steps["amplitudes"].grad for m in alone),
                                   rtol=1e-10, atol=1e-12)

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

    def test_a_stream_of_random_shots(self):
        closed = dict(SCENE, **CLOSED)
        shots = dualbragg.RandomShots(dualbragg.Experiment(**closed), 11, jitter={"cell_a": 0.1}, labels=["expected"])
        alone = list(torch.utils.data.DataLoader(dualbragg.torch.ShotStream(shots, 3), batch_size=None))
        self.assertEqual([len(b["image"]) for b in alone], [3, 3, 3, 2])
        numpy.testing.assert_array_equal(alone[1]["image"][2], shots[5]["image"])
        self.assertEqual(alone[1]["cell_a"].tolist(), [shots[i]["cell_a"].tolist() for i in (3, 4, 5)])
        for method, workers in (("fork", 2), ("spawn", 2), ("forkserver", 1)):
            found = list(torch.utils.data.DataLoader(dualbragg.torch.ShotStream(shots, 3), batch_size=None, num_workers=workers,
                                                     multiprocessing_context=method))
            self.assertEqual(len(found), 4)
            for one, other in zip(alone, found):
                self.assertEqual({n: v.numpy().tobytes() for n, v in one.items()}, {n: v.numpy().tobytes() for n, v in other.items()})
        ranks = [list(dualbragg.torch.ShotStream(shots, 3, rank=r, ranks=2)) for r in range(2)]
        self.assertEqual([len(r) for r in ranks], [2, 2])
        self.assertTrue(torch.equal(ranks[1][0]["image"], alone[1]["image"]))
        with self.assertRaisesRegex(dualbragg.UsageError, "rank"):
            dualbragg.torch.ShotStream(shots, rank=2, ranks=2)
        with self.assertRaisesRegex(dualbragg.UsageError, "shots: .*int"):
            dualbragg.torch.ShotStream(3)

    def test_a_module_learns_its_parameters(self):
        truth = dualbragg.Experiment(**dict(SCENE, **CLOSED))
        start = truth.copy()
        start["misset_y"] += 0.1
        start["cell_a"] += 0.1
        model = dualbragg.torch.Image(start, ["cell_a", "misset_y"], {"cell_a": (77, 79)},
                                      torch.float64)
        data = torch.from_numpy(dualbragg.Plan(truth, dtype="float64").forward())
        self.assertAlmostEqual(model.values()["cell_a"].item(), 78.1, places=9)
        descent = torch.optim.LBFGS(model.parameters(), max_iter=60, line_search_fn="strong_wolfe",
                                    tolerance_grad=1e-14, tolerance_change=1e-16)

        def loss():
            descent.zero_grad()
            off = ((model() - data) ** 2).sum() / (data ** 2).sum()
            off.backward()
            return off

        descent.step(loss)
        self.assertAlmostEqual(model.values()["cell_a"].item(), 78, places=3)
        self.assertAlmostEqual(model.values()["misset_y"].item(), 20, places=3)

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
        for given, what in ((("cell_a",), "parameters: .*list"), ((NAMES, [(77, 79)]), "bounds: .*dictionary"),
                            ((NAMES, {"cell_a": 78}), "bounds of cell_a: .*least")):
            with refused(dualbragg.UsageError, what):
                dualbragg.torch.Image(dualbragg.Experiment(**SCENE), *given)
        values = at(78, 20, 90)
        slope, = torch.autograd.grad(render(values).sum(), values, create_graph=True)
        with refused(dualbragg.UnsupportedError, "second derivatives"):
            slope.sum().backward()



@unittest.skipUnless(torch, "PyTorch is not installed")
class Memory(unittest.TestCase):
    def test_nothing_is_copied(self):
        """The library gets the memory of values, images and cotangents that torch has."""
        for shots in (1, 3):
            experiments = [dualbragg.Experiment(**SCENE)] * shots
            render = dualbragg.torch.Renderer(experiments if shots > 1 else experiments[0], NAMES)
            values = render.start().requires_grad_()
            own, seen = render._rendering, []
            if shots == 1:
                with unittest.mock.patch.object(own, "call", lambda *given: (seen.append(given), Rendering.call(own, *given))):
                    image = render(values)
                    cotangent = torch.ones_like(image)
                    image.backward(cotangent)
                (_, at, _, to), (_, again, _, by, found, _) = seen
                self.assertEqual((at, to, again, by), (values.data_ptr(), image.data_ptr(), values.data_ptr(),
                                                       cotangent.data_ptr()))
                self.assertEqual(found, values.grad.data_ptr())
                continue
            render(values.detach())
            own._batch.forward, own._batch.products = (
                lambda *given, f=f: (seen.append(given), f(*given)) for f in (own._batch.forward, own._batch.products))
            image = render(values)
            cotangent = torch.ones_like(image)
            image.backward(cotangent)
            (_, to), (_, by, found, _) = seen
            self.assertEqual([a.__array_interface__["data"][0] for a in (to, by, found)],
                             [image.data_ptr(), cotangent.data_ptr(), values.grad.data_ptr()])

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


@unittest.skipUnless(torch, "PyTorch is not installed")
class FrontPage(unittest.TestCase):
    def test_the_lines_of_the_front_page_find_the_crystal(self):
        with open(os.path.join(os.environ.get("SOURCE_DIR", "."), "README.md"), encoding="utf-8") as page:
            lines = re.search(r"^```python\n(.*?)^```.*?^```py\n(.*?)^```", page.read(), re.S | re.M)
        torch.manual_seed(1)
        names, printed = {}, io.StringIO()
        with contextlib.redirect_stdout(printed):
            for block in lines.groups():
                exec(compile(block, "README.md", "exec"), names)
        self.assertGreater(names["image"].sum(), 1e5)
        values = names["model"].values()
        self.assertAlmostEqual(values["cell_a"].item(), 78, 2)
        self.assertAlmostEqual(values["misset_x"].item(), 10, 2)

    @unittest.skipUnless(lib.DB_PYTHON_FIT, "this build has no refinement")
    def test_the_how_to_page_runs_as_it_stands(self):
        """Its lines for PyTorch and JAX, after all those before them."""
        source = os.path.abspath(os.environ.get("SOURCE_DIR", "."))
        with open(os.path.join(source, "docs", "howto", "python.md"), encoding="utf-8") as page:
            sections = re.findall(r"^## (.*?)\n(.*?)(?=^## |\Z)", page.read(), re.S | re.M)
        own = [package for package in ("PyTorch", "JAX") if package != "JAX" or importlib.util.find_spec("jax")]
        names, before = {}, os.getcwd()
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            os.symlink(os.path.join(source, "examples"), os.path.join(folder, "examples"))
            os.chdir(folder)
            try:
                for title, text in sections:
                    for kind, block in re.findall(r"^```(python|py)\n(.*?)^```", text, re.S | re.M):
                        if title in own or kind == "python":
                            exec(compile(block, title, "exec"), names)
            finally:
                os.chdir(before)
        self.assertEqual((names["images"].shape, names["curvature"].shape), ((3, 400, 500), (2, 2)))


if __name__ == "__main__":
    ending.main()
