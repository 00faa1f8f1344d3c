"""Pictures of images, spots and refinements. Only these functions need matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy

from . import errors
from .experiment import Experiment
from .images import as_image
from .plan import Plan
from .refinement import FitResult, Shot
from .spots import predict
from .tables import needed

if TYPE_CHECKING:
    from ._types import AnyImage

_MOST_DRAWN = 2000  # predicted spots


def _axes(axes: Any, who: str) -> Any:
    pyplot = needed("matplotlib.pyplot", who)
    return axes if axes is not None else pyplot.subplots(figsize=(7, 7))[1]


def plot_spots(what: Experiment | FitResult | Shot, image: AnyImage | None = None, axes: Any = None) -> Any:
    """Draw an image with rings around its spots.

    what: Experiment in closed form: its predicted spots, up to the 2000 brightest; FitResult or Shot: its reflections
        in orange, its shoeboxes in green
    image: name of a file, a MeasuredImage, or counts (slow, fast); None: the model's image
    axes: of matplotlib; None: new ones

    Return the axes. Needs matplotlib (Debian: python3-matplotlib)."""
    axes = _axes(axes, "plot_spots")
    if isinstance(what, Experiment):
        if len(what.panels) > 1:
            raise errors.UsageError(f"plot_spots: expected a detector of one panel, found {len(what.panels)}")
        spots = predict(what)
        spots = spots[numpy.argsort(-spots["photons"])[:_MOST_DRAWN]]
        drawn = [(spots["position"], "tab:orange", "predicted")]
        shown = Plan(what).forward() if image is None else as_image(image).value
    else:
        _check_result(what, "plot_spots")
        drawn = [(what.reflections["position"], "tab:orange", "reflections"),
                 (what.shoeboxes["predicted"], "tab:green", "shoeboxes")]
        shown = what.model_image if image is None else as_image(image).value
    if shown is not None:
        slow, fast = shown.shape
        least, most = numpy.percentile(shown, (5, 99.8))
        axes.imshow(shown, cmap="gray_r", vmin=least, vmax=max(most, least + 1), extent=(0, fast, slow, 0))
    for position, colour, name in drawn:
        axes.scatter(*position.T, s=60, marker="o", facecolors="none", edgecolors=colour, linewidths=0.8,
                     label=f"{name}: {len(position)}")
    axes.set(xlabel="fast (pixels)", ylabel="slow (pixels)", aspect="equal")
    axes.legend(loc="upper right", fontsize="small")
    return axes


def plot_residuals(result: FitResult | Shot, scale: float = 0.0, axes: Any = None) -> Any:
    """Draw the displacement of spots: an arrow from each predicted place along the measured minus the model centroid.
    Its colour is chi2 per pixel of the shoebox. A pattern shows a fault of the model.

    scale: length of an arrow divided by the displacement; 0: so that the median arrow has 3 % of the image
    axes: of matplotlib; None: new ones

    Return the axes. Needs matplotlib (Debian: python3-matplotlib)."""
    axes = _axes(axes, "plot_residuals")
    _check_result(result, "plot_residuals")
    boxes = result.shoeboxes[(result.shoeboxes["pixels_used"] > 0) & numpy.isfinite(result.shoeboxes["centroid_offset"]).all(1)]
    if not len(boxes):
        raise errors.UsageError("plot_residuals: expected a result with shoeboxes, found none in use")
    offset, place = boxes["centroid_offset"], boxes["predicted"]
    typical = numpy.median(numpy.hypot(*offset.T))
    scale = scale or (0.03 * numpy.ptp(place) / typical if typical > 0 else 1.0)
    arrows = axes.quiver(*place.T, *offset.T, boxes["chi2"] / boxes["pixels_used"], angles="xy", scale_units="xy",
                         scale=1 / scale, cmap="viridis", width=0.004)
    axes.figure.colorbar(arrows, ax=axes, label="chi2 of a pixel", shrink=0.8)
    fast, slow = 1.05 * place.max(0)
    axes.set(xlabel="fast (pixels)", ylabel="slow (pixels)", aspect="equal", xlim=(0, fast), ylim=(slow, 0))
    axes.set_title(f"measured minus model, {scale:.3g} times\n(median {typical:.3f} pixels)", fontsize="medium")
    return axes


def plot_correlations(result: FitResult, axes: Any = None) -> Any:
    """Draw the correlations of the refined parameters as a coloured matrix.

    axes: of matplotlib; None: new ones

    Return the axes. Needs matplotlib (Debian: python3-matplotlib)."""
    axes = _axes(axes, "plot_correlations")
    if not isinstance(result, FitResult):
        raise errors.UsageError(f"plot_correlations: expected a FitResult, found {type(result).__name__}")
    names, count = list(result.estimates), len(result.estimates)
    drawn = axes.imshow(result.correlation, cmap="RdBu_r", vmin=-1, vmax=1)
    axes.set_xticks(range(count), names, rotation=90)
    axes.set_yticks(range(count), names)
    for i in range(count if count <= 15 else 0):
        for j in range(count):
            value = result.correlation[i, j]
            if numpy.isfinite(value):
                axes.text(j, i, f"{value:.2f}", ha="center", va="center", fontsize=7, color="white" if abs(value) > 0.6 else "black")
    axes.figure.colorbar(drawn, ax=axes, label="correlation", shrink=0.8)
    return axes


def _check_result(result: Any, who: str) -> None:
    if not isinstance(result, (FitResult, Shot)) or not hasattr(result, "shoeboxes"):
        raise errors.UsageError(f"{who}: expected an Experiment or the result of one image, found {type(result).__name__}"
                                + (" of many" if isinstance(result, (FitResult, Shot)) else ""))
