"""Quirks of files: structure factors, matrices, sources, image headers, noise."""
import math
import os

from common import WITHOUT_CELL, QuirkTest, main, off_by


class Files(QuirkTest):
    def write_list(self, name, amplitude=50, extra="", title=""):
        self.write(name, title + "".join("%d %d %d %g%s\n" % (h, k, l, amplitude, extra) for h in range(-5, 6)
                                         for k in range(-5, 6) for l in range(-5, 6)))

    def test_fdump_silent(self):
        self.write_list("list.hkl")
        flags = self.base("-hkl list.hkl")
        right = self.default(flags)
        self.assertFalse(self.exists("Fdump.bin"))
        self.default(self.base("-hkl list.hkl -dump cache.bin"))
        self.assertTrue(self.exists("cache.bin"))
        self.assertSame(self.default(self.base("-dump cache.bin")), right)
        self.assertSame(self.compat(flags), right)
        self.assertTrue(self.exists("Fdump.bin"))
        # left over: read by compat alone
        plain = self.base("-default_F 50")
        self.assertSame(self.compat(self.base("-default_F 100")), right)
        without = self.default(plain)
        os.remove(self.path("Fdump.bin"))
        self.assertSame(self.compat(plain), without)

    def test_fdump_whitespace(self):
        self.not_taken_over()
        # the first amplitude is a double with 0x20 as its lowest byte
        value = 50.0 + 0x20 * 2.0 ** -47
        self.write("list.hkl", "".join("%d %d %d %.17g\n" % (h, k, l, value) for h in range(-5, 6)
                                       for k in range(-5, 6) for l in range(-5, 6)))
        right = self.default(self.base("-hkl list.hkl -dump cache.bin"))
        with open(self.path("cache.bin"), "rb") as file:
            self.assertIn(b" 5 -5 5\n\f\x20", file.read(40))
        for result in self.both(self.base("-dump cache.bin")):
            self.assertSame(result, right)

    def test_fdump_format(self):
        self.write_list("list.hkl")
        self.default(self.base("-hkl list.hkl -dump cache.bin"))
        with open(self.path("cache.bin"), "rb") as file:
            whole = file.read()
        for damage in whole[:-8], whole + b"x", b"not a cache", whole.replace(b"-5 5", b"-5 x", 1):
            with open(self.path("cache.bin"), "wb") as file:
                file.write(damage)
            self.assertRefused(self.base("-dump cache.bin"), "cache.bin")

    def test_hkl_stream(self):
        self.not_taken_over()
        self.write_list("list.hkl")
        right = self.default(self.base("-hkl list.hkl"))
        self.write_list("five.hkl", extra=" 1.5")
        for result in self.both(self.base("-hkl five.hkl")):
            self.assertSame(result, right)
        self.write_list("title.hkl", title="# h k l F\n\n")
        for result in self.both(self.base("-hkl title.hkl")):
            self.assertSame(result, right)
        for text in "a title\n1 0 0 5\n", "1.3 0 0 5\n", "1 0 0\n", "":
            self.write("bad.hkl", text)
            self.assertRefused(self.base("-hkl bad.hkl"), "bad.hkl")

    def test_mat_missing(self):
        self.assertRefused(["-mat", "no_such.mat"] + WITHOUT_CELL, "no_such.mat")
        self.assertRefused("-cell 50 -mat no_such.mat".split() + WITHOUT_CELL, "no_such.mat")

    def test_source_file_format(self):
        self.not_taken_over()
        source = "# two sources\n-10 0 0 1 1.3e-10\n\n-10 0.2 0 1 1.3e-10%s"
        self.write("a.src", source % "\n")
        self.write("b.src", source % "")
        self.write("c.src", "-10 0 0\n-10 0.2 0")
        right = self.default(self.base("-nopolar -sourcefile a.src"))
        for name in "b.src", "c.src":
            for result in self.both(self.base("-nopolar -sourcefile " + name)):
                self.assertSame(result, right)
        for text in "# only a comment\n", "-10 0 x\n", "-10 0 0 1 -1e-10\n":
            self.write("bad.src", text)
            self.assertRefused(self.base("-sourcefile bad.src"), "bad.src")

    def test_stol_unused(self):
        self.write("water.stol", "".join("%g %g\n" % (0.01 * i, 10 - 0.1 * i) for i in range(100)))
        plain = self.default(self.base())
        right, found = self.both(self.base("-stol water.stol"))
        self.assertSame(found, plain)
        self.assertGreater(min(a - b for a, b in zip(right.image, plain.image)), 0)

    def header_image(self, flags):
        """The header that the reference writes, for a detector described by flags."""
        result = self.compat(self.base(flags + " -intfile template.img"))
        return result

    def geometry_from_header(self, flags):
        matter = [x for x in self.base("-nopolar") if x != "-oversample"]
        for flag in "-distance", "-detpixels", "-pixel", "-lambda":
            i = matter.index(flag)
            del matter[i:i + 2]
        matter.remove("1")
        return matter + ["-oversample", "1", "-img", "template.img"] + flags.split()

    def assertNear(self, found, right):
        """Headers have six digits."""
        self.assertLess(off_by(found, right), 1e-3)

    def test_header_distance(self):
        self.header_image("-twotheta 10")
        right, found = self.both(self.geometry_from_header("-noprogress"))
        self.not_taken_over()  # is printed with six digits
        self.assertSize(1e3 * right.numbers("distance=")[0], "70.00")
        self.assertSize(1e3 * found.numbers("distance=")[0], "68.94")

    def test_header_twotheta(self):
        turned = self.base("-nopolar -twotheta 10")
        self.header_image("-twotheta 10")
        right, found = self.both(self.geometry_from_header(""))
        self.assertNear(right, self.default(turned))
        self.assertGreater(off_by(found, right), 0.5)
        flat = self.compat(self.base("-nopolar -distance 68.9365"))
        self.assertNear(found, flat)

    def test_header_convention(self):
        self.header_image("-adxv -Xbeam 12 -Ybeam 14")
        right, found = self.both(self.geometry_from_header("-adxv"))
        self.assertNear(right, self.default(self.base("-nopolar -adxv -Xbeam 12 -Ybeam 14")))
        self.assertNear(found, right)
        # read as MOSFLM's: the centre is a place on the detector, not two numbers
        right, found = self.both(self.geometry_from_header("-mosflm"))
        self.assertNear(found, self.compat(self.base("-nopolar -Xbeam 12 -Ybeam 14")))
        self.assertGreater(off_by(found, right), 0.5)

    def test_header_mask_flips(self):
        self.header_image("-adxv -Xbeam 12 -Ybeam 14 -water 1")  # no pixel is 0
        flags = [x if x != "-img" else "-mask" for x in self.geometry_from_header("-adxv")]
        right, found = self.both(flags)
        self.assertNear(right, self.default(self.base("-nopolar -adxv -Xbeam 12 -Ybeam 14")))
        self.assertNear(found, self.compat(self.base("-nopolar -adxv -Xbeam 12 -Ybeam 18")))

    def test_header_semicolon(self):
        for compat, end in (False, ";"), (True, ""):
            (self.compat if compat else self.default)(self.base("-intfile int.img"))
            with open(self.path("int.img"), "rb") as file:
                lines = file.read(512).decode("latin-1").splitlines()
            line = next(line for line in lines if line.startswith("DIALS_ORIGIN="))
            self.assertRegex(line, "^DIALS_ORIGIN=[-0-9.,]+%s$" % end)

    def test_rmsd_mask(self):
        self.header_image("-water 1")
        with open(self.path("template.img"), "rb") as file:
            mask = bytearray(file.read())
        hidden = set(range(1000, 1040))
        for i in hidden:
            mask[512 + 2 * i] = mask[513 + 2 * i] = 0
        with open(self.path("template.img"), "wb") as file:
            file.write(mask)
        flags = [x if x != "-img" else "-mask" for x in self.geometry_from_header("")]
        for result in self.both(flags):
            n = len(result.image) - len(hidden)
            self.assertEqual({i for i, x in enumerate(result.image) if x == 0}, hidden)
            mean = result.sum / n
            rms = math.sqrt(math.fsum(x * x for x in result.image) / (n - 1))
            rmsd = math.sqrt(math.fsum((x - mean) ** 2 for x in result.image) / (n + len(hidden) - 1))
            for found, expected in zip(result.numbers("mean="), (mean, rms, rmsd)):
                self.assertLess(abs(found / expected - 1), 1e-5)

    def counts(self, name):
        with open(self.path(name), "rb") as file:
            data = file.read()
        size = int(data.split(b"HEADER_BYTES=")[1].split(b";")[0])
        return [data[i] + 256 * data[i + 1] for i in range(size, len(data), 2)]

    def test_adc_roi(self):
        for result in self.both(self.base("-roi 10 20 30 31 -intfile int.img -adc 40")):
            counts = self.counts("int.img")
            self.assertEqual(len(counts), 64 * 64)
            inside = {s * 64 + f for s in (30, 31) for f in range(10, 21)}
            self.assertTrue(all(counts[i] >= 40 for i in inside))
            self.assertTrue(all(counts[i] == 0 for i in range(64 * 64) if i not in inside))

    def test_float_order(self):
        for _ in self.both(self.base()):
            self.assertEqual(os.path.getsize(self.path("image.f32")), 4 * 64 * 64)


main()
