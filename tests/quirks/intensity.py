"""Quirks of intensities: factors, background, sums over samples. Sizes are those of docs/reference/quirks.md."""
import math

from common import BASE, WITHOUT_CELL, QuirkTest, main, off_by


class Intensity(QuirkTest):
    def compare(self, extra, peak=None, total=None):
        """Sizes of the reference's deviation: of the peak, and of the sum."""
        right, found = self.both(self.base(extra))
        if peak:
            self.assertSize(off_by(found, right), peak)
        if total:
            self.assertSize(found.sum / right.sum, total)
        return right, found

    def test_first_sample_factors(self):
        for oversample, peak in (2, "0.0025"), (3, "0.0030"), (5, "0.0034"):
            self.compare("-oversample %d" % oversample, peak, "1.0000")
        self.compare("-divergence 20 -divsteps 5 -polar 0.9", "0.005")

    def test_running_product(self):
        self.compare("-oversample 2 -oversample_omega", "0.88", "0.256")
        self.compare("-oversample 3 -oversample_omega", None, "0.114")
        self.compare("-mosaic 1 -mosaic_domains 10 -oversample_omega", None, "0.0999")
        self.compare("-oversample 2 -oversample_polar", "0.039", "0.977")
        self.compare("-oversample 3 -oversample_polar -polar 0.9", "0.134", "0.942")
        # samples without a structure factor multiply, too, and Gaussian spots whose square is too small for a double: one
        # pixel of four sub-pixels, 10 mm apart, of which only the first has an intensity
        self.write("direct.hkl", "0 0 0 100\n")
        for spot, amplitude in ("-hkl direct.hkl -dump list.bin -N 1", 100), ("-default_F 100 -gauss_xtal -N 12", 172800):
            found = self.compat("-denzo -cell 50 -lambda 1.3 -distance 70 -detpixels 1 -pixel 20 -Xbeam 5 -Ybeam 5 "
                                "-nointerpolate -nopolar -oversample 2 -oversample_omega " + spot)
            expected = amplitude ** 2 / 4
            for square in 0, 100, 100, 200:
                expected *= 20 ** 2 * 70 / (70 ** 2 + square) ** 1.5
            self.assertLess(abs(found.image[0] / expected - 1), 1e-6)
        # one sample per pixel: exact
        right, found = self.both(self.base("-oversample_omega -oversample_polar"))
        self.assertSame(found, right)

    def test_last_layer_capture(self):
        sensor = "-detector_thick %g -detector_abs 300"
        self.compare(sensor % 450, None, "0.640")
        found = self.compat(self.base(sensor % 450 + " -detector_thicksteps 5"))
        same_layers = self.default(self.base(sensor % 562.5 + " -detector_thicksteps 5"))
        right = self.default(self.base(sensor % 450 + " -detector_thicksteps 5"))
        self.assertSize(found.sum / same_layers.sum, "0.410")
        self.assertSize(found.sum / right.sum, "0.446")

    def isolated_cells(self, extra):
        """N = 1: intensity is F^2 times the factors, without any spots. One pixel, hit by the beam."""
        return ("-cell 50 -default_F 100 -N 1 -lambda 1.3 -distance 70 -detpixels 1 -pixel 0.01 -Xbeam 0 -Ybeam 0 "
                "-nointerpolate -oversample 1 -nopolar " + extra)

    def test_sensor_thickness(self):
        front = self.default(self.isolated_cells("-point_pixel")).image[0]

        def capture(layers):  # point pixels: the solid angle is that of the layer; depth/70 mm small
            sensor = self.isolated_cells("-point_pixel -detector_thick 450 -detector_abs 300 -detector_thicksteps %d")
            right, found = self.both(sensor % layers)
            return right.image[0] / front, found.image[0] / front

        for layers in range(1, 7):
            right, found = capture(layers)
            self.assertLess(abs(right - 0.7769), 0.01)
            n = max(layers, 2)  # all layers with the capture fraction of the last, see last-layer-capture
            step = 1.5 / (n - 1)
            self.assertLess(abs(found - n * (math.exp(-(n - 1) * step) - math.exp(-n * step))), 1e-4)

    def test_thick_flag_no_sensor(self):
        self.not_taken_over()
        plain = self.default(self.base())
        for image in self.both(self.base("-oversample_thick")):
            self.assertSame(image, plain)

    def test_layer_obliquity(self):
        mu, step, z = 1 / 300e-6, 450e-6 / 2, 70e-3
        sensor = "-detector_thick 450 -detector_abs 300 -Xbeam 20 -Ybeam 0"
        front = self.default(self.isolated_cells("-Xbeam 20 -Ybeam 0")).image[0]
        capture, omega, omega_front = [], [], []
        for layer in range(2):
            cosine = (z + layer * step) / math.hypot(z + layer * step, 20e-3)
            r = math.hypot(z + layer * step, 20e-3)
            capture.append(math.exp(-layer * step * mu / cosine) - math.exp(-(layer + 1) * step * mu / cosine))
            omega.append((z + layer * step) / r ** 3)
            omega_front.append(z / r ** 3)
        right = self.default(self.isolated_cells(sensor)).image[0] / front
        expected = sum(a * o for a, o in zip(capture, omega)) / omega[0]
        self.assertLess(abs(right / expected - 1), 1e-6)
        # the running product in compat: (w0 + 1) w1, times the last layer's capture (of its first sub-pixel)
        solid = 1e-10 * omega_front[0], 1e-10 * omega_front[1]
        found = self.compat(self.isolated_cells(sensor + " -oversample_omega")).image[0] / front
        expected = (solid[0] + 1) * solid[1] * capture[1] / solid[0]
        self.assertLess(abs(found / expected - 1), 1e-6)
        self.assertGreater(abs(omega[1] / omega_front[1] - 1), 0.003)

    def test_nopolar_overridden(self):
        right = self.default(self.base("-nopolar -oversample_polar"))
        self.assertSame(right, self.default(self.base("-nopolar")))
        found = self.compat(self.base("-nopolar -oversample_polar"))
        self.assertSize(off_by(found, right), "0.031")
        self.assertSize(found.sum / right.sum, "0.985")

    def test_stale_phi_zero(self):
        self.compare("-phi 0 -osc 1 -phisteps 10", "0.065")
        self.compare("-phi -1 -osc 2 -phisteps 4", "0.132", "0.997")

    def test_stale_phi_zero_threads(self):
        self.not_taken_over()
        flags = self.base("-phi 0 -osc 1 -phisteps 10")
        one = self.compat(flags + ["--threads", "1"])
        four = self.compat(flags + ["--threads", "4"])
        self.assertIdentical(one, four)

    def test_phi_left_edge(self):
        right, found = self.both(self.base("-phi 1 -osc 1"))
        self.assertSame(found, right)
        middle = self.default(self.base("-phi 1.25 -osc 1"))
        self.assertSize(off_by(right, middle), "0.18")

    def test_range_step_asymmetric(self):
        self.compare("-hdivrange 15 -hdivstep 5", "0.91")
        # 2.5 steps are rounded to the even number
        self.assertSame(self.default(self.base("-hdivrange 5 -hdivstep 2")),
                        self.default(self.base("-hdivrange 4 -hdivsteps 3")))

    def test_count_only_divergence(self):
        for flag in "-hdivsteps", "-vdivsteps", "-divsteps":
            self.assertRefused(self.base(flag + " 3"), "steps need a range")

    def test_range_forces_two(self):
        right, found = self.both(self.base("-nopolar -hdivrange 10 -hdivsteps 1"))
        self.assertSame(found, right)
        self.assertSize(off_by(right, self.default(self.base("-nopolar"))), "0.97")

    def test_osc_forces_two(self):
        for flags in "-phi 3 -osc 1", "-phi 3 -phisteps 4 -phistep 0.1":
            right, found = self.both(self.base(flags))
            self.assertSame(found, right)
        two = self.default(self.base("-phi 3 -osc 0.2 -phisteps 2"))
        self.assertSame(right, two)

    def test_negative_osc(self):
        backwards = self.base("-phi 5 -osc -3 -phisteps 3")
        self.assertSame(self.default(backwards), self.default(self.base("-phi 3 -osc 3 -phisteps 3")))
        self.assertSame(self.compat(backwards), self.default(self.base("-phi 5 -osc 1 -phisteps 3")))
        # a negative step and a negative number are open, too
        for flags in "-osc 3 -phisteps 2 -phistep -1", "-osc 3 -phisteps -2":
            self.assertSame(self.compat(self.base("-phi 5 " + flags)), self.default(self.base("-phi 5 -osc 3")))

    def test_phistep_zero(self):
        flags = self.base("-phi 5 -osc 3 -phisteps 3 -phistep 0")
        self.assertSame(self.default(flags), self.default(self.base("-phi 5 -osc 3 -phisteps 3")))
        self.assertSame(self.compat(flags), self.default(self.base("-phi 5")))
        for fewer in "-osc 3", "-phisteps 3":  # open in both modes
            self.assertSame(*self.both(self.base("-phi 5 -phistep 0 " + fewer)))

    def osc_range(self):
        with open(self.path("int.img"), "rb") as file:
            lines = file.read(512).decode("latin-1").splitlines()
        return next(line.strip(";") for line in lines if line.startswith("OSC_RANGE="))

    def test_osc_range(self):
        for flags, right, found in ("-osc 1 -phistep 0.3", "1.2", "1"), ("-phistep 0.1", "0.2", "0.1"), \
                ("-osc 1 -phisteps 3 -phistep 0.5", "1.5", "1"), ("-phisteps 1", "0", "1"), ("", "0", "0"):
            for run, expected in (self.default, right), (self.compat, found):
                run(self.base("-phi 5 -intfile int.img " + flags))
                self.assertEqual(self.osc_range(), "OSC_RANGE=" + expected)

    def test_source_weights_ignored(self):
        source = "-10 0 0 1 1.3e-10\n-10 0.2 0 %s 1.3e-10\n"
        self.write("weighted.src", source % "0.01")
        self.write("equal.src", source % "1")
        right, found = self.both(self.base("-sourcefile weighted.src -nopolar"))
        equal = self.default(self.base("-sourcefile equal.src -nopolar"))
        self.assertSame(found, equal)
        self.assertGreater(off_by(found, right), 0.3)
        first = self.default(self.base("-nopolar"))
        self.assertLess(off_by(right, first), 0.02)  # 1 % of the weight elsewhere

    def test_dmin_kills_background(self):
        cut = "-distance 50 -dmin 4.6 -water 0.1"
        right, found = self.both(self.base(cut))
        self.assertEqual(sum(x == 0 for x in found.image), 1420)
        self.assertGreater(min(right.image), 1e4)
        self.assertGreater(min(self.compat(self.base(cut + " -nopolar")).image), 0)

    def test_water_double_scale(self):
        dark = "-cell 50 -default_F 1e-9 -N 1 -lambda 1.3 -distance 70 -detpixels 8 -pixel 0.05 -nointerpolate -water 1 "
        for flags, factor in (("-fluence 1e27 -oversample 1", 0.00794079248018965),
                              ("-fluence 1e24 -oversample 1", 7.94079248018965e-6), ("-oversample 2", 0.25),
                              ("-oversample 1 -phi 1 -osc 1 -phisteps 4", 0.25), ("-oversample 1", 1)):
            right, found = self.both(dark + flags)
            self.assertLess(abs(found.sum / right.sum / factor - 1), 1e-4)

    def test_gauss_tophat_units(self):
        for cells, expected, expected_right in (5, "10.5", "1.005"), (2, "7.8", "0.95"), (10, "0.066", "0.99"):
            square = self.default(self.base("-N %d" % cells))
            right, found = self.both(self.base("-N %d -gauss_xtal" % cells))
            self.assertSize(found.sum / square.sum, expected)
            self.assertSize(right.sum / square.sum, expected_right)
        right, found = self.both(self.base("-tophat_spots"))
        self.assertSize(found.sum / right.sum, "10.7")
        self.assertSize(right.sum / self.default(self.base()).sum, "1.09")

    def test_round_amplitude(self):
        right, found = self.both(self.base("-round_xtal"))
        self.assertSame(found, right)
        self.assertSize(self.default(BASE + ["-round_xtal"]).sum / self.default(BASE).sum, "0.934")

    def test_node_rounding(self):
        self.not_taken_over()
        for cells, xbeam, expected in (5, 80, 15625.0), (20, 80, 64e6):  # h, k, l = -40 0 80
            node = ("-cell 100 -default_F 1 -N %d -lambda 1 -distance 60 -detpixels 1 -pixel 0.1 -Xbeam 0 -Ybeam -%d "
                    "-nointerpolate -oversample 1 -nopolar -point_pixel" % (cells, xbeam))
            for image in self.both(node):
                self.assertLess(abs(image.image[0] * 0.01 / expected - 1), 1e-6)  # R = 100 mm

    def test_triclinic_cell_angles(self):
        right, found = self.both(BASE)
        self.assertSize(off_by(found, right), "0.034")
        if found.out.count("Unit Cell"):
            self.assertSize(found.numbers("Unit Cell:")[3], "81.9728")
            self.assertSize(found.numbers("Unit Cell:")[4], "97.0239")
            self.assertSize(found.numbers("Unit Cell:")[5], "105.005")
            for printed, given in zip(right.numbers("Unit Cell:"), (45, 55, 70, 82, 97, 105)):
                self.assertLess(abs(printed - given), 1e-6)
        right, found = self.both(BASE + ["-N", "20"])
        self.assertSize(off_by(found, right), "0.16")
        right, found = self.both("-cell 50 60 70 60 70 80".split() + WITHOUT_CELL)
        self.assertSize(off_by(found, right), "0.40")
        # the same lattice from a matrix file
        self.assertSame(self.compat(self.base()), self.compat(BASE))

    def test_rms_single(self):
        self.not_taken_over()
        for image in self.both(self.base("-fluence 1e50")):
            self.assertGreater(image.peak, 1.8e19)
            for value in image.numbers("mean="):
                self.assertTrue(math.isfinite(value) and value > 1e18)

    def test_solid_angle_print(self):
        right, found = self.both(self.base("-mosaic 1 -mosaic_domains 10"))
        label = "solid angle subtended by detector ="
        self.assertSize(found.numbers(label)[0], "0.0199")
        self.assertSize(right.numbers(label)[0], "0.199")

    def test_max_position(self):
        for image in self.both(self.base("-oversample 4")):
            self.assertSize(1e3 * image.numbers("max_I =")[1] % 0.5, "0.4375")


main()
