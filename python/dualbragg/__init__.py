"""Differentiable diffraction of crystals: images and their exact derivatives.

    import dualbragg

    crystal = dualbragg.Experiment(cell=(78, 78, 38), misset=(10, 20, 30), Ncells=(60, 60, 120), default_F=100,
                                   wavelength=1, fluence=1e25, distance=120, detector_pixels=(512, 512), pixel_size=0.3,
                                   spots="closed", mosaic_rms=0.1, footprint_rms=(0.1, 0.1))
    plan = dualbragg.Plan(crystal, parameters=["cell_a", "misset_x"])
    image, derivatives = plan.gradient()      # 395104 photons; photons/A, photons/degree

Arrays are numpy arrays in C order; the last axis is the detector's fast axis. A call that fails raises an exception with the
library's message: a subclass of dualbragg.Error.
"""

from ._library import features, threads, version
from .amplitudes import Amplitudes
from .batch import Batch
from .errors import (CancelledError, DeviceError, Error, FileError, InputError, OutOfMemoryError,
                     UnsupportedError, UsageError)
from .experiment import Experiment
from .fields import Field, Parameter, fields, parameters
from .geometry import Panel, random_rotation
from .images import MeasuredImage, load
from .orientation import Orientation, find_lattices, find_orientation
from .plan import Plan, Vector
from .plots import plot_correlations, plot_residuals, plot_spots
from .refinement import FitResult, Shot, fit, remove_checkpoint
from .spots import predict
from .tables import to_pandas, to_xarray
from .training import RandomShots, noise

__version__ = version()
__all__ = ["Amplitudes", "Batch", "CancelledError", "DeviceError", "Error", "Experiment", "Field",
           "FileError", "FitResult", "InputError", "MeasuredImage", "Orientation",
           "OutOfMemoryError", "Panel", "Parameter", "Plan", "RandomShots", "Shot", "UnsupportedError",
           "UsageError", "Vector", "features", "fields", "find_lattices", "find_orientation",
           "fit", "load", "noise", "parameters", "plot_correlations", "plot_residuals",
           "plot_spots", "predict", "random_rotation",
           "remove_checkpoint", "threads", "to_pandas", "to_xarray", "version"]
