"""Quirks of the detector's geometry. Sizes are those of docs/reference/quirks.md."""
import math

from common import WITHOUT_CELL, QuirkTest, dot, main, off_by


class Detector(QuirkTest):
    def origin(self, result):
        return result.numbers("pix0_vector=")

    def assertVector(self, found, expected):
        for a, b in zip(found, expected):
            self.assertLess(abs(a - b), 1e-8, "found %s" % found)

    def test_vector_flag_custom(self):
        mosflm = self.default(self.base())
        right, found = self.both(self.base("-fdet_vector 0 0 1"))
        self.assertSame(found, right)
        self.assertSize(off_by(right, mosflm), "1.0")
        self.assertIn("custom convention selected.", right.out)
        self.assertIn("convention custom instead of mosflm", right.out)
        # vectors left open are those of MOSFLM: here fast and normal are the same, which is no detector
        xds, found = self.compat(self.base("-xds")), self.compat(self.base("-xds -fdet_vector 1 0 0"))
        self.assertSize(off_by(found, xds), "1.0")
        self.assertSize(found.sum / xds.sum, "1.26")
        self.assertRefused(self.base("-xds -fdet_vector 1 0 0"), "detector", modes=(False,))

    def test_pix0_ignored(self):
        flags = self.base("-distance 100 -pix0_vector 0.3 0.01 -0.01")
        right, found = self.both(flags)
        self.assertSame(found, self.compat(self.base("-distance 100 -fdet_vector 0 0 1")))
        self.not_taken_over()  # is not printed
        self.assertVector(self.origin(found), (0.1, 0.016, -0.016))
        self.assertVector(self.origin(right), (0.3, 0.01, -0.01))
        millimetres = self.default(self.base("-distance 100 -pix0_vector_mm 300 10 -10"))
        self.assertSame(millimetres, right)

    def test_pivot_ignored(self):
        turned = self.base("-distance 100 -twotheta 10")
        plain_right, plain_found = self.both(turned)
        right, found = self.both(turned + ["-pivot", "sample"])
        self.assertIdentical(found, plain_found)
        self.assertSame(plain_right, plain_found)
        moved = [a - b for a, b in zip(self.origin(right), self.origin(plain_right))]
        self.assertSize(1e3 * math.sqrt(dot(moved, moved)), "17.9")

    def test_pivot_order(self):
        custom = "-distance 100 -fdet_vector 0 0 1 "
        beam, sample = (self.default(self.base(custom + "-twotheta 10 -pivot " + pivot)) for pivot in ("beam", "sample"))
        self.assertDifferent(beam, sample)
        first, last = "-twotheta 10 -Xbeam 16 -Ybeam 16", "-Xbeam 16 -Ybeam 16 -twotheta 10"
        for flags, right in (first, beam), (last, sample):
            self.assertSame(self.compat(self.base(custom + flags)), right)
            self.assertSame(self.default(self.base(custom + flags)), sample)

    def test_near_point_flags(self):
        plain = self.compat(self.base("-xds"))
        for flags in "-Xclose 10 -Yclose 12", "-Xbeam 10 -Ybeam 12":
            right, found = self.both(self.base("-xds " + flags))
            self.assertIdentical(found, plain)
            self.assertVector(self.origin(right), (-0.010, -0.012, 0.070))
        for convention in "-mosflm", "-denzo", "-adxv":
            plain = self.compat(self.base(convention))
            for flags in "-Xclose 10 -Yclose 12", "-ORGX 10 -ORGY 12":
                self.assertIdentical(self.compat(self.base(convention + " " + flags)), plain)
                self.assertRefused(self.base(convention + " " + flags), "has no meaning in convention", modes=(False,))

    def test_default_centre(self):
        for convention, pixels in ("-mosflm", 1), ("-denzo", 0.5), ("-adxv", 0.5), ("-xds", 0), ("-dials", 0):
            right, found = self.both(self.base(convention))
            self.assertSame(found, right)
            near = right.numbers("Fclose=")
            self.assertVector(near[:1], (0.016 + pixels * 0.0005,))

    def test_twotheta_axis_collision(self):
        axis_last = self.base("-twotheta 10 -twotheta_axis 0 0 -1")
        angle_last = self.base("-twotheta_axis 0 0 -1 -twotheta 10")
        right = self.default(angle_last + ["-pivot", "sample"])
        self.assertSame(self.compat(angle_last), right)
        self.assertIdentical(self.default(axis_last + ["-pivot", "sample"]), right)
        self.assertIdentical(self.default(axis_last), self.default(angle_last))
        upright = self.compat(self.base("-twotheta_axis 0 0 -1"))
        found = self.compat(axis_last)
        self.assertIdentical(found, upright)  # two-theta 0
        self.assertSize(off_by(found, right), "1.0")

    def test_twotheta_axis_norm(self):
        flags = self.base("-twotheta_axis 3 0 -1 -twotheta 3")
        right, found = self.both(flags)
        self.assertGreater(off_by(found, right), 0.1)
        for result, length in (right, "1.00000000"), (found, "1.0123"):
            normal = result.numbers("DIRECTION_OF_DETECTOR_Z-AXIS=")
            self.assertSize(math.sqrt(dot(normal, normal)), length)

    def test_odet_regenerated(self):
        flags = "-fdet_vector 1 0 0 -sdet_vector 0 -1 0 -beam_vector 0 0 1 -polar_vector 1 0 0 -odet_vector 0 0 %d"
        right, found = self.both(self.base(flags % 2))
        unit, unit_found = self.both(self.base(flags % 1))
        self.assertSame(unit_found, unit)
        self.assertIdentical(right, unit)
        self.assertGreater(off_by(found, right), 0.5)
        self.not_taken_over()  # is not printed
        self.assertVector(self.origin(right)[2:], (0.07,))
        self.assertVector(self.origin(found)[2:], (-0.07,))

    def test_odet_stale(self):
        self.not_taken_over()
        flags = self.base("-beam_vector 0 0 1 -fdet_vector 1 0 0 -sdet_vector 0 1 0 -polar_vector 1 0 0")
        for image in self.both(flags):
            self.assertVector(image.numbers("distance=")[:1], (0.07,))
            self.assertVector(image.numbers("DIRECTION_OF_DETECTOR_Z-AXIS="), (0, 0, 1))

    def test_dials_origin_frame(self):
        for convention in "-mosflm", "-denzo", "-adxv", "-xds", "-dials":
            right, found = self.both(self.base(convention + " -Xbeam 14 -Ybeam 17 -distance 70"))
            x, y, z = (1e3 * v for v in self.origin(self.default(self.base(
                convention + " -Xbeam 14 -Ybeam 17 -distance 70"))))
            printed = right.numbers("dials origin=")
            if convention in ("-mosflm", "-denzo"):  # the frame that the reference assumes
                self.assertVector(printed, (z, y, -x))
            else:
                self.assertVector(printed[2:], (-70,))
                self.assertLess(abs(dot(printed, printed) - dot((x, y, z), (x, y, z))), 1e-5)
                self.assertVector(found.numbers("dials origin=")[:1], (70,))

    def header(self, name):
        with open(self.path(name), "rb") as file:
            text = file.read(512).decode("latin-1")
        return dict(line.rstrip(";").split("=", 1) for line in text.splitlines() if "=" in line)

    def test_distance_twotheta(self):
        self.header_values("-twotheta 10", "68.9365", "14.1847")
        right, found = self.both(self.base("-twotheta 25"))
        self.assertSize(1e3 * found.numbers("distance=")[0], "63.44")
        self.assertSize(1e3 * right.numbers("distance=")[0], "70.00000")

    def header_values(self, flags, distance, centre):
        flags = self.base(flags + " -Xbeam 14 -Ybeam 14 -intfile int.img")
        self.default(flags)
        header = self.header("int.img")
        self.assertEqual(float(header["DISTANCE"]), 70)
        self.assertEqual(float(header["MOSFLM_CENTER_X"]), 14)
        self.compat(flags)
        header = self.header("int.img")
        self.assertEqual(header["DISTANCE"], distance)
        self.assertEqual(header["MOSFLM_CENTER_X"], centre)

    def test_curved_transpose(self):
        flags = ("-cell 300 350 400 90 103 90 " + " ".join(WITHOUT_CELL) +  # the beam in the middle of the image
                 " -distance 1000 -Xbeam 15.75 -Ybeam 15.75 ")
        flat = self.default(flags)
        right, found = self.both(flags + "-curved_det -twotheta 0")
        self.assertLess(off_by(right, flat), 0.01)
        self.assertGreater(off_by(found, flat), 0.5)
        mirrored = flat.image[:]
        n = 64
        for fast in range(n):
            for slow in range(n):
                mirrored[slow * n + fast] = flat.image[(n - 1 - fast) * n + n - 1 - slow]
        flat.image = mirrored
        self.assertLess(off_by(found, flat), 0.01)

    def test_curved_frame(self):
        xds = "-xds -distance 1000 "
        flat = self.default(self.base(xds))
        right, found = self.both(self.base(xds + "-curved_det -twotheta 0"))
        self.assertLess(off_by(right, flat), 0.01)
        self.assertLess(found.peak, 0.4 * right.peak)

    def test_curved_sensor(self):
        right, found = self.both(self.base("-curved_det -nopolar -detector_thick 450 -detector_abs 300"))
        for image, bare, corner in ((right, self.default(self.base("-curved_det -nopolar")), 1),
                                    (found, self.compat(self.base("-curved_det -nopolar")), 1.0056)):
            captured = [a / b for a, b in zip(image.image, bare.image) if b > 1e-6 * bare.peak]
            self.assertSize(max(captured) / min(captured), "%.4f" % corner)

    def test_oversample_rule(self):
        # the beam passes 99.75 mm beside the panel, whose nearest pixels are 122 mm away; 3 x 1400 A x 0.5 mm / 1.3 A = 1615 mm
        for image, factor in zip(self.both(self.base("-oversample 0 -N 20 -Xbeam -100 -Ybeam 16")), (14, 24)):
            self.assertIn("auto-selected %d-fold oversampling" % factor, image.out)

    def test_curved_last(self):
        self.not_taken_over()
        for compat in False, True:
            last = self.run_program(self.base("-curved_det"), compat)
            first = self.run_program(["-curved_det"] + self.base(), compat)
            flat = self.run_program(self.base(), compat)
            self.assertIdentical(last, first)
            self.assertDifferent(last, flat)

    def test_detsize_rounding(self):
        size = [x for x in self.base("-xds -detsize 20.3") if x not in ("-detpixels", "64")]
        right, found = self.both(size)
        self.assertSame(found, right)
        self.assertEqual(len(right.image), 41 * 41)
        self.assertVector(right.numbers("Fclose="), (0.01015, 0.01015))

    def test_roi_inclusive(self):
        whole = self.default(self.base("-water 1"))
        for part in self.both(self.base("-water 1 -roi 10 20 30 31")):
            inside = [i for i, x in enumerate(part.image) if x != 0]
            self.assertEqual(inside, [s * 64 + f for s in (30, 31) for f in range(10, 21)])
            for i in inside:
                self.assertLess(abs(part.image[i] / whole.image[i] - 1), 1e-6)


main()
