"""An installed package renders, and is the one of this folder.

usage: installed.py SITE_PACKAGES"""

import os
import sys

import dualbragg

where = os.path.realpath(dualbragg.__file__)
if not where.startswith(os.path.realpath(sys.argv[1]) + os.sep):
    sys.exit(f"expected the package in {sys.argv[1]}, found {where}")
crystal = dualbragg.Experiment(cell=(78, 78, 38), Ncells=(5, 5, 5), default_F=100, wavelength=1.1, distance=90,
                               detector_pixels=(30, 20), pixel_size=0.4, fluence=1e24)
image, derivatives = dualbragg.Plan(crystal, ["cell_a"]).gradient()
if not (image.shape == (20, 30) and image.max() > 0 and abs(derivatives).max() > 0):
    sys.exit(f"expected an image with derivatives, found the shape {image.shape} and at most {image.max()}")
print(dualbragg.version(), "in", where)
