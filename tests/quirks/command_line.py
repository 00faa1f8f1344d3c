"""Quirks of the command line."""
import os
import subprocess

from common import DUALBRAGG, REFERENCE, QuirkTest, main, off_by


class CommandLine(QuirkTest):
    def files(self):
        return sorted(set(os.listdir(self.folder)) - {"base.mat"})

    def test_unknown_flags(self):
        self.assertRefused(self.base("-bogus 3"), "unknown flag '-bogus'")
        plain = self.both(self.base())
        for flag in "-dispstep 3", "-hdiv 5", "-vdiv 5", "-detsize_x 30", "-xdet_vector 0 1 0":  # its documents have them
            for result, same in zip(self.both(self.base(flag)), plain):
                self.assertIdentical(result, same)

    def test_substring_collisions(self):
        right = self.default(self.base())
        for alias in "--lambda 1.3", "-wavelength 1.3", "-wave 1.3":
            self.assertIdentical(self.default(self.base(alias)), right)
        for flag in "-lambda0 1.3", "-lambda_A 1.3", "-my-lambda 1.3":
            self.assertRefused(self.base(flag), "unknown flag")

    def test_open_values(self):
        for flags, same in (("-oversample -1", "-oversample 0"), ("-mosaic 1 -mosaic_domains -1", "-mosaic 1"),
                            ("-hdivrange -5", ""), ("-hdivrange 5 -hdivstep 0", "-hdivrange 5"),
                            ("-hdivrange 5 -hdivsteps -1", "-hdivrange 5"), ("-N -3", "-N 1"), ("-dispersion -1", ""),
                            ("-flux 1e10 -exposure 0 -fluence 1e20", "-fluence 1e20")):
            self.assertIdentical(self.compat(self.base(flags)), self.compat(self.base(same)))
            self.assertRefused(self.base(flags), "expected", modes=(False,))
        for flags, found in ("-hdivrange -5", "0 mrad or more, found -5"), ("-dispersion -1", "0 percent or more, found -1"), \
                ("-vdivrange 5 -vdivstep -2", "a positive number (mrad), found -2"):
            self.assertRefused(self.base(flags), "expected " + found, modes=(False,))
        cell = "-default_F 100 -N 5 -lambda 1.3 -distance 70 -detpixels 64 -pixel 0.5 -nointerpolate -oversample 1 -cell "
        self.assertIdentical(self.compat(cell + "45 0 0 0 90 90"), self.compat(cell + "45"))
        self.assertRefused(cell + "45 0 0 0 90 90", "expected", modes=(False,))
        for flags in "-intfile int.img -scale -1", "-intfile int.img -scale 0":
            self.compat(self.base(flags))
            with open(self.path("int.img"), "rb") as file:
                image = file.read()
        self.assertEqual(max(image[512 + 2 * i] + 256 * image[513 + 2 * i] for i in range(4096)), 55040)
        self.assertRefused(self.base("-intfile int.img -scale -1"), "-scale: expected", modes=(False,))

    def test_values_as_flags(self):
        if REFERENCE:
            self.skipTest("misreads it")
        self.write("-mat.hkl", "".join("%d %d %d 50\n" % (h, k, l) for h in range(-2, 3) for k in range(-2, 3)
                                       for l in range(-2, 3)))
        os.rename(self.path("-mat.hkl"), self.path("plain.hkl"))
        right = self.default(self.base("-hkl plain.hkl"))
        os.rename(self.path("plain.hkl"), self.path("-mat.hkl"))
        for result in self.both(self.base("-hkl -mat.hkl")):
            self.assertSame(result, right)

    def test_last_arg_crash(self):
        for flag in "-detector_abs", "-detector_thick", "-thicksteps", "-detector_thicksteps":
            for compat in False, True:
                arguments = [DUALBRAGG, "sim", "-floatfile", "image.f32"] + ["-compat"] * compat + self.base(flag)
                done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
                self.assertEqual(done.returncode, 2)
                self.assertIn("found the end of the command line", done.stderr)
        self.assertEqual(self.files(), [])

    def test_abs_inf_order(self):
        for flags in "-detector_abs inf -detector_thick 450", "-detector_thick 450 -detector_abs inf", \
                "-detector_thick 450 -detector_abs 0":
            self.assertRefused(self.base(flags), "exclude each other")
        right = self.default(self.base())
        for result in self.both(self.base("-detector_abs inf")):
            self.assertSame(result, right)

    def help_of(self, flag):
        """The help of a flag, in one line."""
        text = subprocess.run([DUALBRAGG, "sim", "--help"], capture_output=True, text=True).stdout.splitlines()
        start = next(i for i, line in enumerate(text) if line.split()[:1] == [flag])
        end = next((i for i in range(start + 1, len(text)) if text[i].lstrip().startswith("-") or not text[i]), None)
        return " ".join(" ".join(text[start:end]).split())

    def test_usage_text(self):
        self.assertIn("default", self.help_of("-mosflm"))
        self.assertNotIn("default", self.help_of("-adxv"))
        self.assertIdentical(self.default(self.base("-mosflm")), self.default(self.base()))
        self.assertIn("default 0", self.help_of("-polar"))
        self.assertIdentical(self.default(self.base("-polar 0")), self.default(self.base()))
        self.assertSize(off_by(self.default(self.base("-polar 1")), self.default(self.base())), "0.017")
        self.assertIn("12345678", self.help_of("-mosaic_seed"))
        mosaic = self.base("-mosaic 1")
        self.assertIdentical(self.default(mosaic + ["-mosaic_seed", "12345678"]), self.default(mosaic))
        self.assertIn("-seed", self.help_of("-misset_seed"))  # see misset-seed-default
        self.assertIn("step", self.help_of("-hdivstep"))
        self.assertIn("points", self.help_of("-hdivsteps"))

    def test_flux_wins(self):
        flags = "-flux 1e12 -exposure 1 -beamsize 0.1"
        right, found = self.both(self.base("-nopolar %s -fluence 1e28" % flags))
        self.assertSame(found, right)
        self.assertSame(right, self.default(self.base("-nopolar " + flags)))
        self.assertIn("the fluence follows from the flux", right.out)

    def test_no_effect(self):
        right = self.default(self.base())
        for flags in "-coherent", "-density 1.2", "-MW 14000", "-stolout x.stol":
            for result in self.both(self.base(flags)):
                self.assertSame(result, right)
            said = self.default(self.base(flags))
            self.assertIn(flags.split()[0], said.err)
            self.assertRegex(said.err, "ha(s|ve) no effect")

    def test_exit_codes(self):
        self.assertRefused(self.base("-mat no_such.mat"), "no_such.mat")
        for compat in False, True:
            arguments = [DUALBRAGG, "sim"] + self.base("-floatfile no_such_folder/image.f32") + ["-compat"] * compat
            done = subprocess.run(arguments, cwd=self.folder, capture_output=True, text=True)
            self.assertGreater(done.returncode, 0)
            self.assertIn("no_such_folder", done.stderr)

    def test_clobber(self):
        self.default(self.base())
        self.assertEqual(self.files(), ["image.f32"])
        self.compat(self.base())
        self.assertIn("intimage.img", self.files())
        os.remove(self.path("image.f32"))
        done = subprocess.run([DUALBRAGG, "sim", "-compat"] + self.base("-nonoise -nopgm"), cwd=self.folder,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(self.files(), ["floatimage.bin", "intimage.img"])


main()
