"""Sets of random shots, and the noise of a detector."""

import multiprocessing
import pickle
import threading
import unittest

import numpy

import ending
import dualbragg

SCENE = dict(cell=(78, 78, 38), Ncells=(40, 40, 80), default_F=100, spots="closed", mosaic_rms=0.1, wavelength=1.0,
             fluence=1e25, distance=100, detector_pixels=(96, 80), pixel_size=0.8, misset=(10, 20, 30))


NOISE = "Random123" in dualbragg.features()


def brighter(shot, random):
    shot["scale"] = random.uniform(1, 2)


def shots(**keywords):
    settings = dict(seed=4, jitter={"cell_a": 0.1, "mosaic_variance": 1e-3}, vary=brighter, labels=("scale",),
                    noise=dict(gain=2, readout=1) if NOISE else None)
    return dualbragg.RandomShots(dualbragg.Experiment(**SCENE), 6, **{**settings, **keywords})


def bytes_of(item):
    return {name: value.tobytes() for name, value in item.items()}


def third(made):
    return bytes_of(made[3])


class Shots(unittest.TestCase):
    def test_the_same_bits_anywhere(self):
        made, again = shots(), shots()
        wanted = [bytes_of(item) for item in made]
        self.assertEqual(len(wanted), len(made))
        for i in (5, 0, 3, 3):
            self.assertEqual(bytes_of(again[i]), wanted[i])
        self.assertEqual(third(pickle.loads(pickle.dumps(made))), wanted[3])
        for method in ("fork", "spawn"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(third, [made, made]), [wanted[3]] * 2, method)
        found = []
        threads = [threading.Thread(target=lambda: found.append([bytes_of(item) for item in made])) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 3)

    def test_shots_differ_and_labels_are_theirs(self):
        made = shots(noise=None)
        images = numpy.array([item["image"] for item in made])
        self.assertEqual(images.shape, (6, 80, 96))
        self.assertTrue((numpy.ptp(images, axis=0).max() > 0) and images.dtype == numpy.float32)
        for i, item in enumerate(made):
            shot = made.given.copy()
            shot.A = item["A"][0]
            for name in ("scale", "mosaic_variance"):
                shot[name] = item[name][0]
            again = dualbragg.Plan(shot).forward()
            self.assertLess(abs(again - item["image"]).max(), 1e-3 * again.max())
            self.assertEqual(shot.unit_cell.round(9)[0], item["cell_a"][0].round(9))
            self.assertAlmostEqual(shot["cell_a"], shot["cell_b"], places=9)
            self.assertNotEqual(item["cell_a"][0], 78)
            self.assertTrue(1 <= item["scale"][0] <= 2)
        self.assertEqual(len({item["cell_a"][0] for item in made}), 6)

    def test_jitter_is_as_wide_as_it_says(self):
        made = dualbragg.RandomShots(dualbragg.Experiment(**SCENE), 600, jitter={"cell_a": 0.3, "cell_b": 0.2})
        experiments = [made.experiment(i) for i in range(600)]
        for name, sigma in (("cell_a", 0.3), ("cell_b", 0.2)):
            values = numpy.array([e[name] for e in experiments]) - 78
            self.assertLess(abs(values.std() / sigma - 1), 0.12)       # 4 errors
            self.assertLess(abs(values.mean()), 4 * sigma / 24)
        self.assertLess(abs(numpy.mean([e.U for e in experiments], axis=0)).max(), 0.1)

    def test_orientations_are_near_the_given_one(self):
        made = shots(misset_spread=2, jitter=None)
        given = made.given.U
        angles = []
        for i in range(len(made)):
            turned = made.experiment(i).U @ given.T
            angles.append(numpy.degrees(numpy.arccos((numpy.trace(turned) - 1) / 2)))
        self.assertTrue(0.3 < numpy.sqrt(numpy.mean(numpy.square(angles))) < 5, angles)

    def test_crystals_of_a_shot_are_added(self):
        made = shots(crystals=2, noise=None)
        item = made[1]
        self.assertEqual(item["A"].shape, (2, 3, 3))
        alone = [dualbragg.Plan(made.experiment(1, crystal)).forward() for crystal in range(2)]
        self.assertLess(abs(sum(alone) - item["image"]).max(), 1e-3 * item["image"].max())
        self.assertGreater(abs(alone[0] - alone[1]).max(), 0)

    def test_what_cannot_be_is_refused(self):
        for keywords, what in ((dict(jitter={"cel_a": 1}), "cel_a"), (dict(labels=("F",)), "F"), (dict(crystals=0), "crystals"),
                               (dict(seed=-1), "seed"), (dict(jitter={"cell_a": "x"}), "cell_a"),
                               (dict(jitter={"cell_a": -1}), "cell_a: .*found -1"), (dict(misset_spread=-2), "misset_spread"),
                               (dict(vary=3), "vary"), (dict(noise=True), "noise"), (dict(noise={"seed": 1}), "noise")):
            with self.assertRaisesRegex(dualbragg.UsageError, what):
                shots(**keywords)
        with self.assertRaises(IndexError):
            shots()[6]
        with self.assertRaisesRegex(dualbragg.Error, "gain|Random123"):
            shots(noise=dict(gain=0))[0]


@unittest.skipUnless(NOISE, "this build has no Random123")
class Noise(unittest.TestCase):
    def test_defaults_are_the_librarys(self):
        image = numpy.zeros((3, 3), numpy.float32)
        self.assertTrue((dualbragg.noise(image) == 40).all())              # the offset of nanoBragg's images

    def test_photons_are_poisson(self):
        image = numpy.full((300, 200), 7.5, numpy.float32)
        counts = dualbragg.noise(image, 3, adc=0)
        self.assertEqual((counts.dtype, counts.shape), (numpy.int32, image.shape))
        self.assertLess(abs(counts.mean() - 7.5), 5 * (7.5 / counts.size) ** 0.5)
        self.assertLess(abs(counts.var() / 7.5 - 1), 0.03)
        self.assertTrue((counts == dualbragg.noise(image, 3, adc=0)).all())
        self.assertFalse((counts == dualbragg.noise(image, 4, adc=0)).all())

    def test_options_do_what_they_say(self):
        image = numpy.zeros((21, 21), numpy.float32)
        image[10, 10] = 1e6
        plain = dualbragg.noise(image, noisy=False, adc=5, gain=0.05)
        self.assertEqual((plain[10, 10], plain[0, 0]), (50005, 5))
        spread = dualbragg.noise(image, noisy=False, adc=0, gain=0.5, bits=32, psf="gauss", psf_fwhm=3)
        self.assertLess(abs(spread.sum() / 5e5 - 1), 0.01)
        self.assertLess(abs(spread[10, 10] / 5e5 - 0.098), 0.01)       # ln 16 / (pi 9), a little less over a pixel
        both = dualbragg.noise(numpy.stack([image + 5, image + 5]), 2)
        self.assertFalse((both[0] == both[1]).all())

    def test_what_cannot_be_is_refused(self):
        image = numpy.zeros((4, 4), numpy.float32)
        for wrong, keywords, what in ((image, dict(psf="x"), "psf"), (image, dict(gains=1), "gains"), (image[0], {}, "shape"),
                                      (image.astype(float), {}, "float32"), (image, dict(seed=-1), "seed"), (3, {}, "int"),
                                      (image, dict(gain=float("nan")), "gain"), (image, dict(bits=8), "bits")):
            with self.assertRaisesRegex(dualbragg.Error, what):
                dualbragg.noise(wrong, **keywords)


if __name__ == "__main__":
    ending.main()
