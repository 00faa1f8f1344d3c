"""Tensors of PyTorch; skipped where it is not installed."""

import unittest

import dualbragg

try:
    import torch

    import dualbragg.torch
except ImportError:
    torch = None

SCENE = dict(cell=(78, 78, 38), cells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(40, 30), pixel_size=0.6, misset=(10, 20, 30), oversample=2,
             fluence=1e24, shape="gauss")
NAMES = ["cell_a", "misset_y", "distance"]


@unittest.skipUnless(torch, "PyTorch is not installed")
class Tensors(unittest.TestCase):
    def renderer(self, **more):
        return dualbragg.torch.Renderer(dualbragg.Experiment(**dict(SCENE, **more)), NAMES,
                                        torch.float64, precision="double")

    def test_gradcheck_both_ways(self):
        for more in ({}, dict(spots="closed", mosaic_rms=0.5)):
            render = self.renderer(**more)
            values = torch.tensor([78.1, 20.05, 90.3], dtype=torch.float64, requires_grad=True)
            with torch.no_grad():
                size = render(values).max()
            self.assertGreater(size, 0)
            self.assertTrue(torch.autograd.gradcheck(
                lambda v: render(v) / size, (values,), eps=1e-6, atol=1e-5, rtol=1e-4,
                check_forward_ad=True))

    def test_backward_is_at_the_values_of_its_own_image(self):
        render = self.renderer()
        one = torch.tensor([78.0, 20, 90], dtype=torch.float64, requires_grad=True)
        two = torch.tensor([79.0, 21, 95], dtype=torch.float64, requires_grad=True)
        first = (render(one) ** 2).sum()
        render(two).sum().backward()
        first.backward()
        alone = torch.tensor([78.0, 20, 90], dtype=torch.float64, requires_grad=True)
        (render(alone) ** 2).sum().backward()
        self.assertTrue(torch.equal(one.grad, alone.grad))

    def test_a_module_learns_its_parameters(self):
        truth = dualbragg.Experiment(**dict(SCENE, spots="closed", mosaic_rms=0.5))
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

    def test_what_does_not_fit_is_refused(self):
        render = self.renderer()
        with self.assertRaisesRegex(dualbragg.UsageError, r"values: .*\(3,\)"):
            render(torch.zeros(2, dtype=torch.float64))
        with self.assertRaisesRegex(dualbragg.UsageError, "floating"):
            render(torch.zeros(3, dtype=torch.int64))
        with self.assertRaisesRegex(dualbragg.InputError, "cell edge a"):
            render(torch.tensor([-1.0, 0, 90]))
        with self.assertRaisesRegex(dualbragg.UsageError, "dtype"):
            dualbragg.torch.Renderer(dualbragg.Experiment(**SCENE), NAMES, torch.float16)
        with self.assertRaisesRegex(dualbragg.UsageError, "misset_z"):
            dualbragg.torch.Image(dualbragg.Experiment(**SCENE), NAMES, {"misset_z": (0, 1)})
        values = torch.tensor([78.0, 20, 90], dtype=torch.float64, requires_grad=True)
        slope, = torch.autograd.grad(render(values).sum(), values, create_graph=True)
        with self.assertRaises(RuntimeError):
            slope.sum().backward()


if __name__ == "__main__":
    unittest.main()
