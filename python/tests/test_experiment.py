"""Experiments, files, and what is refused."""

import copy
import gc
import json
import math
import os
import pickle
import subprocess
import sys
import tempfile
import unittest
import warnings

import numpy

import ending
import dualbragg
from dualbragg import images
import dualbragg.dxtbx

SCENE = dict(cell=(78, 78, 38), Ncells=(12, 11, 10), default_F=100, wavelength=1.1, distance=90,
             detector_pixels=(60, 44), pixel_size=0.4, misset=(10, 20, 30))
STILL = os.path.join(os.environ.get("SOURCE_DIR", "."), "examples", "data", "thaumatin.cbf")


class Experiments(unittest.TestCase):
    def test_keywords_have_the_units_of_the_table(self):
        e = dualbragg.Experiment(**SCENE, mosaic_spread=0.4, mosaic_domains=3, divergence=(1, 2))
        for name, value in dict(cell_a=78, cell_c=38, cell_beta=90, Nb=11, wavelength=1.1,
                                distance=90, misset_y=20, mosaic_spread=0.4).items():
            self.assertAlmostEqual(e[name], value, places=12, msg=name)
        self.assertEqual(e.shape, (44, 60))

    def test_former_keywords_are_taken_and_told(self):
        former = {**SCENE, "cells": SCENE["Ncells"]}
        del former["Ncells"]
        self.assertEqual(self.former("cells= is called Ncells= now", lambda: dualbragg.Experiment(**former))["Nb"], 11)
        self.former("d_min= is called dmin= now", lambda: dualbragg.Experiment(**SCENE, d_min=2.5))
        with self.assertRaisesRegex(dualbragg.UsageError, "cells is the former keyword of Ncells"):
            dualbragg.Experiment(**SCENE, cells=(1, 1, 1))

    def former(self, words, call):
        """What a call by a former name returns; it warns, here, of the present one."""
        with self.assertWarnsRegex(DeprecationWarning, words) as caught:
            found = call()
        self.assertEqual(caught.filename, __file__)
        return found

    def test_former_names_are_taken_and_told(self):
        e = dualbragg.Experiment(**SCENE, Xbeam=8, Ybeam=9)
        old = self.former("beam_centre= is called Xbeam=, Ybeam= now", lambda: dualbragg.Experiment(**SCENE, beam_centre=(8, 9)))
        self.assertEqual(old.values, e.values)
        self.assertEqual(self.former("Experiment.parameters is called values now", lambda: e.parameters), e.values)
        with self.assertRaisesRegex(dualbragg.UsageError, "beam_centre is the former keyword of Ybeam"):
            dualbragg.Experiment(**SCENE, beam_centre=(8, 9), Ybeam=3)
        image = numpy.zeros((4, 5), numpy.float32)
        old = self.former("beam_centre= is called beam_centre_px= now", lambda: dualbragg.MeasuredImage(image, beam_centre=(1, 2)))
        self.assertEqual(old.beam_centre_px, (1, 2))
        self.assertEqual(self.former("beam_centre is called", lambda: old.beam_centre), (1, 2))
        vector = self.former("Vector: parameters= is called values= now", lambda: dualbragg.Vector(parameters=image))
        self.assertIs(vector.values, image)
        self.assertIs(self.former("Vector.parameters is called values", lambda: vector.parameters), image)
        with self.assertRaisesRegex(TypeError, "Vector: parameters is the former name of values"):
            dualbragg.Vector(parameters=image, values=image)
        self.assertEqual(dualbragg.Vector(image)._replace(default_F=3).default_F, 3)

    def test_a_keyword_and_a_parameter_of_one_name_are_one_number(self):
        common = {"mosaic_spread": 0.2, "b_factor": 12, "wavelength": 1.2, "spectrum_stretch": 1, "polarization": 0.3, "phi": 4,
                  "distance": 95, "sensor_thickness": 320, "attenuation_depth": 200, "twotheta": 3, "water_size": 2, "scale": 1.5,
                  "diffuse_sigma": 0.3, "diffuse_gamma": 40}
        self.assertEqual(set(common), dualbragg.fields().keys() & dualbragg.parameters().keys())
        e = dualbragg.Experiment(**{**SCENE, **common}, dispersion=1)
        self.assertEqual({n: e.values.get(n, v) for n, v in common.items()}, common)
        self.assertEqual(e["dispersion_range"], 0.01)  # of 1 percent
        self.assertEqual(self.former("dispersion is called dispersion_range now", lambda: e["dispersion"]), 0.01)
        self.assertEqual(self.former("dispersion_range", lambda: dualbragg.Plan(e, ["dispersion"])).units, ["1"])

    def test_the_beam_centre_in_pixels_is_one_point_in_every_convention(self):
        for convention in ("mosflm", "denzo", "adxv", "xds", "dials"):
            e = dualbragg.Experiment(**SCENE, convention=convention, beam_centre_px=(20.5, 30.25))
            self.assertAlmostEqual(e["beam_fast"], 8.2, 12, convention)
            self.assertAlmostEqual(e["beam_slow"], 12.1, 12, convention)
        e = dualbragg.Experiment(**SCENE, beam_tilt=(0.5, -0.25), scale=2)
        self.assertEqual((e["beam_horizontal"], e["beam_vertical"], e["scale"]), (0.5, -0.25, 2))

    def test_every_parameter_is_read_and_set(self):
        e = dualbragg.Experiment(**SCENE, spots="closed", mosaic_rms=0.2)
        values = e.values
        self.assertGreater(len(values), 40)
        for name, value in values.items():
            e[name] = value
            self.assertEqual(e[name], value, name)

    def test_the_package_runs_the_program(self):
        own = os.path.join(os.path.dirname(dualbragg.__file__), "bin", "dualbragg")
        done = subprocess.run([sys.executable, "-m", "dualbragg", "help", "sim"], capture_output=True, text=True, check=True,
                              env={**os.environ, "DUALBRAGG": "/bin/echo"})
        self.assertIn("dualbragg sim" if os.access(own, os.X_OK) else "help sim\n", done.stdout)

    def test_fields_are_described(self):
        fields = dualbragg.fields()
        self.assertEqual(fields["distance"].unit, "mm")
        self.assertEqual(fields["shape"].choices[:2], ("square", "round"))
        for f in list(fields.values()) + list(dualbragg.parameters().values()):
            self.assertTrue(f.help, f.name)

    def test_a_copy_is_its_own(self):
        e = dualbragg.Experiment(**SCENE)
        other = e.copy()
        other["cell_a"] = 80
        self.assertEqual(e["cell_a"], 78)

    def test_what_files_say_and_is_not_used_is_told(self):
        """Means of reflections, numbers of headers that make no sense: once each, and to each reader."""
        with tempfile.TemporaryDirectory() as folder:
            listed, header = os.path.join(folder, "list.hkl"), os.path.join(folder, "a_0001.img")
            with open(listed, "w") as file:
                file.write("1 2 3 50\n1 2 3 60\n")
            e = dualbragg.Experiment(**SCENE)
            e.write_smv(header, dualbragg.Plan(e).forward())
            with open(header, "r+b") as file:
                text = file.read(512)
                self.assertIn(b"DISTANCE=90", text)
                file.seek(0)
                file.write(text.replace(b"DISTANCE=90", b"DISTANCE=00"))
            scene = {k: v for k, v in SCENE.items() if k != "default_F"}
            both = dualbragg.Experiment(**scene, hkl=listed, header=header)
            image = dualbragg.load(header)
        for line in ("become their mean", ": DISTANCE is 0"):
            self.assertEqual(sum(line in n for n in both.notices), 1, both.notices)
        self.assertEqual(sum(": DISTANCE is 0" in n for n in image.notices), 1, image.notices)

    def test_they_are_pickled(self):
        e = dualbragg.Experiment(**SCENE, divergence=(1, 2))
        e.set_amplitudes([[1, 2, 3], [2, 0, 1]], [30, 40], 80)
        e["misset_y"] += 0.1
        e["F:2:0:1"] = 60
        e["cell_a"] = 78.2
        for other in (pickle.loads(pickle.dumps(e)), pickle.loads(pickle.dumps(e.copy()))):
            self.assertEqual(other.values, e.values)
            self.assertEqual(other["F:2:0:1"], 60)
            numpy.testing.assert_array_equal(dualbragg.Plan(other).forward(),
                                             dualbragg.Plan(e).forward())

    def comes_back(self, e):
        """It is what it was, in every way in which it is handed on."""
        some = dict(precision="double", regions=[(0, (20, 26), (10, 50))])
        image = dualbragg.Plan(e, **some).forward()
        self.assertGreater(image.max(), 0)
        written = dualbragg.Experiment.from_dict(json.loads(json.dumps(e.to_dict())))
        for other in (pickle.loads(pickle.dumps(e)), copy.copy(e), copy.deepcopy(e), e.copy(), written):
            self.assertEqual(other.values, e.values)
            self.assertEqual(other.notices, e.notices)
            numpy.testing.assert_array_equal(dualbragg.Plan(other, **some).forward(), image)
            self.assertEqual(pickle.dumps(other), pickle.dumps(e))

    def test_structure_factors_depend_on_the_photon_energy(self):
        hkl = numpy.array([(h, k, l) for h in range(-6, 7) for k in range(-6, 7) for l in range(-4, 5)])
        chance = numpy.random.default_rng(1)
        parts = chance.normal(0, 40, (len(hkl), 3)) + 1j * chance.normal(0, 40, (len(hkl), 3))
        parts[:, 1:] *= 0.1
        energy = 12398.419843320026 / 1.1
        curve = numpy.array([(energy - 40, -5, 0.5), (energy + 10, -8, 3.8), (energy + 60, -4, 3.5)])
        one = numpy.array([(energy - 90, -3, 0.4), (energy + 90, -2, 0.6)])
        e = dualbragg.Experiment(**{**SCENE, "default_F": 0}, spots="closed", mosaic_rms=0.3)
        e.set_site_kinds(hkl, parts, {"a": curve, "b": one})
        f = parts[:, 0] + (parts[:, 1] * (-5 - 3 * 0.8 + 1j * (0.5 + 3.3 * 0.8)) + parts[:, 2] * (-2.5 + 0.5j))
        plain = e.copy()
        plain.set_amplitudes(hkl, abs(f), 0)
        image = dualbragg.Plan(e, precision="double").forward()
        numpy.testing.assert_allclose(image, dualbragg.Plan(plain, precision="double").forward(), rtol=1e-6,
                                      atol=1e-6 * image.max())
        self.assertEqual(e["fp:0:1"], -8)
        self.comes_back(e)
        numpy.testing.assert_array_equal(e.site_curves["b"], one)
        plan = dualbragg.Plan(e, parameters=["fp:0:0", "fdp:0:1", "fp:1:1", "wavelength"], precision="double")
        slopes = plan.gradient()[1]
        for name, slope in zip(plan.names, slopes):
            sides, step = [], 1e-6 if name == "wavelength" else 0.1
            for sign in (-1, 1):
                moved = e.copy()
                moved[name] += sign * step
                sides.append(dualbragg.Plan(moved, precision="double").forward().astype(float))
            difference = (sides[1] - sides[0]) / (2 * step)
            self.assertLess(abs(difference - slope).max(), 1e-3 * abs(slope).max(), name)
        self.assertEqual(e.without_list().site_curves, {})
        curve[:, 1] += 1
        e.set_site_curve("a", curve)
        self.assertEqual(e["fp:0:1"], -7)
        for wrong, message in (((hkl, parts, {"a": curve}), "shape .reflections, 2."),
                               ((hkl, parts, {"a": curve[:, :2], "b": one}), "curve of a: expected the shape"),
                               ((hkl, parts, {"a": curve[::-1], "b": one}), "expected ascending ones"),
                               ((hkl, parts, {"a": curve / [1000, 1, 1], "b": one}), "these look like keV"),
                               ((hkl, parts, {"a": curve[1:], "b": one}), "expected a curve that reaches there"),
                               ((hkl, parts, {"a": curve, "": one}), "expected a name"),
                               (([*hkl, hkl[0]], [*parts, -parts[0]], {"a": curve, "b": one}), "two lines with different parts")):
            with self.assertRaisesRegex(dualbragg.Error, message):
                e.set_site_kinds(*wrong)
        with self.assertRaisesRegex(dualbragg.UsageError, "expected one of .*, found 'c'"):
            e.set_site_curve("c", curve)

    @unittest.skipUnless("gemmi" in dualbragg.features(), "needs gemmi")
    def test_structure_factors_of_sites_are_a_direct_sum(self):
        """Sum over all atoms of the cell of P 21 21 21; form factors of International Tables C (1992), table 6.1.1.4. The
        rest is the Fourier transform of a density on a grid, right to 3e-4 of the largest F."""
        form = {"FE": ((11.7695, 7.3573, 3.5222, 2.3045), (4.7611, 0.3072, 15.3535, 76.8805), 1.0369),
                "S": ((6.9053, 5.2034, 1.4379, 1.5863), (1.4679, 22.2151, 0.2536, 56.172), 0.8669),
                "C": ((2.31, 1.02, 1.5886, 0.865), (20.8439, 10.2075, 0.5687, 51.6512), 0.2156)}
        cell, chance = numpy.array([28, 33, 24]), numpy.random.default_rng(3)
        kinds = [("FE1", "FE", 1, 12), ("FE2", "FE", 0.7, 15), ("S1", "S", 1, 14)]
        kinds += [("C1", "C", 0.5 + 0.5 * (n % 2), 20 + n) for n in range(12)]
        atoms = [(name, element, chance.uniform(0, 20, 3).round(3), occupancy, b) for name, element, occupancy, b in kinds]
        curves = {"FE1": [[7000, -5, 0.5], [7200, -4, 4]], "FE2": [[7000, -6, 1], [7200, -3, 3]]}
        energy = 7080.0
        with tempfile.TemporaryDirectory() as folder:
            with open(os.path.join(folder, "model.pdb"), "w") as file:
                file.write("CRYST1   28.000   33.000   24.000  90.00  90.00  90.00 P 21 21 21    4\n")
                for n, (name, element, (x, y, z), occupancy, b) in enumerate(atoms):
                    file.write(f"HETATM{n + 1:5d} {name:^4s} FES A{n + 1:4d}    {x:8.3f}{y:8.3f}{z:8.3f}{occupancy:6.2f}{b:6.2f}"
                               f"          {element:>2s}\n")
            for name, curve in curves.items():
                numpy.savetxt(os.path.join(folder, name), curve)
            crystal = {**SCENE, "cell": tuple(cell), "wavelength": 12398.419843320026 / energy, "default_F": 0, "distance": 15}
            e = dualbragg.Experiment(hkl=os.path.join(folder, "model.pdb"), model_resolution=2.5, k_sol=0, anomalous="no", **crystal,
                                     sites=",".join(f"FES:{name}={os.path.join(folder, name)}" for name in curves))
        parts = e.site_parts
        hkl = numpy.stack(numpy.indices(parts.shape[:3]), -1) + e.box_start
        square = ((hkl / cell) ** 2).sum(-1)  # of 1/d
        expected = numpy.zeros(parts.shape, complex)
        for name, element, place, occupancy, b in atoms:
            factor, width, constant = form[element]
            f = constant + sum(a * numpy.exp(-w * square / 4) for a, w in zip(factor, width))
            x, y, z = place / cell
            for at in (x, y, z), (0.5 - x, -y, 0.5 + z), (-x, 0.5 + y, 0.5 - z), (0.5 + x, 0.5 - y, -z):
                g = occupancy * numpy.exp(-b * square / 4 + 2j * numpy.pi * (hkl @ numpy.array(at)))
                expected[..., 0] += f * g
                if name in curves:
                    expected[..., int(name[2])] += g
        inside = (square < 1 / 2.5 ** 2) & (square > 0)
        self.assertGreater(inside.sum(), 5000)
        numpy.testing.assert_allclose(parts[inside][:, 1:], expected[inside][:, 1:], rtol=0, atol=1e-7)
        self.assertLess(abs(parts - expected)[inside].max(), 3e-4 * abs(expected[inside]).max())
        # what an image shows at one energy
        at_energy = [complex(*(numpy.interp(energy, *numpy.array(curve).T[[0, column]]) for column in (1, 2)))
                     for curve in curves.values()]
        amplitude = abs(expected[..., 0] + sum(c * expected[..., 1 + k] for k, c in enumerate(at_energy)))
        plain = dualbragg.Experiment(**crystal)
        plain.set_amplitudes(hkl[inside], amplitude[inside], 0)
        image, other = (dualbragg.Plan(of, precision="double").forward() for of in (e, plain))
        self.assertGreater((image > 0.01 * image.max()).sum(), 20)
        numpy.testing.assert_allclose(image, other, rtol=0, atol=1e-3 * image.max())

    def test_their_state_is_pickled_wherever_it_is_from(self):
        e = dualbragg.Experiment(**SCENE, divergence=(1, 2), divergence_steps=(2, 3), dispersion=0.01, dispersion_steps=2,
                                 mosaic_spread=0.3, mosaic_domains=4)
        self.comes_back(e)
        self.comes_back(dualbragg.Experiment.copy_of(e._c))
        turned = e.copy()  # as a search does
        turned._c.crystal.orientation, turned._c.crystal.misset = [0, 1, 0, 0, 0, 1, 1, 0, 0], [0, 0, 0]
        self.assertFalse(numpy.array_equal(dualbragg.Plan(turned).forward(), dualbragg.Plan(e).forward()))
        self.comes_back(turned)
        hkl = numpy.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10) for l in range(-9, 10)])
        turned.set_amplitudes(hkl, numpy.full(len(hkl), 100.0), 3)
        factors = dualbragg.Amplitudes(turned, hkl[::2])
        factors.put(turned, numpy.linspace(1, 500, len(factors)))
        self.comes_back(turned)
        numpy.testing.assert_array_equal(factors.get(pickle.loads(pickle.dumps(turned))),
                                         numpy.linspace(1, 500, len(factors)))
        self.comes_back(turned.without_list())
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "curve.stol")
            with open(path, "w", encoding="utf-8") as file:
                file.write("0 2\n0.5 1\n2 0.1\n")
            e = dualbragg.Experiment(**SCENE, stol=path, amorphous_size=(0.1, 0.1, 0.1))
            written = pickle.dumps(e)
        self.comes_back(pickle.loads(written))  # without the file

    def test_dictionaries_that_are_none_are_told(self):
        written = dualbragg.Experiment(**SCENE).to_dict()
        with self.assertRaisesRegex(dualbragg.UsageError, "expected a dictionary made by to_dict: .*amorphous"):
            dualbragg.Experiment.from_dict({n: v for n, v in written.items() if n != "amorphous"})
        listed = dualbragg.Experiment(**SCENE)
        listed.set_amplitudes([[1, 2, 3], [2, 3, 4]], [5.0, 6.0])
        for name, changed in (("amplitudes", lambda w: w["amplitudes"][:3]), ("amplitudes", lambda w: w["amplitudes"] + [1.0]),
                              ("parts", lambda w: [0.0] * 5), ("amorphous", lambda w: [[0, 1, 2, 3], [1]])):
            wrong = listed.to_dict()
            wrong[name] = changed(wrong)
            with self.assertRaisesRegex(dualbragg.UsageError, f"{name}: expected .*found"):
                dualbragg.Experiment.from_dict(wrong)
        wrong = listed.to_dict()
        wrong["experiment"]["structure_factors"]["extent"] = [1000, 1000, 900]
        with self.assertRaisesRegex(dualbragg.UsageError, "amplitudes: expected 900000000 numbers, found 8"):
            dualbragg.Experiment.from_dict(wrong)
        del written["experiment"]["beam"]["wavelength"]
        with self.assertRaisesRegex(dualbragg.UsageError, "db_experiment.beam: wavelength"):
            dualbragg.Experiment.from_dict(written)

    def test_notebooks_show_a_table(self):
        shown = dualbragg.Experiment(**SCENE)._repr_html_()
        for cell in ("78 78 38 90 90 90", "1.1", "90", "44 x 60", "0.4 x 0.4", "mm"):
            self.assertIn(f"<td>{cell}</td>", shown)
        self.assertNotIn("<img", shown)
        self.assertIn("<img", dualbragg.Experiment(**SCENE, spots="closed", mosaic_rms=0.1)._repr_html_())

    def test_what_another_version_has_written_is_told(self):
        e = dualbragg.Experiment(**SCENE)
        state = e.__getstate__()
        values, lists = state["_c"]
        kind = numpy.dtype([*((n, values.dtype[n]) for n in values.dtype.names), ("twist", "f8")])
        more = numpy.zeros(1, kind)
        for name in values.dtype.names:
            more[name] = values[name]
        with self.assertRaisesRegex(dualbragg.InputError, "no member twist"):
            object.__new__(dualbragg.Experiment).__setstate__({**state, "_c": (more, lists)})
        fewer = values[[n for n in values.dtype.names if n != "dmin"]]
        older = object.__new__(dualbragg.Experiment)
        older.__setstate__({**state, "_c": (fewer, lists)})
        self.assertEqual(older.values, e.values)

    def test_structure_factors_of_arrays(self):
        e = dualbragg.Experiment(**dict(SCENE, default_F=0))
        dark = dualbragg.Plan(e).forward()
        self.assertEqual(dark.max(), 0)
        hkl = numpy.array([(h, k, l) for h in range(-9, 10) for k in range(-9, 10)
                           for l in range(-9, 10)])
        e.set_amplitudes(hkl, numpy.full(len(hkl), 100.0))
        self.assertGreater(dualbragg.Plan(e).forward().max(), 0)
        self.assertEqual(e["F:1:2:3"], 100)

    def test_lists_of_experiments_come_back(self):
        e = dualbragg.Experiment(**SCENE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.expt")
            e.to_expt(path)
            back = dualbragg.Experiment.from_expt(path, Ncells=SCENE["Ncells"], default_F=100,
                                                  fluence=1e20)
        e = dualbragg.Experiment(**SCENE, fluence=1e20)
        a, b = dualbragg.Plan(e).forward(), dualbragg.Plan(back).forward()
        self.assertEqual(a.shape, b.shape)
        self.assertLess(abs(a - b).max(), 1e-5 * a.max())

    def test_lists_have_no_position_of_the_crystal(self):
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.expt")
            with self.assertWarnsRegex(UserWarning, "a.expt leaves out the position of the crystal") as caught:
                dualbragg.Experiment(**SCENE, crystal_position=(0.5, 0, 0)).to_expt(path)
            self.assertEqual(caught.filename, __file__)
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                dualbragg.Experiment(**SCENE).to_expt(path)

    def test_models_are_taken_by_what_they_can_do(self):
        class Model:
            def __init__(self, content):
                self.to_dict = lambda: content

        e = dualbragg.Experiment(**SCENE)
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "a.expt")
            e.to_expt(path)
            with open(path, encoding="utf-8") as file:
                listed = json.load(file)
        models = {n: Model(listed[n][0]) for n in ("beam", "detector", "goniometer", "crystal")}
        back = dualbragg.dxtbx.from_models(**models, Ncells=SCENE["Ncells"], default_F=100)
        for name in ("cell_a", "cell_c", "distance", "wavelength"):
            self.assertAlmostEqual(back[name], e[name], places=9, msg=name)
        with self.assertRaisesRegex(dualbragg.UsageError, "crystal: .*to_dict.*str"):
            dualbragg.dxtbx.from_models(**{**models, "crystal": "P1"})

    def test_measured_images_keep_their_memory(self):
        image = dualbragg.load(STILL)
        self.assertEqual(image.value.shape, image.mask.shape)
        self.assertEqual(image.value.dtype, numpy.float32)
        self.assertEqual(image.detector[:7], "PILATUS")
        self.assertEqual(image.distance, 351)
        value, total = image.value, float(image.value.sum(dtype=float))
        del image
        gc.collect()
        numpy.zeros(1 << 20)
        self.assertEqual(float(value.sum(dtype=float)), total)

    def test_what_is_known_of_an_image_reaches_the_library(self):
        counts, names = numpy.zeros((30, 8), numpy.float32), images._OPEN + images._KNOWN
        known = {name: 0.5 + i for i, name in enumerate(names)}
        c, _kept = images.c_image(dualbragg.MeasuredImage(counts, pixel_size=(0.1, 0.2), beam_centre_px=(3, 4), overload=9e3,
                                                          panel_rows=(10, 20), sensor_material="Si", **known))
        for name in names:
            self.assertEqual(getattr(c, name), known[name], name)
        self.assertEqual((list(c.pixel_size), list(c.beam_centre), c.overload), ([0.1, 0.2], [3, 4], 9e3))
        self.assertEqual([(c.panels[p].first_row, c.panels[p].slow_pixels) for p in range(c.panel_count)], [(0, 10), (10, 20)])
        self.assertEqual((c.slow_pixels, c.fast_pixels), counts.shape)
        bare, _kept = images.c_image(counts)
        for name in images._OPEN:
            self.assertTrue(math.isnan(getattr(bare, name)), name)
        self.assertEqual((bare.overload, bare.panel_count, bare.pedestal, bare.gain), (math.inf, 0, 0, 1))
        for name in images._ABOVE_0 + ("readout_noise",):
            with self.assertRaisesRegex(dualbragg.UsageError, f"image.{name}: expected a number (above|from) 0, found -1"):
                images.c_image(dualbragg.MeasuredImage(counts, **{name: -1}))
        with self.assertRaisesRegex(dualbragg.UsageError, "expected 30 rows in all, found 31"):
            images.c_image(dualbragg.MeasuredImage(counts, panel_rows=(10, 21)))
        named, _kept = images.c_image(dualbragg.MeasuredImage(counts, detector="\udce9A"))
        self.assertEqual(dualbragg._library.ffi.string(named.detector), b"\xe9A")
        with self.assertRaisesRegex(dualbragg.UsageError, "panel_rows: expected numbers above 0, found -10"):
            images.c_image(dualbragg.MeasuredImage(counts, panel_rows=(-10, 40)))

    def test_a_header_places_the_detector(self):
        e = dualbragg.Experiment(header=STILL, cell=(58, 58, 152), default_F=10)
        self.assertEqual(e.shape, dualbragg.load(STILL).value.shape)
        self.assertEqual(e["distance"], 351)


class Refused(unittest.TestCase):
    def refuses(self, kind, words, call, *arguments, **keywords):
        with self.assertRaises(kind) as caught:
            call(*arguments, **keywords)
        for word in words:
            self.assertIn(word, str(caught.exception))

    def test_keywords(self):
        make = dualbragg.Experiment
        self.refuses(dualbragg.UsageError, ["'cel'", "'cell'"], make, cel=(1, 2, 3))
        self.refuses(dualbragg.UsageError, ["misset", "3 numbers"], make, misset=(1, 2))
        self.refuses(dualbragg.UsageError, ["shape", "gauss"], make, shape="cube")
        self.refuses(dualbragg.UsageError, ["distance", "finite"], make, distance=float("nan"))
        self.refuses(dualbragg.UsageError, ["distance", "number"], make, distance=10**400)
        self.refuses(dualbragg.InputError, ["distance"], make, **dict(SCENE, distance=-1))
        self.refuses(dualbragg.UsageError, ["mosaic_domains", "whole"], make, mosaic_domains=1.5)
        for name, value in dict(mosaic_domains=10**12, mosaic_seed=2**70).items():
            self.refuses(dualbragg.UsageError, [name, "bits"], make, **{**SCENE, name: value})
        self.refuses(dualbragg.InputError, ["oversample"], make, **dict(SCENE, oversample=10**7))
        self.refuses(dualbragg.UsageError, ["cell", "number"], make, cell="long")
        self.refuses(dualbragg.FileError, ["/nowhere.hkl"], make, **dict(SCENE, hkl="/nowhere.hkl"))
        self.refuses(dualbragg.UsageError, ["zero bytes"], make, **dict(SCENE, hkl="a\0b"))
        self.refuses(dualbragg.Error, ["cell"], make)
        self.refuses(dualbragg.UsageError, ["find_orientation", "dualbragg.find_orientation"], make, find_orientation=True)
        self.refuses(dualbragg.UsageError, ["expt_frame", "expt"], make, **SCENE, expt_frame=3)
        self.refuses(dualbragg.InputError, ["exclude"], make, **SCENE, Xbeam=3, beam_centre_px=(3, 3))
        self.refuses(dualbragg.InputError, ["scale"], make, **SCENE, scale=0)
        # what the library takes for "nobody has said it" cannot be said
        for name, value in dict(detector_pixels=(0, 5), mosaic_domains=0, phi_steps=-1).items():
            self.refuses(dualbragg.InputError, [name, "from 1", str(min(numpy.ravel(value)))], make, **{**SCENE, name: value})
        for name in ("hkl", "matrix", "header"):
            self.refuses(dualbragg.UsageError, [name, "file", "ndarray"], make, **{**SCENE, name: numpy.zeros((3, 3))})
        self.refuses(dualbragg.UsageError, ["energy", "wavelength"], make, **SCENE, energy=12000)

    def test_what_is_no_experiment(self):
        e = dualbragg.Experiment(**SCENE)
        batch = dualbragg.Batch(e)
        for call in (dualbragg.Plan, dualbragg.Batch, dualbragg.predict, dualbragg.Plan(e).update, batch.update):
            self.refuses(dualbragg.UsageError, ["experiment", "NoneType"], call, None)
        self.refuses(dualbragg.UsageError, ["experiment", "Plan"], dualbragg.Amplitudes, dualbragg.Plan(e), [[1, 2, 3]])
        self.refuses(dualbragg.UsageError, ["list of experiments"], batch.forward, e)
        self.refuses(dualbragg.UsageError, ["shot 1", "int"], batch.forward, [e, 3])
        light = numpy.ones((1, *batch.shape), batch.dtype)
        for wrong in (e, 5):
            for call in (batch.vjp, batch.vjp_all, batch.vjp_sums, batch.products):
                self.refuses(dualbragg.UsageError, ["list of experiments"], call, wrong, light)
        filled = numpy.full_like(light, -7)
        batch.vjp([e], light, filled)  # without parameters
        numpy.testing.assert_array_equal(filled, batch.forward([e]))
        self.refuses(dualbragg.UsageError, ["direction.default_F"], dualbragg.Plan(e).jvp_all, dualbragg.Vector(default_F="a"))
        for hkl in ([[0, 0, 2**31 + 5]], numpy.array([[0, 0, 2**63 + 5]], numpy.uint64), [[0, -10**6 - 1, 0]]):
            for call in (lambda h: e.set_amplitudes(h, [1.0]), lambda h: dualbragg.Amplitudes(e, h)):
                self.refuses(dualbragg.UsageError, ["indices of at most 1000000"], call, hkl)
        boxes = [numpy.argwhere(numpy.ones(n)) + start for n, start in (((2, 3, 4), 0), ((4, 3, 2), 0), ((2, 3, 4), 5))]
        lists = [dualbragg.Experiment(**SCENE) for _ in boxes]
        for one, hkl in zip(lists, boxes):
            one.set_amplitudes(hkl, numpy.arange(1.0, 25))
        own = dualbragg.Amplitudes(lists[0], boxes[0])
        numpy.testing.assert_array_equal(own.get(lists[0]), numpy.arange(1.0, 25))
        for other in lists[1:]:
            self.refuses(dualbragg.UsageError, ["amplitudes: expected"], own.get, other)
            self.refuses(dualbragg.UsageError, ["amplitudes: expected"], dualbragg.Plan(other).share, own)
        batch = dualbragg.Batch(e, ["cell_a", "misset_x"])
        light = numpy.ones((1, *batch.shape), batch.dtype)
        for rows in (numpy.empty((1, 2), numpy.float32), numpy.empty((1, 1)), numpy.empty(2), numpy.empty((2, 2)).T[:1]):
            self.refuses(dualbragg.UsageError, ["parameters: expected"], batch.products, [e], light, rows)
        self.refuses(dualbragg.UsageError, ["amplitudes: expected"], batch.products, [e], light, None, numpy.empty(7))

    def test_parameters(self):
        e = dualbragg.Experiment(**SCENE)
        self.refuses(dualbragg.UsageError, ["cell_d"], dualbragg.Plan, e, ["cell_d"])
        self.refuses(dualbragg.UsageError, ["list"], dualbragg.Plan, e, "cell_a")
        self.refuses(dualbragg.UsageError, ["found 3"], dualbragg.Plan, e, [3])
        self.refuses(dualbragg.UsageError, ["mosaic_xx"], e.__getitem__, "mosaic_xx")
        self.refuses(dualbragg.InputError, ["-3"], e.__setitem__, "cell_a", -3)
        self.assertEqual(e["cell_a"], 78)
        self.assertEqual(("cell_a" in e, "cel_a" in e, 3 in e, list(e)), (True, False, False, list(e.values)))
        self.refuses(dualbragg.UsageError, ["finite"], e.__setitem__, "cell_a", float("inf"))

    def test_plans(self):
        e = dualbragg.Experiment(**SCENE)
        plan = dualbragg.Plan
        self.refuses(dualbragg.UsageError, ["float16"], plan, e, dtype=numpy.float16)
        self.refuses(dualbragg.UsageError, ["precision", "half"], plan, e, precision="half")
        self.refuses(dualbragg.UsageError, ["tolerance"], plan, e, tolerance=-1)
        self.refuses(dualbragg.UsageError, ["tolerance", "finite"], plan, e, tolerance=numpy.nan)
        plan(e, tolerance=numpy.float32(0.5))
        self.refuses(dualbragg.Error, ["gpu"], plan, e, device="gpu")
        self.assertEqual({plan(e, device=d).device for d in (None, "cpu", "cpu:0")}, {"cpu"})
        self.refuses(dualbragg.UsageError, ["parameters", "None"], plan, e, None)
        self.refuses(dualbragg.UsageError, ["count", "-1"], plan(e).empty, -1)
        self.refuses(dualbragg.UsageError, ["region 0", "0 to 60"], plan, e,
                     regions=[(0, (0, 4), (3, 61))])
        self.refuses(dualbragg.UsageError, ["region 1", "panel"], plan, e,
                     regions=[(0, (0, 4), (3, 6)), (1, (0, 4), (3, 6))])
        self.refuses(dualbragg.UsageError, ["no memory"], self.share, e)
        self.refuses(dualbragg.UsageError, [], plan(e).update,
                     dualbragg.Experiment(**dict(SCENE, detector_pixels=(61, 44))))

    @staticmethod
    def share(e):
        room = numpy.zeros((2, 44, 60), numpy.float32)
        dualbragg.Plan(e, ["cell_a", "cell_b"]).gradient(room[0], room)

    def test_arrays(self):
        plan = dualbragg.Plan(dualbragg.Experiment(**SCENE), ["cell_a"])
        data = numpy.zeros((44, 60), numpy.float32)
        refuses = self.refuses
        refuses(dualbragg.UsageError, ["data", "list"], plan.normal, [1, 2])
        refuses(dualbragg.UsageError, ["data", "float32 or float64", "int32"], plan.normal, data.astype(numpy.int32))
        refuses(dualbragg.UsageError, ["data", "(60, 44)"], plan.normal, data.T)
        refuses(dualbragg.UsageError, ["C order"], plan.normal,
                numpy.zeros((44, 120), numpy.float32)[:, ::2])
        refuses(dualbragg.UsageError, ["weight"], plan.normal, data, data[:3])
        refuses(dualbragg.UsageError, ["cotangent", "float64"], plan.vjp, data.astype(float))
        refuses(dualbragg.InputError, ["(3, 2)"], plan.vjp, self.bad_at(2, 3))
        refuses(dualbragg.UsageError, ["direction", "(1,)"], plan.jvp, numpy.zeros(2))
        refuses(dualbragg.InputError, ["cell_a"], plan.jvp, numpy.array([numpy.nan]))
        refuses(dualbragg.UsageError, ["no memory"], plan.vjp, data, data)
        data.flags.writeable = False
        refuses(dualbragg.UsageError, ["written"], plan.forward, data)
        bad = self.bad_at(4, 7)
        refuses(dualbragg.InputError, ["(7, 4)"], plan.normal, bad)
        refuses(dualbragg.UsageError, ["parameters"],
                dualbragg.Plan(dualbragg.Experiment(**SCENE)).normal, bad)

    @staticmethod
    def bad_at(slow, fast):
        image = numpy.zeros((44, 60), numpy.float32)
        image[slow, fast] = numpy.nan
        return image

    def test_files(self):
        with tempfile.NamedTemporaryFile(suffix=".cbf") as f:
            f.write(b"nonsense")
            f.flush()
            self.refuses(dualbragg.InputError, [f.name], dualbragg.load, f.name)
        self.refuses(dualbragg.FileError, ["/nowhere.cbf"],
                     dualbragg.load, "/nowhere.cbf")
        self.refuses(dualbragg.UsageError, ["ndarray"], dualbragg.load, numpy.zeros((3, 3)))
        e = dualbragg.Experiment(**SCENE)
        self.refuses(dualbragg.FileError, ["/nowhere/a.expt"], e.to_expt, "/nowhere/a.expt")

    def test_structure_factors(self):
        e = dualbragg.Experiment(**SCENE)
        self.refuses(dualbragg.UsageError, ["hkl"], e.set_amplitudes, [[1, 2]], [1])
        self.refuses(dualbragg.UsageError, ["amplitude"], e.set_amplitudes, [[1, 2, 3]], [1, 2])
        self.refuses(dualbragg.UsageError, ["finite"], e.set_amplitudes, [[1, 2, 3]], [numpy.inf])
        self.refuses(dualbragg.UsageError, ["box"], e.set_amplitudes,
                     [[-10**6, 0, 0], [10**6, 10**6, 10**6]], [1, 2])
        self.refuses(dualbragg.UsageError, ["(1, 2, 3)", "10", "11"], e.set_amplitudes, [[1, 2, 3], [1, 2, 4], [1, 2, 3]], [10, 1, 11])
        e.set_amplitudes([[1, 2, 3], [1, 1, 1]], [10, 20])
        factors = dualbragg.Amplitudes(e, [[1, 2, 3]])
        for words, bad in ((["nan", "(1, 2, 3)"], numpy.array([numpy.nan])), (["(1,)", "(2,)"], numpy.zeros(2)),
                           (["float64", "float16"], numpy.zeros(1, "f2")), (["array", "list"], [3])):
            self.refuses(dualbragg.UsageError, words, factors.put, e, bad)
        self.assertEqual(factors.get(e), [10])

    @unittest.skipUnless("gemmi" in dualbragg.features(), "needs gemmi")
    def test_symmetry_of_amplitudes_suits_the_cell(self):
        e = dualbragg.Experiment(**dict(SCENE, cell=(80, 80, 80, 70, 70, 70)))
        hkl = [[1, 2, 3], [3, 1, 2], [2, 3, 1], [3, 2, 1]]
        e.set_amplitudes(hkl, [10, 20, 30, 40])
        factors = dualbragg.Amplitudes(e, [hkl[0], hkl[3]], symmetry="R 3")
        factors.put(e, numpy.array([5.0, 6.0]))
        self.assertEqual(list(dualbragg.Amplitudes(e, hkl).get(e)), [5, 5, 5, 6])
        with self.assertRaisesRegex(dualbragg.InputError, "P 4 3 2 contradicts the cell"):
            dualbragg.Amplitudes(e, hkl[:1], symmetry="P432")

    def test_numbers_of_few_digits(self):
        half = numpy.array([78.1, 78.1, 38.1], "f2")
        self.refuses(dualbragg.UsageError, ["cell", "float16"], dualbragg.Experiment, **dict(SCENE, cell=half))
        e = dualbragg.Experiment(**SCENE)
        self.refuses(dualbragg.UsageError, ["cell_a", "float16"], e.__setitem__, "cell_a", half[0])
        self.refuses(dualbragg.UsageError, ["amplitude", "float16"], e.set_amplitudes, [[1, 2, 3]], half[:1])


if __name__ == "__main__":
    ending.main()
