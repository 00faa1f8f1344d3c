"""usage: mar.py DUALBRAGG SOURCE_DIR, in an empty folder"""
import os
import shutil
import subprocess
import sys

import numpy
from dxtbx import load
from dxtbx.model.experiment_list import ExperimentList

dualbragg, source = sys.argv[1:]
sys.path.insert(0, os.path.join(source, "tests/io"))
import tiff_files  # noqa: E402

pixels = numpy.arange(40 * 40, dtype="u2").reshape(40, 40) % 3000 + 20
tiff_files.mar_ccd("flat_0001.mccd", pixels)
tiff_files.mar_ccd("up_0001.mccd", pixels, twotheta=15)
tiff_files.mar_ccd("down_0001.mccd", pixels, twotheta=-7.5)
shutil.copy(os.path.join(source, "tests/fuzz/corpus/fabio.mar2300"), "plate_0001.mar2300")
failed = False
for name in ("flat_0001.mccd", "up_0001.mccd", "down_0001.mccd", "plate_0001.mar2300"):
    subprocess.run([dualbragg, "sim", "-img", name, *"-cell 60 60 60 90 90 90 -N 1 -default_F 1 -roi 0 1 0 1".split(),
                    "-exptfile", "own.expt", "-floatfile", "own.bin", "--quiet"], check=True)
    own, theirs = ExperimentList.from_file("own.expt", check_format=False)[0], load(name)
    a, b = own.detector[0], theirs.get_detector()[0]
    # dxtbx takes the middle of a mar345 image for the direct beam, not CENTER of the header (15.5, 14.5 pixels)
    shift = numpy.array([0.5 * 0.15, 0.5 * 0.15, 0]) if name.startswith("plate") else 0
    for what, x, y, tolerance in (
        ("pixel", a.get_pixel_size(), b.get_pixel_size(), 1e-12),
        ("size", a.get_image_size(), b.get_image_size(), 0),
        ("fast axis", a.get_fast_axis(), b.get_fast_axis(), 1e-12),
        ("slow axis", a.get_slow_axis(), b.get_slow_axis(), 1e-12),
        ("origin", numpy.array(a.get_origin()) + shift, b.get_origin(), 1e-9),
        ("wavelength", own.beam.get_wavelength(), theirs.get_beam().get_wavelength(), 1e-9),
        ("beam", own.beam.get_s0(), theirs.get_beam().get_s0(), 1e-9),
        ("axis", own.goniometer.get_rotation_axis(), theirs.get_goniometer().get_rotation_axis(), 1e-12),
        ("phi", own.scan.get_oscillation(), theirs.get_scan().get_oscillation(), 1e-9),
    ):
        if not numpy.allclose(x, y, rtol=0, atol=tolerance):
            print(f"{name}: {what}: {x}, dxtbx has {y}")
            failed = True
    theirs.get_raw_data().as_numpy_array().astype("f4").tofile("theirs.f32")
    said = subprocess.run([dualbragg, "compare", name, "theirs.f32"], capture_output=True, text=True)
    # CBFlib, which dxtbx uses, counts the pixels above 65535 from 0 where fabio, which wrote the file, counts from 1:
    # each of three is then one further on, and two have their low bits where they should be (one is overloaded)
    allowed = 5 if name.startswith("plate") else 0
    beyond = int(said.stdout.split(" pixels (")[0].split("\n")[-1]) if " pixels (" in said.stdout else -1
    if not 0 <= beyond <= allowed:
        print(name, said.stdout, said.stderr)
        failed = True
sys.exit(failed)
