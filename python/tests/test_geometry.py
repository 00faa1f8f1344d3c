"""Lattice, orientation, beam and panels as arrays, beside calculations of their own."""

import dataclasses
import math
import os
import tempfile
import unittest

import numpy

import ending
import dualbragg

CELL = (71, 78, 38, 92, 97, 105)
SCENE = dict(cell=CELL, Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(60, 44), pixel_size=0.4, misset=(10, 20, 30))


def turn(axis, degrees):
    """A rotation about a laboratory axis, written out."""
    c, s = math.cos(math.radians(degrees)), math.sin(math.radians(degrees))
    i, j = (axis + 1) % 3, (axis + 2) % 3
    found = numpy.eye(3)
    found[i, i] = found[j, j] = c
    found[i, j], found[j, i] = -s, s
    return found


def scene(**keywords):
    return dualbragg.Experiment(**{**SCENE, **keywords})


class Lattice(unittest.TestCase):
    def test_reciprocal_vectors_are_those_of_the_cell(self):
        e = scene()
        a, b, c, *angles = CELL
        ca, cb, cc = numpy.cos(numpy.radians(angles))
        metric = numpy.array([[a * a, a * b * cc, a * c * cb], [a * b * cc, b * b, b * c * ca],
                              [a * c * cb, b * c * ca, c * c]])
        numpy.testing.assert_allclose(e.A.T @ e.A, numpy.linalg.inv(metric), rtol=1e-11, atol=1e-16)
        numpy.testing.assert_allclose(e.U @ e.B, e.A, atol=1e-15)
        numpy.testing.assert_allclose(e.unit_cell, CELL)

    def test_orientation_is_the_misset(self):
        numpy.testing.assert_allclose(scene().U, turn(2, 30) @ turn(1, 20) @ turn(0, 10), atol=1e-12)

    def test_what_is_set_is_read(self):
        def rendered(experiment):
            return dualbragg.Plan(experiment, precision="double", dtype="float64").forward()
        e, image = scene(), rendered(scene())
        a, u = e.A, e.U
        other = scene(misset=(1, 2, 3))
        other.U = u
        numpy.testing.assert_allclose(other.A, a, atol=1e-14)
        numpy.testing.assert_allclose(rendered(other), image, atol=1e-10 * image.max())
        other = scene(cell=(50, 60, 70), misset=(3, 2, 1))
        other.A = a
        numpy.testing.assert_allclose(other.unit_cell, CELL, rtol=1e-12)
        numpy.testing.assert_allclose(other.U, u, atol=1e-12)
        other.unit_cell = (40, 50, 60, 90, 100, 90)
        self.assertEqual(other["cell_beta"], 100)
        numpy.testing.assert_allclose(other.U, u, atol=1e-12)

    def test_three_forms_of_a_rotation_agree(self):
        cases = [numpy.eye(3), turn(0, 180), turn(1, 180), turn(2, 180) @ turn(0, 1e-9), turn(0, 1e-9),
                 turn(2, 179.9999) @ turn(1, 1e-5), *(dualbragg.random_rotation(i) for i in range(20))]
        for u in cases:
            e = scene()
            e.U = u
            q, v = e.quaternion, e.rotation_vector
            self.assertAlmostEqual(numpy.linalg.norm(q), 1, places=12)
            self.assertLessEqual(numpy.linalg.norm(v), math.pi + 1e-12)
            for name, value in (("quaternion", 3 * q), ("quaternion", -q), ("rotation_vector", v)):
                other = scene()
                setattr(other, name, value)
                numpy.testing.assert_allclose(other.U, u, atol=2e-8, err_msg=name)

    def test_a_rotation_vector_is_axis_and_angle(self):
        e = scene()
        e.rotation_vector = (0, math.radians(40), 0)
        numpy.testing.assert_allclose(e.U, turn(1, 40), atol=1e-12)

    def test_random_rotations_are_uniform(self):
        random = numpy.random.default_rng(5)
        turned = numpy.array([dualbragg.random_rotation(random) for _ in range(4000)])
        numpy.testing.assert_allclose(turned @ turned.transpose(0, 2, 1), numpy.broadcast_to(numpy.eye(3), turned.shape),
                                      atol=1e-12)
        self.assertLess(abs(turned.mean(0)).max(), 0.04)                  # 1/sqrt(3 * 4000) is 0.009
        numpy.testing.assert_allclose((turned ** 2).mean(0), 1 / 3, atol=0.03)
        # of uniform rotations the trace, 1 + 2 cos(angle), has mean 0 and mean square 1
        trace = numpy.trace(turned, axis1=1, axis2=2)
        self.assertLess(abs(trace.mean()), 0.08)
        self.assertLess(abs((trace ** 2).mean() - 1), 0.15)
        numpy.testing.assert_array_equal(dualbragg.random_rotation(3), dualbragg.random_rotation(3))


class BeamAndDetector(unittest.TestCase):
    def test_a_spot_is_where_the_arrays_say(self):
        e = scene(spots="closed", mosaic_rms=0.1, detector_pixels=(600, 440), twotheta=5)
        e["detector_rotx"], e["beam_horizontal"], e["beam_vertical"] = 3, 2, -3
        spots = dualbragg.predict(e)
        self.assertGreater(len(spots), 10)
        panel, = e.panels
        numpy.testing.assert_allclose(panel.normal, numpy.cross(panel.fast_axis, panel.slow_axis))
        on_sphere = spots[abs(spots["excitation"]) < 0.05]
        self.assertGreater(len(on_sphere), 5)
        for s in on_sphere:
            s1 = e.s0 + e.A @ s["hkl"]
            hit = s1 * ((panel.origin @ panel.normal) / (s1 @ panel.normal)) - panel.origin
            found = numpy.array([hit @ panel.fast_axis, hit @ panel.slow_axis]) / panel.pixel_size
            self.assertLess(abs(found - s["position"]).max(), 0.02)  # 0.01: they are that near to the sphere

    def test_beam_and_spindle_are_those_of_the_convention(self):
        e = scene()
        numpy.testing.assert_allclose(e.s0, numpy.array([1, 0, 0]) / 1.1)
        numpy.testing.assert_allclose(e.spindle_axis, [0, 0, 1])
        e["beam_horizontal"] = 7
        self.assertAlmostEqual(math.acos(e.s0[0] * 1.1), 7e-3, places=9)

    def test_a_panel_has_its_place(self):
        panel, = scene().panels
        self.assertEqual(panel.shape, (44, 60))
        numpy.testing.assert_allclose(panel.pixel_size, 0.4)
        self.assertAlmostEqual(panel.origin @ panel.normal, 90)

    def test_panels_beam_and_spindle_may_be_set(self):
        def rendered(experiment):
            return dualbragg.Plan(experiment, precision="double", dtype="float64").forward()
        for more in (dict(oversample=1, distance=117, twotheta=7, detector_rotation=(3, 1, 20), beam_centre_px=(12, 20)),
                     dict(oversample=1, convention="xds", pixel_size=0.41)):
            wanted = scene(**more)
            e = scene(oversample=1, convention=more.get("convention", "mosflm"), detector_rotation=(2, -3, 15), twotheta=4)
            e["panel_shift_fast"], e["panel_turn_slow"] = 3, 2
            wanted["panel_turn_fast"] = 4
            self.assertGreater(abs(rendered(e) - rendered(wanted)).max(), 0.1 * rendered(wanted).max())
            # also where the plate's corner is not that of its first panel
            e.panels = [dataclasses.replace(p, origin=p.origin + (7, -3, 5)) for p in wanted.panels]
            e.panels = wanted.panels
            image = rendered(wanted)
            numpy.testing.assert_allclose(rendered(e), image, rtol=0, atol=1e-9 * image.max())
        moved = scene(misset=(1, 2, 3), divergence=(3, 0), divergence_steps=(3, 1))
        before = moved.panels[0]
        moved["beam_horizontal"] = 5
        s0 = moved.s0
        moved.s0 = turn(2, 4) @ s0 * 1.25
        numpy.testing.assert_allclose(moved.s0, turn(2, 4) @ s0 * 1.25, atol=1e-14)
        self.assertAlmostEqual(moved["wavelength"], 1.1 / 1.25, places=12)
        numpy.testing.assert_allclose(moved.panels[0].origin, before.origin, atol=1e-11)
        # a beam that is turned is a crystal and a detector that are turned the other way
        e, other = (scene(oversample=1, divergence=(3, 3), divergence_steps=(2, 2)) for _ in range(2))
        e.s0 = turn(2, 20) @ e.s0
        other.A = turn(2, -20) @ other.A
        panel, = other.panels
        other.panels = [dataclasses.replace(panel, **{n: turn(2, -20) @ getattr(panel, n)
                                                      for n in ("origin", "fast_axis", "slow_axis")})]
        numpy.testing.assert_allclose(rendered(e), rendered(other), rtol=0, atol=1e-9 * rendered(e).max())
        e["spindle_tilt_beam"] = 3
        e.spindle_axis = (0, 3, 4)
        numpy.testing.assert_allclose(e.spindle_axis, (0, 0.6, 0.8), atol=1e-15)

    def test_lists_bring_all_of_the_geometry_back(self):
        rest = dict(Ncells=(12, 11, 10), default_F=100, spots="closed", mosaic_rms=0.1)
        moves = dict(misset_x=1, cell_b=2, wavelength=0.03, beam_horizontal=4, beam_vertical=-3, distance=3, beam_fast=2,
                     beam_slow=-2, detector_rotx=1, detector_roty=2, detector_rotz=-3, twotheta=4, panel_shift_fast=1,
                     panel_shift_normal=-1, panel_turn_slow=1, panel_turn_normal=2, spindle_tilt_beam=2, spindle_tilt_across=3)
        sensor = dict(sensor_thickness=500, attenuation_depth=300)
        for more in ({}, dict(osc=1.0, phi=20.0), sensor, dict(convention="xds"), dict(convention="denzo", osc=0.5)):
            e = scene(spots="closed", mosaic_rms=0.1, detector_pixels=(400, 380), **more)
            for name, change in moves.items():
                e[name] += change
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "back.expt")
                e.to_expt(path)
                back = dualbragg.Experiment.from_expt(path, **rest)
            spots, again = dualbragg.predict(e), dualbragg.predict(back)
            self.assertGreater(len(spots), 20)
            numpy.testing.assert_array_equal(spots["hkl"], again["hkl"], err_msg=str(more))
            numpy.testing.assert_allclose(spots["position"], again["position"], atol=1e-6, err_msg=str(more))

    def test_the_frame_of_lists_has_the_beam_along_minus_z(self):
        e = scene()
        numpy.testing.assert_allclose(e.frame("dxtbx") @ e.s0 * 1.1, [0, 0, -1], atol=1e-12)
        numpy.testing.assert_array_equal(e.frame("laboratory"), numpy.eye(3))


def reciprocal(rows):
    """Columns a*, b*, c* of rows a, b, c."""
    return numpy.linalg.inv(rows)


def standard_matrices(wavelength):
    """B of CELL as each program has it, from its textbook."""
    a, b, c = CELL[:3]
    ca, cb, cc = numpy.cos(numpy.radians(CELL[3:]))
    sc = math.sqrt(1 - cc * cc)
    y = (ca - cb * cc) / sc
    rows = numpy.array([[a, 0, 0], [b * cc, b * sc, 0], [c * cb, c * y, c * math.sqrt(1 - cb * cb - y * y)]])
    star = reciprocal(rows)
    a_, b_, c_ = numpy.linalg.norm(star, axis=0)
    cos = lambda v, w: v @ w / numpy.linalg.norm(v) / numpy.linalg.norm(w)  # noqa: E731
    cb_, cc_ = cos(star[:, 2], star[:, 0]), cos(star[:, 0], star[:, 1])
    sb_, sc_ = math.sqrt(1 - cb_ * cb_), math.sqrt(1 - cc_ * cc_)
    levy = numpy.array([[a_, b_ * cc_, c_ * cb_], [0, b_ * sc_, -c_ * sb_ * ca], [0, 0, 1 / c]])  # Busing and Levy (1967)
    return dict(dxtbx=star, mosflm=wavelength * levy)


class Shapes(unittest.TestCase):
    def test_panels_that_are_alike_are_one_array(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "panels.geom")
            for rows, shape in ((4, (2, 4, 6)), (3, (4 * 6 + 3 * 6,))):
                with open(path, "w", encoding="ascii") as out:
                    out.write("photon_energy = 9000\nclen = 0.1\nres = 10000\n")
                    for p, last in ((0, 3), (1, 4 + rows - 1)):
                        out.write(f"p{p}/min_fs = 0\np{p}/max_fs = 5\np{p}/min_ss = {4 * p}\np{p}/max_ss = {last}\n"
                                  f"p{p}/fs = x\np{p}/ss = y\np{p}/corner_x = 5\np{p}/corner_y = {10 * p}\n")
                e = dualbragg.Experiment(expt=path, cell=CELL, Ncells=(5, 5, 5), default_F=100, misset=(1, 2, 3))
                self.assertEqual(e.panel_shapes, [(4, 6), (rows, 6)])
                self.assertEqual(e.shape, shape)
                image = dualbragg.Plan(e).forward()
                self.assertEqual(image.shape, shape)
                first = numpy.asarray(image).ravel()[:24].reshape(4, 6)
                e.panels = e.panels
                numpy.testing.assert_allclose(numpy.asarray(dualbragg.Plan(e).forward()).ravel()[:24].reshape(4, 6), first)

    def test_a_matrix_file_brings_the_orientation_back(self):
        e = scene(misset=(31, -12, 7))
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.mat")
            e.write_matrix(path)
            back = dualbragg.Experiment(matrix=path, **{k: v for k, v in SCENE.items() if k not in ("cell", "misset")})
        numpy.testing.assert_allclose(back.A, e.A, atol=2e-7)

    def test_no_and_yes_may_be_false_and_true(self):
        for value, name in ((False, "no"), (True, "yes")):
            self.assertEqual(scene(point_pixel=value).to_dict(), scene(point_pixel=name).to_dict())
        self.assertNotEqual(scene(point_pixel=False).to_dict(), scene(point_pixel=True).to_dict())


class Conventions(unittest.TestCase):
    def test_matrices_are_those_of_each_program(self):
        for convention in ("mosflm", "xds", "adxv", "custom"):
            e = scene(convention=convention)
            for name, b in standard_matrices(1.1).items():
                m = e.matrices(name)
                numpy.testing.assert_allclose(m.B, b, atol=1e-14, err_msg=name)
                numpy.testing.assert_allclose(m.U @ b, m.A, atol=1e-14)
                numpy.testing.assert_allclose(m.A, e.frame(name) @ e.A * (1.1 if name == "mosflm" else 1), atol=1e-16)
            numpy.testing.assert_array_equal(e.matrices("laboratory").A, e.A)

    def test_what_is_set_is_read(self):
        for name in ("laboratory", "dxtbx", "mosflm"):
            e, u = scene(convention="xds"), dualbragg.random_rotation(4)
            m = e.matrices(name)
            b = m.B
            m.U = u
            numpy.testing.assert_allclose(m.U, u, atol=1e-12)
            numpy.testing.assert_allclose(m.A, u @ b, atol=1e-14)
            numpy.testing.assert_allclose(m.B, b, atol=1e-14)
            self.assertEqual(list(e.unit_cell), list(CELL))
            m.quaternion = q = scene(misset=(1, 2, 3)).quaternion
            numpy.testing.assert_allclose(m.quaternion, q, atol=1e-12)
            m.rotation_vector = (0.1, 0.2, -0.3)
            numpy.testing.assert_allclose(m.rotation_vector, (0.1, 0.2, -0.3), atol=1e-12)
            other = scene(convention="xds", cell=(50, 60, 70))
            other.matrices(name).A = m.A
            numpy.testing.assert_allclose(other.A, e.A, atol=1e-14)
            self.assertIn(name, repr(m))

    def test_a_matrix_file_of_mosflm_is_its_matrices(self):
        """It makes the same spots in the laboratories of MOSFLM and of XDS, where beam, spindle and detector stand alike."""
        path = os.path.join(os.environ.get("SOURCE_DIR", "."), "examples", "data", "thaumatin.mat")
        with open(path, encoding="ascii") as file:
            lines = [line.split() for line in file]
        a, u = (numpy.array(lines[i:i + 3], float) for i in (0, 4))
        rest = dict(Ncells=(9, 9, 4), default_F=9, wavelength=0.9686, spots="closed", mosaic_rms=0.1, detector_pixels=(400, 380),
                    pixel_size=0.4, distance=200, beam_centre_px=(210, 190))
        e = dualbragg.Experiment(matrix=path, **rest)
        numpy.testing.assert_allclose(e.matrices("mosflm").A, a, atol=1e-8)
        numpy.testing.assert_allclose(e.matrices("mosflm").U, u, atol=2e-6)
        other = dualbragg.Experiment(cell=(50, 60, 70), convention="xds", **rest)
        other.matrices("mosflm").A = e.matrices("mosflm").A
        self.assertGreater(abs(other.A - e.A).max(), 0.001)
        one, two = dualbragg.predict(e), dualbragg.predict(other)
        self.assertGreater(len(one), 100)
        numpy.testing.assert_array_equal(one["hkl"], two["hkl"])
        numpy.testing.assert_allclose(one["position"], two["position"], atol=1e-6)


class Refused(unittest.TestCase):
    def test_what_is_no_rotation_lattice_or_frame(self):
        e = scene()
        before = e.A
        for name, value in dict(U=numpy.eye(2), A=numpy.zeros((3, 3)), quaternion=(0, 0, 0, 0), rotation_vector=(1, 2),
                                unit_cell=(1, 2, 3)).items():
            with self.assertRaisesRegex(dualbragg.Error, "expected|dependent", msg=name):
                setattr(e, name, value)
        for value in (-numpy.eye(3), 2 * numpy.eye(3), numpy.full((3, 3), numpy.nan)):
            with self.assertRaisesRegex(dualbragg.UsageError, "U: expected"):
                e.U = value
        with self.assertRaises(dualbragg.Error):
            e.unit_cell = (78, 78, 38, 10, 10, 170)
        with self.assertRaisesRegex(dualbragg.UsageError, "frame: expected one of laboratory, dxtbx, mosflm, found 'xds'"):
            e.matrices("xds")
        for name, bad in (("U", 2 * numpy.eye(3)), ("A", numpy.zeros((2, 3)))):
            with self.assertRaisesRegex(dualbragg.UsageError, name + ": expected"):
                setattr(e.matrices("mosflm"), name, bad)
        numpy.testing.assert_array_equal(e.A, before)
        panel, = e.panels
        state = e.to_dict()
        for name, value, what in (("panels", [], "1 of the shapes"), ("panels", [3], "int"), ("s0", (0, 0, 0), "length"),
                                  ("s0", -e.s0, "opposite"), ("s0", (0, 0, 1), "parallel to the beam"), ("spindle_axis", [1], "3 numb"),
                                  ("panels", [dataclasses.replace(panel, slow_axis=panel.fast_axis)], "right angles"),
                                  ("panels", [dataclasses.replace(panel, slow_axis=panel.slow_axis + 1e-4 * panel.fast_axis)], "right angles"),
                                  ("panels", [dataclasses.replace(panel, fast_axis=1.001 * panel.fast_axis)], "length 1"),
                                  ("panels", [dataclasses.replace(panel, origin=[numpy.nan] * 3)], "finite"),
                                  ("panels", [dataclasses.replace(panel, pixel_size=(0, 1))], "pixel size")):
            with self.assertRaisesRegex(dualbragg.Error, what):
                setattr(e, name, value)
        self.assertEqual(e.to_dict(), state)
        with self.assertRaisesRegex(dualbragg.UnsupportedError, "flat"):
            e._c.detector.curved = 1
            e.panels = [panel]
        for bad in (-1, 1.5, "a"):
            with self.assertRaisesRegex(dualbragg.UsageError, "random: .*from 0"):
                dualbragg.random_rotation(bad)


if __name__ == "__main__":
    ending.main()
