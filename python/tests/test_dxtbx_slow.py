"""Objects of dxtbx and cctbx; skipped where they are not installed (Debian: python3-dials)."""

import os
import tempfile
import unittest

import numpy

import ending
import dualbragg
from dualbragg import dxtbx as adaptor

try:
    import dxtbx.model
    from cctbx import crystal, miller
    from cctbx.array_family import flex
    from dxtbx.model.experiment_list import ExperimentListFactory
    from rstbx.cftbx.coordinate_frame_helpers import align_reference_frame
    from scitbx import matrix
    missing = ""
except ImportError as error:
    missing = f"no dxtbx: {error}"

SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(60, 44), pixel_size=0.4, misset=(10, 20, 30), fluence=1e24)
REST = dict(Ncells=(12, 11, 10), default_F=100, fluence=1e24)


@unittest.skipIf(missing, missing)
class Objects(unittest.TestCase):
    def same(self, one, two):
        a, b = [dualbragg.Plan(e, precision="double", dtype="float64").forward() for e in (one, two)]
        self.assertGreater(a.max(), 0)
        self.assertLess(abs(a - b).max(), 1e-6 * a.max())

    def test_there_and_back(self):
        for more in ({}, dict(osc=1, phi=3, phi_steps=4), dict(detector_rotation=(2, 1, 3)),
                     dict(twotheta=4)):
            experiment = dualbragg.Experiment(**SCENE, **more)
            experiments = adaptor.to_experiments(experiment)
            one = experiments[0]
            self.assertAlmostEqual(one.beam.get_wavelength(), 1.1)
            numpy.testing.assert_allclose(one.crystal.get_unit_cell().parameters()[:3], (78, 78, 38),
                                          rtol=1e-9)
            rest = dict(REST, **{k: v for k, v in more.items() if k == "phi_steps"})
            self.same(experiment, adaptor.from_experiments(experiments, **rest))
            self.same(experiment, adaptor.from_experiments(one, **rest))

    def test_arrays_are_those_of_its_models(self):
        for convention in ("mosflm", "xds", "adxv"):
            experiment = dualbragg.Experiment(**SCENE, convention=convention, detector_rotation=(2, 1, 3))
            one = adaptor.to_experiments(experiment)[0]
            to_mosflm = align_reference_frame(one.beam.get_s0(), (1, 0, 0), one.goniometer.get_rotation_axis(), (0, 0, 1))
            numpy.testing.assert_allclose(experiment.matrices("mosflm").A, 1.1 * numpy.array(
                (to_mosflm * matrix.sqr(one.crystal.get_A())).elems).reshape(3, 3), atol=1e-9)
            experiment["beam_horizontal"] = 1
            one, turn = adaptor.to_experiments(experiment)[0], experiment.frame("dxtbx")
            numpy.testing.assert_allclose(turn @ experiment.A, numpy.array(one.crystal.get_A()).reshape(3, 3), atol=1e-9)
            for name, theirs in (("A", one.crystal.get_A()), ("U", one.crystal.get_U()), ("B", one.crystal.get_B())):
                numpy.testing.assert_allclose(getattr(experiment.matrices("dxtbx"), name), numpy.array(theirs).reshape(3, 3), atol=1e-9)
            numpy.testing.assert_allclose(turn @ experiment.s0, one.beam.get_s0(), atol=1e-9)
            panel, listed = experiment.panels[0], one.detector[0]
            numpy.testing.assert_allclose(turn @ panel.origin, listed.get_origin(), atol=1e-8)
            numpy.testing.assert_allclose(turn @ panel.fast_axis, listed.get_fast_axis(), atol=1e-9)
            numpy.testing.assert_allclose(turn @ panel.slow_axis, listed.get_slow_axis(), atol=1e-9)

    def test_models_that_users_make(self):
        detector = dxtbx.model.Detector()
        for k in range(2):
            panel = detector.add_panel()
            panel.set_name(f"p{k}")
            panel.set_frame((1, 0, 0), (0, -1, 0), (-12, 9 - 10 * k, -90))
            panel.set_image_size((60, 20))
            panel.set_pixel_size((0.4, 0.4))
        beam = dxtbx.model.BeamFactory.simple(1.1)
        axes = adaptor.to_experiments(dualbragg.Experiment(**SCENE))[0].crystal
        made = adaptor.from_models(beam=beam, detector=detector, crystal=axes, **REST)
        self.assertEqual(made.shape, (2, 20, 60))
        self.assertGreater(dualbragg.Plan(made).forward().max(), 0)
        # a reflection is where dxtbx says that its ray meets the panel
        closed = adaptor.from_models(beam=beam, detector=detector, crystal=axes, spots="closed",
                                     mosaic_rms=0.05, **REST)
        spots = dualbragg.predict(closed, most_excitation=0.3)
        self.assertGreater(len(spots), 3)
        for s in spots:
            a = numpy.array(axes.get_A()).reshape(3, 3)
            s1 = numpy.array(beam.get_s0()) + a @ s["hkl"]
            where = detector[int(s["panel"])].get_ray_intersection_px(tuple(s1))
            self.assertLess(abs(numpy.array(where) - s["position"]).max(), 1.5)

    def test_structure_factors(self):
        symmetry = crystal.symmetry((78, 78, 38, 90, 90, 90), "P 43 21 2")
        indices = miller.build_set(symmetry, anomalous_flag=False, d_min=8)
        data = flex.double(numpy.random.default_rng(1).uniform(50, 100, indices.size()))
        array = miller.array(indices, data).set_observation_type_xray_amplitude()
        experiment = dualbragg.Experiment(**dict(SCENE, default_F=0))
        hkl, values = adaptor.amplitudes(array)
        experiment.set_amplitudes(hkl, values)
        h, k, l = array.indices()[3]
        for equivalent in ((h, k, l), (-h, -k, l), (k, h, -l), (-h, -k, -l)):
            self.assertEqual(experiment["F:%d:%d:%d" % equivalent], data[3])
        intensities = array.as_intensity_array()
        numpy.testing.assert_allclose(adaptor.amplitudes(intensities)[1], values, rtol=1e-9)

    def test_images(self):
        experiment = dualbragg.Experiment(**SCENE)
        counts = numpy.random.default_rng(0).poisson(dualbragg.Plan(experiment).forward() / 1e3)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a_001.img")
            experiment.write_smv(path, counts.astype(numpy.float32))
            read = adaptor.load(ExperimentListFactory.from_filenames([path])[0].imageset)
        numpy.testing.assert_array_equal(read.value, numpy.minimum(counts, 65535))
        self.assertEqual(read.mask.sum(), (counts >= 65535).sum())

    def test_what_does_not_fit_is_refused(self):
        with self.assertRaisesRegex(dualbragg.UsageError, "beam: .*dict"):
            adaptor.from_models(beam={}, detector={})
        with self.assertRaisesRegex(dualbragg.UsageError, "experiments: .*int"):
            adaptor.from_experiments(3)
        experiments = adaptor.to_experiments(dualbragg.Experiment(**SCENE))
        with self.assertRaisesRegex(dualbragg.UsageError, "number: .*found 1"):
            adaptor.from_experiments(experiments, 1)
        with self.assertRaisesRegex(dualbragg.UsageError, "array: .*list"):
            adaptor.amplitudes([])


if __name__ == "__main__":
    ending.main()
