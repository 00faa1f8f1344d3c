"""The names of the PyTorch port; skipped where PyTorch is not installed."""

import importlib.util
import sys
import unittest

import numpy

import ending
import dualbragg

torch = None
if importlib.util.find_spec("torch"):
    import torch

    import dualbragg.nanobrag_torch
    from dualbragg.nanobrag_torch.config import (BeamConfig, CrystalConfig, DetectorConfig,
                                                 DetectorConvention)
    from dualbragg.nanobrag_torch.models.crystal import Crystal
    from dualbragg.nanobrag_torch.models.detector import Detector
    from dualbragg.nanobrag_torch.simulator import Simulator


@unittest.skipUnless(torch, "PyTorch is not installed")
class Port(unittest.TestCase):
    def image(self, crystal=None, detector=None, beam=None, **attributes):
        c = Crystal(CrystalConfig(**{**dict(cell_a=90.0, N_cells=(5, 5, 5), default_F=100.0),
                                     **(crystal or {})}))
        for name, value in attributes.items():
            setattr(c, name, value)
        d = Detector(DetectorConfig(**{**dict(spixels=24, fpixels=32, pixel_size_mm=0.8),
                                       **(detector or {})}))
        return Simulator(c, d, beam_config=BeamConfig(**{**dict(wavelength_A=1.5), **(beam or {})}),
                         dtype=torch.float64).run()

    def test_images_are_ours(self):
        found = self.image(dict(misset_deg=(1.0, 2.0, 3.0)), dict(detector_twotheta_deg=3.0,
                                                                  beam_center_s=9.0, beam_center_f=11.0))
        own = dualbragg.Experiment(cell=(90, 100, 100), Ncells=(5, 5, 5), default_F=100, wavelength=1.5,
                                   distance=100, detector_pixels=(32, 24), pixel_size=0.8, twotheta=3,
                                   misset=(1, 2, 3), Xbeam=9, Ybeam=11)
        numpy.testing.assert_array_equal(found, dualbragg.Plan(own, dtype="float64").forward())
        mask = torch.zeros(24, 32)
        mask[3:5] = 1
        masked = self.image(detector=dict(mask_array=mask))
        self.assertEqual(float(masked[5:].abs().max()), 0)
        self.assertTrue(torch.equal(masked[3:5], self.image()[3:5]))

    def test_tensors_are_differentiated_by(self):
        size = float(self.image().max())

        def render(a, misset, distance, wavelength):
            return self.image(dict(misset_deg=(misset, 0.0, 0.0)), dict(distance_mm=distance),
                              dict(wavelength_A=wavelength), cell_a=a) / size

        at = [torch.tensor(v, dtype=torch.float64, requires_grad=True) for v in (90.2, 1.0, 99.0, 1.49)]
        self.assertTrue(torch.autograd.gradcheck(render, at, eps=1e-6, atol=1e-4, rtol=1e-3))

    def test_programs_for_the_port_run(self):
        dualbragg.nanobrag_torch.install()
        try:
            from nanobrag_torch.models.crystal import Crystal as theirs
            self.assertIs(theirs, Crystal)
        finally:
            for name in [n for n in sys.modules if n.split(".")[0] == "nanobrag_torch"]:
                del sys.modules[name]

    def test_what_it_does_not_take_is_refused(self):
        for words, given in (("curved_detector", dict(detector=dict(curved_detector=True))),
                             ("nopolar", dict(beam=dict(nopolar=True))),
                             ("sample_x", dict(crystal=dict(sample_x=1e-4))),
                             ("MOSFLM", dict(detector=dict(
                                 detector_convention=DetectorConvention.XDS, beam_center_s=1.0,
                                 beam_center_f=1.0)))):
            with self.assertRaisesRegex(dualbragg.UnsupportedError, words):
                self.image(**given)
        with self.assertRaisesRegex(dualbragg.UsageError, "distance: .*finite"):
            self.image(detector=dict(distance_mm=float("nan")))
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "device"):
            Simulator(Crystal(), Detector(), device="cuda")


if __name__ == "__main__":
    ending.main()
