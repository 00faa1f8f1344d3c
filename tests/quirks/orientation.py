"""Quirks of random orientations and of crystal sizes."""
import math
import time

from common import BASE, QuirkTest, main, off_by


class Orientation(QuirkTest):
    def test_misset_random_radians(self):
        random = [x for x in self.base("-misset_seed 4242 -misset random -N 4")]
        del random[2:6]  # -misset 10 20 30
        right, found = self.both(random)
        self.assertGreater(off_by(found, right), 0.5)
        self.not_taken_over()  # %f there
        label = "random orientation misset angles:"
        for a, b in zip(found.numbers(label), (-163.713095, -27.840487, -175.580921)):
            self.assertLess(abs(a - b), 2e-6)

    def test_misset_seed_collision(self):
        flags = self.base("-misset_seed 42 -Na 5 -Nb 5")
        right, found = self.both(flags)
        self.assertSame(right, self.default(self.base()))
        self.assertSame(found, self.compat(self.base("-misset 42 0 5")))  # 42 and what follows, "-Na" being 0
        self.assertGreater(off_by(found, right), 0.5)
        # cancels an earlier -misset random
        self.assertSame(self.compat(self.base("-misset random -misset_seed 42 -Na 5 -Nb 5")), found)

    def test_misset_seed_default(self):
        flags = self.base("-misset random")
        self.assertIdentical(self.default(flags), self.default(flags))
        self.assertIdentical(self.default(flags + ["-seed", "7"]),
                             self.default(self.base("-misset random -misset_seed 7")))
        self.assertDifferent(self.default(flags + ["-seed", "7"]), self.default(flags))
        first = self.compat(flags + ["-seed", "7"])
        time.sleep(1.1)
        self.assertDifferent(self.compat(flags + ["-seed", "7"]), first)

    def noise(self, result):
        with open(self.path("noise.img"), "rb") as file:
            return file.read()[512:]

    def test_time_seeds(self):
        flags = self.base("-noisefile noise.img -water 0.02")
        first = self.noise(self.default(flags))
        self.assertTrue(self.noise(self.default(flags)) == first, "other noise in the second run")
        first = self.noise(self.compat(flags))
        time.sleep(1.1)
        self.assertTrue(self.noise(self.compat(flags)) != first, "the same noise a second later")

    def test_negative_seed(self):
        for flag in "-seed", "-mosaic_seed", "-misset_seed":
            for seed in "0", "2147483647", "-2147483647":
                self.assertRefused(self.base(flag + " " + seed), flag)
        flags = "-mosaic 1.5 -mosaic_domains 3 -mosaic_seed "
        (right, found), (_, first) = self.both(self.base(flags + "-7")), self.both(self.base(flags + "1"))
        self.assertIdentical(right, self.default(self.base(flags + "7")))
        self.assertIdentical(found, first)

    def test_mosaic(self):
        right, found = self.both(self.base("-mosaic 1.5 -nopolar"))
        self.assertIn("created a total of 10 mosaic domains", right.out)
        ten = self.default(self.base("-mosaic 1.5 -mosaic_domains 10 -nopolar"))
        self.assertIdentical(right, ten)  # mosaic-ten
        self.assertSame(found, right)  # the same domains
        right, found = self.both(self.base("-mosaic_domains 10"))
        self.assertSame(found, right)
        self.assertSame(right, self.default(self.base()))

    def test_auto_interpolate_early(self):
        with open(self.path("grid.hkl"), "w") as file:
            for h in range(-14, 15):
                for k in range(-17, 18):
                    for l in range(-22, 23):
                        file.write("%d %d %d %g\n" % (h, k, l, 100 + 90 * math.sin(1.3 * h + 2.1 * k + 0.7 * l)))
        flags = self.base("-hkl grid.hkl -samplesize 3.4e-5")
        flags.remove("-nointerpolate")
        i = flags.index("-N")
        del flags[i:i + 2]
        right, found = self.both(flags)
        self.assertIn("8x7x5 cells", right.out.replace(" ", "").replace("cells", " cells"))
        self.assertSame(right, self.default(flags + ["-nointerpolate"]))
        self.assertSame(found, self.compat(flags + ["-interpolate"]))
        self.assertGreater(off_by(found, right), 0.05)

    def test_interpolation_disabled(self):
        self.not_taken_over()
        with open(self.path("short.hkl"), "w") as file:
            for h in range(-6, 7):
                for k in range(-6, 7):
                    for l in range(-6, 7):
                        file.write("%d %d %d %g\n" % (h, k, l, 100 + 90 * math.sin(1.3 * h + 2.1 * k + 0.7 * l)))
        flags = self.base("-hkl short.hkl -N 2 -interpolate -Xbeam 2")
        for run in self.default, self.compat:
            one, two, four = (run(flags + ["--threads", str(n)]) for n in (1, 2, 4))
            self.assertIdentical(one, two)
            self.assertIdentical(one, four)

    def test_sample_clip(self):
        for result in self.both(BASE + "-samplesize 1 -beamsize 0.0005 -detpixels 2".split()):
            self.assertIn("222223x91x72cells", result.out.replace(" ", ""))

    def test_n_zero(self):
        for result in self.both(self.base("-N 0")):
            self.assertSame(result, self.default(self.base("-N 1")))

    def test_mat_wavelength(self):
        for result in self.both(self.base("-lambda 2.6")):
            self.not_taken_over()
            for edge, found in zip((90, 110, 140), result.numbers("Unit Cell:")):
                self.assertLess(abs(found - edge), 1e-5)


main()
