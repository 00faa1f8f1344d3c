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


def shots(water_size=0, **keywords):
    settings = dict(seed=4, jitter={"cell_a": 0.1, "mosaic_variance": 1e-3}, vary=brighter, labels=("scale", "expected"),
                    noise=dict(gain=2, readout=1) if NOISE else None, mask=stripe, spectrum=("sase", 0.002, 0.001),
                    ranges={"distance": (99, 101)})
    return dualbragg.RandomShots(dualbragg.Experiment(**SCENE, water_size=water_size), 6, **{**settings, **keywords})


def stripe(random):
    """A mask of a random column."""
    mask = numpy.zeros((80, 96), bool)
    mask[:, random.integers(96)] = True
    return mask


def e_sources(made):
    experiment = made.experiment(0)
    beam = experiment._c.beam
    return [(s.wavelength_ratio, s.weight) for s in beam.sources[0:beam.source_count]]


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
        for method in ("fork", "spawn", "forkserver"):
            with multiprocessing.get_context(method).Pool(2) as pool:
                self.assertEqual(pool.map(third, [made, made]), [wanted[3]] * 2, method)
        found = []
        threads = [threading.Thread(target=lambda: found.append([bytes_of(item) for item in made])) for _ in range(3)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(found, [wanted] * 3)

    def test_precision_is_that_of_no_earlier_shot(self):
        scene = dict(SCENE, mosaic_spread=0.5, mosaic_domains=60, oversample=2, pixel_size=0.4, Ncells=(2, 2, 2),
                     detector_pixels=(200, 200))
        del scene["spots"], scene["mosaic_rms"]
        made = [dualbragg.RandomShots(dualbragg.Experiment(**scene), 5, ranges={"Na": (2, 60)}, seed=seed) for seed in (0, 0)]
        self.assertEqual([dualbragg.Plan(made[0].experiment(i)).precision for i in (0, 4)], ["mixed", "double"])
        made[0][0]
        numpy.testing.assert_array_equal(*[each[4]["image"] for each in made])

    def test_shots_differ_and_labels_are_theirs(self):
        made = shots(noise=None, mask=None, spectrum=None, ranges=None)
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
        made = shots(crystals=2, noise=None, mask=None)
        item = made[1]
        self.assertEqual(item["A"].shape, (2, 3, 3))
        alone = [dualbragg.Plan(made.experiment(1, crystal)).forward() for crystal in range(2)]
        self.assertLess(abs(sum(alone) - item["image"]).max(), 1e-3 * item["image"].max())
        self.assertGreater(abs(alone[0] - alone[1]).max(), 0)

    def test_a_shot_has_its_background_once(self):
        wet = {n: shots(crystals=n, noise=None, mask=None, water_size=500) for n in (1, 2)}
        dry = {n: shots(crystals=n, noise=None, mask=None) for n in (1, 2)}
        one, two = ((wet[n][1]["image"].astype(float) - dry[n][1]["image"]).sum() for n in (1, 2))
        self.assertGreater(one, 0)
        self.assertAlmostEqual(two / one, 1, places=3)

    def test_what_the_crystals_of_a_shot_have_in_common(self):
        made = shots(crystals=3, noise=None, jitter={"cell_a": 0.3, "wavelength": 1e-3}, labels=("crystals",), vary=None)
        for i in range(2):
            item, each = made[i], [made.experiment(i, crystal) for crystal in range(3)]
            self.assertEqual({e["wavelength"] for e in each} | {e["distance"] for e in each},
                             {*item["wavelength"].tolist(), *item["distance"].tolist()})
            self.assertEqual([e["cell_a"] for e in each], item["cell_a"].tolist())
            self.assertEqual((len(set(item["cell_a"])), item["crystals"]), (3, 3))
            self.assertTrue(99 <= item["distance"][0] <= 101)
        self.assertNotEqual(made[0]["distance"], made[1]["distance"])

    def test_ranges_are_uniform_and_jitter_stays_possible(self):
        made = dualbragg.RandomShots(dualbragg.Experiment(**SCENE), 400, jitter={"mosaic_variance": 0.02},
                                     ranges={"cell_a": (70, 80), "scale": (1, 1)})
        each = [made.experiment(i) for i in range(400)]
        cells = numpy.array([e["cell_a"] for e in each])
        self.assertLess(abs(cells.mean() - 75), 4 * 2.89 / 20)
        self.assertTrue(70 <= cells.min() < 70.2 and 79.8 < cells.max() <= 80 and all(e["cell_b"] == e["cell_a"] for e in each))
        variances = numpy.array([e["mosaic_variance"] for e in each])      # 0.01 +- 0.02 above 0
        self.assertTrue(0 <= variances.min() < 1e-3)
        self.assertLess(abs(variances.mean() - 0.01 - 0.02 * 0.5092), 4 * 0.0128 / 20)

    def test_kinds_and_numbers_of_crystals(self):
        kinds = [dualbragg.Experiment(**SCENE), dualbragg.Experiment(**dict(SCENE, cell=(60, 70, 80), default_F=50))]
        made = dualbragg.RandomShots(kinds, 60, crystals=(1, 3), labels=["crystals", "kind", "cell_b"])
        counts = {n: 0 for n in (1, 2, 3)}
        for i in range(60):
            item = made[i] if i < 6 else {"crystals": len(made._present(i)), "kind": None}
            counts[int(item["crystals"])] += 1
            if i < 6:
                count, kind = int(item["crystals"]), item["kind"]
                self.assertEqual((item["A"].shape, kind.shape), ((3, 3, 3), (3,)))
                self.assertTrue((kind[:count] >= 0).all() and (kind[count:] == -1).all())
                self.assertEqual(item["cell_b"][:count].tolist(), [(78, 70)[k] for k in kind[:count]])
                self.assertTrue(numpy.isnan(item["A"][count:]).all() and numpy.isnan(item["cell_b"][count:]).all())
                alone = sum(dualbragg.Plan(made.experiment(i, c)).forward() for c in range(count))
                self.assertLess(abs(alone - item["image"]).max(), 1e-3 * alone.max())
        self.assertTrue(all(n > 8 for n in counts.values()), counts)
        self.assertEqual({k for i in range(60) for k in made._present(i)}, {0, 1})

    def test_masks_and_expected_photons(self):
        item = shots(labels=("expected", "mask"))[2]
        self.assertEqual((item["mask"].sum(), item["mask"].dtype), (80, bool))
        self.assertTrue((item["image"][item["mask"]] == -1).all() and (item["expected"][item["mask"]] >= 0).all())
        plain = shots(mask=None, labels=("expected",))[2]
        numpy.testing.assert_array_equal(plain["image"][~item["mask"]], item["image"][~item["mask"]])
        numpy.testing.assert_array_equal(plain["expected"], item["expected"])
        fixed = numpy.zeros((80, 96), numpy.uint8)
        fixed[3, 4] = 1
        self.assertEqual(numpy.argwhere(shots(mask=fixed, noise=None)[0]["image"] == -1).tolist(), [[3, 4]])

    def test_spectra(self):
        made = shots(labels=("spectrum",), jitter=None, vary=None, crystals=2, ranges=None)
        first, second = made[0]["spectrum"], made[1]["spectrum"]
        self.assertEqual(first.shape, second.shape)
        self.assertEqual(abs(first[:, 0] - second[:, 0]).max(), 0)
        self.assertGreater(abs(first[:, 1] - second[:, 1]).max(), 0.1 * first[:, 1].max())
        crystals = [made.experiment(0, c) for c in range(2)]            # one pulse for all crystals
        self.assertEqual(*[[s.weight for s in e._c.beam.sources[0:e._c.beam.source_count]] for e in crystals])
        # of many pulses the mean is a Gaussian of the width that was asked for
        many = dualbragg.RandomShots(dualbragg.Experiment(**SCENE), 300, spectrum=("sase", 0.01, 0.002))
        weights = numpy.array([[s.weight for s in e._c.beam.sources[0:e._c.beam.source_count]]
                               for e in (many.experiment(i) for i in range(300))])
        ratios = 1 / numpy.array(e_sources(many))[:, 0] - 1
        mean = weights.mean(0)
        width = 2.3548 * ((mean * ratios**2).sum() / mean.sum()) ** 0.5
        self.assertLess(abs(width / 0.01 - 1), 0.1)
        self.assertGreater((weights.std(0) / mean)[len(mean) // 2], 0.6)        # spikes: 1 of an exponential distribution

        known = dualbragg.training.bands()
        closed = dualbragg.RandomShots(dualbragg.Experiment(**SCENE), 300, spectrum=("band", "Si(111)", "multilayer"))
        rms = 1e-3 * numpy.array([closed.experiment(i)["bandwidth_variance"] for i in range(300)]) ** 0.5
        ends = [known[n] / 2.3548 for n in ("Si(111)", "multilayer")]
        self.assertTrue(ends[0] <= rms.min() * 1.0001 and rms.max() <= ends[1] * 1.0001)
        self.assertLess(abs(numpy.log(rms).mean() - numpy.log(ends).mean()), 0.3)
        sampled = {k: v for k, v in SCENE.items() if k not in ("spots", "mosaic_rms")}
        e = dualbragg.RandomShots(dualbragg.Experiment(**sampled), 2, spectrum=("band", 0.01)).experiment(1)
        sources = [(1 / s.wavelength_ratio - 1, s.weight) for s in e._c.beam.sources[0:e._c.beam.source_count]]
        total = sum(w for _, w in sources)
        self.assertLess(abs(2.3548 * (sum(w * x * x for x, w in sources) / total) ** 0.5 / 0.01 - 1), 0.01)

    def test_what_cannot_be_is_refused(self):
        for keywords, what in ((dict(jitter={"cel_a": 1}), "cel_a"), (dict(labels=("F",)), "F"), (dict(crystals=0), "crystals"),
                               (dict(seed=-1), "seed"), (dict(jitter={"cell_a": "x"}), "cell_a"),
                               (dict(jitter={"cell_a": -1}), "cell_a: .*found -1"), (dict(misset_spread=-2), "misset_spread"),
                               (dict(vary=3), "vary"), (dict(noise=True), "noise"), (dict(noise={"seed": 1}), "noise"),
                               (dict(ranges={"cell_a": (1, 2)}), "cell_a: .*both"), (dict(ranges={"distance": (2, 1)}), "distance"),
                               (dict(ranges={"mosaic_spread": (-5, -4)}), "mosaic"), (dict(crystals=(3, 2)), "crystals"),
                               (dict(mask=numpy.zeros((2, 2), bool)), "mask: .*80, 96"), (dict(mask=numpy.zeros((80, 96))), "mask"),
                               (dict(spectrum=("laser", 1)), "spectrum"), (dict(spectrum=("band", "Si(999)")), "Si.111.*Si.999"),
                               (dict(spectrum=("sase", 0.5, 0.1)), "below 0.2"), (dict(spectrum=("band", 2e-3, 1e-3)), "least first"),
                               (dict(spectrum=("band", 0.1), labels=("spectrum",)), "labels: .*sase"),
                               (dict(labels="scale"), "labels: .*list"), (dict(jitter=["cell_a"]), "jitter: .*dictionary"),
                               (dict(ranges=3), "ranges: .*dictionary"), (dict(precision="half"), "precision: .*half")):
            with self.assertRaisesRegex(dualbragg.Error, what):
                shots(**keywords)
        for other in (dict(wavelength=1.1), dict(distance=90), dict(pixel_size=0.7), dict(detector_pixels=(80, 96))):
            with self.assertRaisesRegex(dualbragg.Error, "beam and detector of the first"):
                dualbragg.RandomShots([dualbragg.Experiment(**SCENE), dualbragg.Experiment(**{**SCENE, **other})], 2)
        with self.assertRaisesRegex(dualbragg.Error, "mosaic_variance"):
            shots(jitter=None, ranges={"mosaic_variance": (1e-3, 9000)})
        for call in (shots().__getitem__, shots().experiment):
            for beyond in (6, -7):
                with self.assertRaises(IndexError):
                    call(beyond)
        numpy.testing.assert_array_equal(shots().experiment(-1).A, shots()[5]["A"][0])
        for noise in (dict(gain=0), dict(gian=1), dict(psf="x")):
            with self.assertRaisesRegex(dualbragg.Error, "gain|gian|psf|Random123"):
                shots(noise=noise)


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
                                      (image, dict(gain=float("nan")), "gain"), (image, dict(bits=8), "bits"),
                                      (image, dict(bits=16.5), "bits: .*16.5"), (image, dict(noisy=None), "noisy: .*None"),
                                      (image[:0], {}, r"shape .*\(0, 4\)"), (image[:, ::2], {}, "C order")):
            with self.assertRaisesRegex(dualbragg.Error, what):
                dualbragg.noise(wrong, **keywords)


if __name__ == "__main__":
    ending.main()
