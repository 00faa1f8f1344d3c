"""What sim and grad write, and what they read from headers and masks. Standard library only.

usage: files.py EXECUTABLE GOLDEN_FOLDER
"""
import json
import math
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "io"))
import formats  # noqa: E402

program, golden = os.path.abspath(sys.argv[1]), sys.argv[2]
failures = 0
CRYSTAL = "-cell 40 50 60 90 100 90 -misset 10 20 30 -default_F 100 -N 4 -fluence 1e30 -oversample 1".split()
DETECTOR = "-lambda 1.3 -detpixels_f 40 -detpixels_s 30 -pixel 0.5 -distance 70".split()
SMALL = CRYSTAL + DETECTOR
FAST, SLOW = 40, 30
KEYS = ("HEADER_BYTES DIM BYTE_ORDER TYPE SIZE1 SIZE2 PIXEL_SIZE DISTANCE WAVELENGTH BEAM_CENTER_X BEAM_CENTER_Y "
        "ADXV_CENTER_X ADXV_CENTER_Y MOSFLM_CENTER_X MOSFLM_CENTER_Y DENZO_X_BEAM DENZO_Y_BEAM DIALS_ORIGIN XDS_ORGX "
        "XDS_ORGY CLOSE_DISTANCE PHI OSC_START OSC_RANGE TWOTHETA DETECTOR_SN BEAMLINE").split()
with_json = "JSON" in subprocess.run([program, "--version"], capture_output=True, text=True).stdout


def complain(*words):
    global failures
    failures += 1
    print("FAILED:", *words)


def expect(condition, *words):
    if not condition:
        complain(*words)


def run(*arguments, status=0, says=""):
    done = subprocess.run([program] + list(arguments), capture_output=True, text=True)
    if done.returncode != status:
        complain(" ".join(arguments), "exit status %d, expected %d:" % (done.returncode, status), done.stderr.strip())
    if says not in done.stdout + done.stderr:
        complain(" ".join(arguments), "does not say %r: %s%s" % (says, done.stdout, done.stderr))
    return done.stdout


def read(path):
    with open(path, "rb") as file:
        return file.read()


def refused(path_that_must_not_exist, *arguments, says, status=3):
    run(*arguments, status=status, says=says)
    expect(not os.path.exists(path_that_must_not_exist), path_that_must_not_exist, "was left behind")


def close(found, expected, tolerance=1e-9):
    return abs(found - expected) <= tolerance * max(1, abs(expected))


def smv_headers():
    """Names and order are the reference's in both modes; values are those of the numbers given."""
    for mode in [], ["-compat", "-nonoise", "-nopgm"]:
        run("sim", *SMALL, *mode, "-denzo", "-Xbeam", "5", "-Ybeam", "7", "-phi", "3", "-osc", "0.5", "-phisteps", "2",
            "-intfile", "a.img", "-floatfile", "a.f32")
        keys, header, counts = formats.smv("a.img")
        expect([key for key, _ in keys][:len(KEYS)] == KEYS, "order of keys", mode, [key for key, _ in keys])
        expect(all(value.endswith(";") for key, value in keys if key != "DIALS_ORIGIN"), "semicolons", mode)
        values = dict(keys)
        expect(values["DIALS_ORIGIN"].endswith(";") != bool(mode), "semicolon of DIALS_ORIGIN", mode)
        expect(values["BEAMLINE"] == ("fake;" if mode else "dualbragg;"), "BEAMLINE", mode)
        for key, number in {"PIXEL_SIZE": 0.5, "DISTANCE": 70, "WAVELENGTH": 1.3, "BEAM_CENTER_X": 5, "BEAM_CENTER_Y": 7,
                            "ADXV_CENTER_X": 7, "ADXV_CENTER_Y": 10, "MOSFLM_CENTER_X": 4.75, "MOSFLM_CENTER_Y": 6.75,
                            "DENZO_X_BEAM": 5, "DENZO_Y_BEAM": 7, "XDS_ORGX": 14.5, "XDS_ORGY": 10.5,
                            "CLOSE_DISTANCE": 70, "PHI": 3, "OSC_START": 3, "OSC_RANGE": 0.5, "TWOTHETA": 0}.items():
            expect(close(float(header[key]), number), key, header[key], "expected", number, mode)
        origin = [float(word) for word in header["DIALS_ORIGIN"].split(",")]
        expect(all(map(close, origin, (-7, 5, -70))), "DIALS_ORIGIN", origin, mode)
        image = formats.floats("a.f32")
        scale = 55000 / max(image)
        expect(max(abs(count - math.floor(x * scale + 40.5)) for count, x in zip(counts, image)) <= 1, "counts", mode)

    # BEAM_CENTER_X/Y: the user's numbers in the reference's headers, those along slow and fast in ours
    for convention, beam, theirs, ours in (("-adxv", ("6", "4"), (6, 4), (11, 6)), ("-mosflm", ("6", "4"), (6, 4), (6.25, 4.25)),
                                           ("-mosflm", (), (7.75, 10.25), (8, 10.5)), ("-xds", (), (10, 7.5), (7.5, 10))):
        flags = ["-Xbeam", beam[0], "-Ybeam", beam[1]] if beam else []
        for mode, expected in ([], ours), (["-compat", "-nonoise", "-nopgm"], theirs):
            run("sim", *SMALL, *mode, convention, *flags, "-intfile", "a.img", "-floatfile", "a.f32")
            header = formats.smv("a.img")[1]
            found = float(header["BEAM_CENTER_X"]), float(header["BEAM_CENTER_Y"])
            expect(all(map(close, found, expected)), convention, flags, mode, "BEAM_CENTER", found, "expected", expected)

    # long values need another block of 512 bytes
    run("sim", *SMALL, "-compat", "-nonoise", "-nopgm", "-xds", "-ORGX", "24.12345678", "-ORGY", "17.7654321",
        "-twotheta", "15.54321", "-phi", "123.456", "-osc", "0.123456", "-energy", "12345.678", "-detector_rotx", "1.2345",
        "-intfile", "long.img", "-floatfile", "a.f32")
    keys, header, _ = formats.smv("long.img")
    expect(header["HEADER_BYTES"] == "1024", "HEADER_BYTES", header["HEADER_BYTES"])


def golden_files():
    with open(os.path.join(golden, "cases.json")) as file:
        case = next(case for case in json.load(file) if case["id"] == "io_basic")
    arguments = [os.path.join(golden, word) if word.startswith("inputs/") else word for word in case["args"]]
    here = os.getcwd()
    run("sim", "-compat", *arguments, "-nonoise", "-intfile", here + "/g.img", "-pgmfile", here + "/g.pgm", "-floatfile",
        here + "/g.f32")
    expect(read("g.img") == read(os.path.join(golden, case["extra_files"]["int"])), "SMV image unlike the reference's")
    expect(read("g.pgm") == read(os.path.join(golden, case["extra_files"]["pgm"])), "PGM picture unlike the reference's")


def pgm_pictures():
    out = run("sim", *SMALL, "-pgmfile", "a.pgm", "-floatfile", "a.f32", "-scale", "3", "--digits", "12")
    image = formats.floats("a.f32")
    mean = sum(image) / len(image)
    rmsd = math.sqrt(sum((x - mean) ** 2 for x in image) / (len(image) - 1))
    width, height, scale, levels = formats.pgm("a.pgm")
    expect((width, height) == (FAST, SLOW), "PGM of", width, height)
    expect(close(scale, 50 / rmsd, 1e-5), "pgm scale", scale, "expected", 50 / rmsd)
    expect("pgm_scale = " in out, "no word about the PGM's scale")
    exact = 50 / rmsd
    off = [abs(level - min(255, int(x * exact))) for level, x in zip(levels, image)]
    expect(max(off) <= 1 and sum(off) <= 2, "grey levels")
    run("sim", *SMALL, "-pgmscale", "0.125", "-pgmfile", "b.pgm")
    expect(formats.pgm("b.pgm")[2] == 0.125, "user's scale")
    expect(list(formats.pgm("b.pgm")[3]) == [min(255, int(x * 0.125)) for x in image], "grey levels of a user's scale")
    run("sim", *SMALL, "-pgmfile", "dark.pgm", "-nopgm", "-floatfile", "b.f32")
    expect(not os.path.exists("dark.pgm"), "-nopgm after -pgmfile")
    run("sim", *CRYSTAL, *DETECTOR, "-nopgm", "-pgmfile", "c.pgm", "-roi", "10", "19", "5", "8")
    levels = formats.pgm("c.pgm")[3]
    expect(not any(levels[:5 * FAST]) and any(levels[5 * FAST:9 * FAST]) and not any(levels[9 * FAST:]), "region in a PGM")
    refused("d.pgm", "sim", *SMALL, "-pgmfile", "no_folder/d.pgm", says="cannot write there")


def experiment_lists():
    if not with_json:
        refused("a.expt", "sim", *SMALL, "-exptfile", "a.expt", says="no JSON support", status=2)
        return
    os.makedirs("elsewhere", exist_ok=True)
    run("sim", *SMALL, "-osc", "0.5", "-exptfile", "a.expt", "-intfile", "shot_0012.img", "-scale", "2", "-adc", "30")
    with open("a.expt") as file:
        experiments = json.load(file)
    expect(experiments["imageset"][0]["template"] == "shot_####.img", "template", experiments["imageset"])
    expect(experiments["scan"][0]["image_range"] == [12, 12], "image range", experiments["scan"])
    panel = experiments["detector"][0]["panels"][0]
    expect((panel["gain"], panel["pedestal"]) == (2, 30), "gain and pedestal", panel)
    expect(panel["image_size"] == [FAST, SLOW] and panel["pixel_size"] == [0.5, 0.5], "size", panel)
    # mosflm without a beam centre: one pixel beyond the middle
    expect(all(map(close, panel["origin"], (-10.5, 8, -70))), "origin", panel["origin"])
    expect(all(map(close, panel["fast_axis"] + panel["slow_axis"], (1, 0, 0, 0, -1, 0))), "axes", panel)
    a, b, c = (experiments["crystal"][0]["real_space_" + axis] for axis in "abc")
    edges = [math.sqrt(sum(x * x for x in v)) for v in (a, b, c)]
    expect(all(map(close, edges, (40, 50, 60))), "edges", edges)
    expect(close(sum(x * y for x, y in zip(a, c)) / 2400, math.cos(math.radians(100))), "beta", a, c)

    run("sim", *SMALL, "-exptfile", "elsewhere/b.expt", "-intfile", "shot_0012.img")
    with open("elsewhere/b.expt") as file:
        experiments = json.load(file)
    expect(experiments["imageset"][0]["images"] == [os.path.realpath("shot_0012.img")], "path", experiments["imageset"])
    expect(not experiments["scan"], "a still has a scan", experiments["scan"])
    run("sim", *SMALL, "-exptfile", "c.expt", "-intfile", "unnumbered.img", says="only with a number")
    with open("c.expt") as file:
        expect(not json.load(file)["imageset"], "an image that dxtbx cannot read")
    run("sim", *SMALL, "-exptfile", "c.expt")
    refused("d.expt", "sim", *SMALL, "-curved_det", "-exptfile", "d.expt", "-floatfile", "d.f32", says="curved", status=2)
    expect(not os.path.exists("d.f32"), "d.f32 was rendered before the refusal")


def experiment_lists_read():
    """What was written as a list sets up the same experiment; two panels are one below the other."""
    if not with_json:
        refused("r.f32", "sim", *SMALL, "-expt", "a.expt", "-floatfile", "r.f32", says="no JSON support", status=2)
        return
    rest = "-default_F 100 -N 4 -oversample 1 -fluence 1e30".split()
    for flags in ([], "-xds -twotheta 5 -detector_rotx 2".split(), "-denzo -Xbeam 5.1 -Ybeam 6.3".split()):
        run("sim", *SMALL, *flags, "-exptfile", "l.expt", "-floatfile", "l1.f32")
        run("sim", "-expt", "l.expt", *rest, "-floatfile", "l2.f32")
        first, second = formats.floats("l1.f32"), formats.floats("l2.f32")
        expect(all(abs(a - b) < 1e-5 * max(first) for a, b in zip(first, second)), "image by its list", flags)
    with open("l.expt") as file:
        experiments = json.load(file)
    detector = experiments["detector"][0]
    detector["panels"].append(detector["panels"][0])
    detector["hierarchy"]["children"].append({"panel": 1})
    with open("two.expt", "w") as file:
        json.dump(experiments, file)
    out = run("sim", "-expt", "two.expt", *rest, "-floatfile", "two.f32")
    expect("2 panels of %dx%d pixels" % (FAST, SLOW) in out, "number of panels", out)
    both = formats.floats("two.f32")
    expect(len(both) == 2 * len(second) and both[:len(second)] == both[len(second):], "two equal panels")
    expect(all(abs(a - b) < 1e-5 * max(second) for a, b in zip(both, second)), "the first of two panels")
    refused("r.img", "sim", "-expt", "two.expt", *rest, "-intfile", "r.img", says="expected a detector of one panel", status=2)
    refused("r.f32", "sim", "-expt", "l.expt", *rest, "-xds", "-floatfile", "r.f32", says="convention", status=2)
    refused("r.f32", "sim", "-expt", "l.expt", *rest, "-Xbeam", "3", "-floatfile", "r.f32", says="beam centre", status=2)
    refused("r.f32", "sim", "-expt", "l.expt", "-expt_number", "1", *rest, "-floatfile", "r.f32", says="from 0 to 0")


def round_trips():
    """An image given to -img reproduces itself."""
    for flags in ([], "-denzo -Xbeam 5.1 -Ybeam 6.3".split(), "-adxv -Xbeam 5.1 -Ybeam 6.3 -twotheta 12".split(),
                  "-xds -ORGX 12 -ORGY 14.25 -twotheta 5".split(), "-dials -detector_rotx 2 -detector_rotz 1".split(),
                  "-mosflm -twotheta 10 -pivot sample".split(), "-xds -pivot beam -Xbeam 3 -Ybeam 4 -twotheta 4".split(),
                  "-mosflm -close_distance 66 -detector_roty 3".split(), "-phi 7 -osc 0.5 -phisteps 3".split()):
        run("sim", *SMALL, *flags, "-intfile", "r.img", "-floatfile", "r1.f32")
        run("sim", *CRYSTAL, "-img", "r.img", "-floatfile", "r2.f32")
        one, two = formats.floats("r1.f32"), formats.floats("r2.f32")
        expect(len(one) == len(two), "size", flags)
        worst = max(abs(x - y) for x, y in zip(one, two)) / max(one)
        expect(worst < 1e-8, "round trip", flags, worst)
    # flags win, wherever they stand
    run("sim", *SMALL, "-xds", "-twotheta", "5", "-intfile", "r.img")
    for order in ["-img", "r.img", "-distance", "80"], ["-distance", "80", "-img", "r.img"]:
        run("sim", *CRYSTAL, *order, "-floatfile", "r1.f32")
        run("sim", *SMALL, "-xds", "-twotheta", "5", "-distance", "80", "-floatfile", "r2.f32")
        expect(read("r1.f32") == read("r2.f32"), "a distance given beside -img", order)
    run("grad", *CRYSTAL, "-img", "r.img", "-params", "distance", says="rendered image and 1 derivatives")
    run("check", *CRYSTAL, "-img", "r.img", "-params", "distance", "-roi", "10", "19", "5", "8", says="1 of 1 parameters")


def missing_and_bad_headers():
    zeros = [0] * (FAST * SLOW)
    formats.write_smv("bare.img", FAST, SLOW, zeros)
    run("sim", *CRYSTAL, "-img", "bare.img", "-floatfile", "b1.f32",
        says="bare.img: the header states no pixel size, wavelength, distance, beam centre")
    run("sim", *CRYSTAL, "-detpixels_f", str(FAST), "-detpixels_s", str(SLOW), "-floatfile", "b2.f32")
    expect(read("b1.f32") == read("b2.f32"), "a header without geometry leaves the defaults")
    for key, value, says in (("PIXEL_SIZE", "-1", "PIXEL_SIZE"), ("SIZE1", "1e300", "SIZE1"), ("SIZE2", "0", "SIZE2"),
                             ("WAVELENGTH", "blue", "blue"), ("DISTANCE", "nan", "DISTANCE"), ("CONVENTION", "new", "new")):
        formats.write_smv("bad.img", FAST, SLOW, zeros, [(key, value)])
        refused("o", "sim", *CRYSTAL, "-img", "bad.img", "-floatfile", "o", says=says)
    whole = read("bare.img")
    for length in 0, 1, 20, 511, 1023:
        with open("cut.img", "wb") as file:
            file.write(whole[:length])
        refused("o", "sim", *CRYSTAL, "-img", "cut.img", "-floatfile", "o", says="cut.img")
    with open("cut.img", "wb") as file:
        file.write(whole[:1024 + 100])
    refused("o", "sim", *CRYSTAL, "-mask", "cut.img", "-floatfile", "o", says="truncated")
    refused("o", "sim", *CRYSTAL, "-img", "no_such.img", "-floatfile", "o", says="no_such.img")
    refused("o", "sim", *SMALL, "-img", says="-img: expected FILE", status=2)


def masks():
    keys = [("PIXEL_SIZE", "0.5"), ("DISTANCE", "70"), ("WAVELENGTH", "1.3"), ("DENZO_X_BEAM", "8"), ("DENZO_Y_BEAM", "10.5")]
    patterns = {
        "scattered": [int((7 * i + i // 13) % 5 > 0) for i in range(FAST * SLOW)],
        "disc": [int(math.hypot(i % FAST - 20, i // FAST - 15) < 11) for i in range(FAST * SLOW)],
        "frame": [int(i % FAST in (0, FAST - 1) or i // FAST in (0, SLOW - 1)) for i in range(FAST * SLOW)],
        "one": [int(i == 431) for i in range(FAST * SLOW)],
    }
    run("sim", *SMALL, "-floatfile", "whole.f32")
    whole = formats.floats("whole.f32")
    for name, pattern in patterns.items():
        formats.write_smv("mask.img", FAST, SLOW, [257 * p for p in pattern], keys, big_endian=name == "disc")
        out = run("sim", *CRYSTAL, "-mask", "mask.img", "-floatfile", "m.f32", "-intfile", "m.img", "--digits", "12")
        masked = formats.floats("m.f32")
        expect(all(x == (y if p else 0) for x, y, p in zip(masked, whole, pattern)), name, "mask: pixels")
        counts = formats.smv("m.img")[2]
        expect(all(count == 40 for count, p in zip(counts, pattern) if not p), name, "mask: masked pixels are not adc")
        values = [y for y, p in zip(whole, pattern) if p]
        n = len(values)
        mean = sum(values) / n
        rms = math.sqrt(sum(x * x for x in values) / max(1, n - 1))
        rmsd = math.sqrt(sum((x - mean) ** 2 for x in masked) / (len(masked) - 1))
        line = next(line for line in out.splitlines() if line.startswith("mean= "))
        found = [float(word) for word in line.split()[1::2]]
        expect(all(close(x, y, 1e-6) for x, y in zip(found, (mean, rms, rmsd))), name, line, "expected", mean, rms, rmsd)
        expect("max_I = %.6g" % max(values) in run("sim", *CRYSTAL, "-mask", "mask.img", "-floatfile", "m.f32"), name, "maximum")
        run("grad", *CRYSTAL, "-mask", "mask.img", "-params", "distance,misset_x", "-prefix", "mg")
        for image in "mg_image.f32", "mg_distance.f32", "mg_misset_x.f32":
            expect(all(x == 0 for x, p in zip(formats.floats(image), pattern) if not p), name, image, "under the mask")
        expect(any(formats.floats("mg_distance.f32")), name, "derivatives beside the mask")
    formats.write_smv("mask.img", FAST, SLOW, patterns["disc"], keys)
    out = run("sim", *CRYSTAL, "-mask", "mask.img", "-roi", "10", "19", "5", "8", "-floatfile", "m.f32")
    inside = [10 <= i % FAST <= 19 and 5 <= i // FAST <= 8 and patterns["disc"][i] for i in range(FAST * SLOW)]
    expect(all(x == (y if p else 0) for x, y, p in zip(formats.floats("m.f32"), whole, inside)), "mask and region")
    refused("o", "sim", *CRYSTAL, "-mask", "mask.img", "-roi", "0", "3", "0", "3", "-floatfile", "o", says="-mask mask.img")
    refused("o", "sim", *SMALL, "-mask", "mask.img", "-detpixels_f", "41", "-floatfile", "o",
            says="expected a mask of the detector's 41 x 30 pixels, found 40 x 30")
    with open("text.img", "w") as file:
        file.write("a mask\n")
    refused("o", "sim", *SMALL, "-mask", "text.img", "-floatfile", "o", says="text.img")
    formats.write_smv("nothing.img", FAST, SLOW, [0] * (FAST * SLOW), keys)
    refused("o", "sim", *CRYSTAL, "-mask", "nothing.img", "-floatfile", "o", says="leaves pixels")

    # the image's header counts after that of the mask
    run("sim", *SMALL, "-lambda", "1.2", "-intfile", "other.img")
    run("sim", *CRYSTAL, "-mask", "mask.img", "-img", "other.img", "-intfile", "both.img")
    expect(formats.smv("both.img")[1]["WAVELENGTH"] == "1.2", "-img after -mask")


def reference_headers():
    """The reference's way with headers: Y upside down for masks, two-theta passed over, the last place of a key."""
    keys = [("PIXEL_SIZE", "0.5"), ("DISTANCE", "70"), ("WAVELENGTH", "1.3"), ("BEAM_CENTER_X", "6"), ("BEAM_CENTER_Y", "4"),
            ("DENZO_X_BEAM", "1"), ("DENZO_Y_BEAM", "1"), ("CLOSE_DISTANCE", "68"), ("TWOTHETA", "10")]
    formats.write_smv("ref.img", FAST, SLOW, [1] * (FAST * SLOW), keys)
    quiet = ["-compat", "-nonoise", "-nopgm", "-intfile", "x.img"]
    for flag, y in ("-img", "4"), ("-mask", "11"):
        run("sim", *CRYSTAL, flag, "ref.img", *quiet, "-floatfile", "c1.f32")
        run("sim", *CRYSTAL, *DETECTOR, "-close_distance", "68", "-Xbeam", "6", "-Ybeam", y, *quiet, "-floatfile", "c2.f32")
        expect(read("c1.f32") == read("c2.f32"), "compat", flag)
        header = formats.smv("x.img")[1]
        expect((header["BEAM_CENTER_X"], header["BEAM_CENTER_Y"]) == ("6", y), "compat", flag, "beam centre", header)
        expect(header["TWOTHETA"] == "0", "compat", flag, "two-theta")


def main():
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        for test in (smv_headers, golden_files, pgm_pictures, experiment_lists, experiment_lists_read, round_trips,
                     missing_and_bad_headers, masks, reference_headers):
            test()
        os.chdir("/")
    sys.exit(1 if failures else 0)


main()
