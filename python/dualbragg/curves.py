"""Refinement of the curves of f' and f'' of each kind of sites, from stills."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any, Iterable, Sequence

import numpy

from . import errors
from ._library import finite
from ._records import Record
from .plan import Plan

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Floats
    from .experiment import Experiment


@dataclasses.dataclass(frozen=True)
class SiteCurves(Record):
    """Result of refine_site_curves.

    curves: by name of the kind, (points, 3) of energy (eV), f' and f'' (electrons)
    errors: by name, (points, 2) standard errors of f' and f''; inf: no image depends on them, the start is kept
    names: of the parameters, "fp:KIND:POINT" and "fdp:KIND:POINT"
    covariance: (names, names), electrons^2
    chi2: sum over pixels of (counts - model)^2/model at the end
    pixels: number of pixels in use
    rounds: steps taken
    settled: True: the last step was below a hundredth of every error"""
    curves: dict[str, Floats]
    errors: dict[str, Floats]
    names: list[str]
    covariance: Floats
    chi2: float
    pixels: int
    rounds: int
    settled: bool


def refine_site_curves(experiments: Sequence[Experiment], images: Iterable[ArrayLike], *,
                       background: float | Sequence[ArrayLike] = 0.0, masks: Iterable[ArrayLike] | None = None,
                       smoothness: float = 0.0, rounds: int = 20, tolerance: float = 1e-3) -> SiteCurves:
    """Refine f' and f'' at all points of the curves that experiments share, against one still for each experiment.

    Orientation, cell, spectrum, scale ... of the experiments are known. Spots are in closed form. All experiments have
    the same kinds of sites and energies (Experiment.site_curves); the first gives the start. Counts are Poisson
    numbers: steps are those of Fisher's scoring, which lead to the most likely curves.

    images: photons, each of its experiment's shape
    background: photons of each pixel, or an image for each still
    masks: an image for each still, 0 for pixels to leave out
    smoothness: weight (eV^4/electrons^2) of squared second differences of the curves, as if points were 1 eV apart;
        above 0 it draws curves towards straight lines, while errors stay those of the data alone
    rounds: largest number of steps
    tolerance: photons that a pixel of the model may lack"""
    experiments = [e.copy() for e in experiments]
    stills = [numpy.array(image, dtype=numpy.float64) for image in images]
    kept = [None] * len(stills) if masks is None else [numpy.asarray(m) != 0 for m in masks]
    if not experiments or len(stills) != len(experiments) or len(kept) != len(stills):
        raise errors.UsageError(f"refine_site_curves: expected an image (and mask) for each of {len(experiments)} "
                                f"experiments, found {len(stills)} and {len(kept)}")
    below = _backgrounds(background, stills)
    smoothness = finite(smoothness, 1, "smoothness")[0]
    if smoothness < 0 or rounds < 1:
        raise errors.UsageError("refine_site_curves: expected a smoothness of at least 0 and a round or more, found "
                                f"{smoothness:g} and {rounds}")
    start = experiments[0].site_curves
    _check(experiments, stills, kept, start)
    names = [f"{curve}:{k}:{i}" for k, c in enumerate(start.values()) for curve in ("fp", "fdp") for i in range(len(c))]
    values = numpy.concatenate([c[:, column] for c in start.values() for column in (1, 2)])
    rough = smoothness * _roughness(start)
    settled, done, problem = False, 0, _Stills(experiments, stills, below, kept, names, tolerance)
    while not settled and done < rounds:
        _, _, gradient, curvature = problem.sums(values)
        seen = numpy.diagonal(curvature) > 1e-12 * numpy.diagonal(curvature).max()
        if not seen.any():
            raise errors.InputError("refine_site_curves: no pixel depends on f' or f''")
        step, _ = _solved(curvature + rough, gradient + rough @ values, seen)
        values = values - step
        _, covariance = _solved(curvature, gradient, seen)
        error = numpy.sqrt(numpy.diagonal(covariance))
        settled = bool((abs(step[seen]) < 0.01 * error[seen]).all())
        done += 1
    chi2, pixels, _, curvature = problem.sums(values)
    _, covariance = _solved(curvature, values, seen)
    error = numpy.where(seen, numpy.sqrt(numpy.diagonal(covariance)), numpy.inf)
    curves, spreads, at = {}, {}, 0
    for name, curve in start.items():
        n = len(curve)
        curves[name] = numpy.stack([curve[:, 0], values[at:at + n], values[at + n:at + 2 * n]], 1)
        spreads[name] = numpy.stack([error[at:at + n], error[at + n:at + 2 * n]], 1)
        at += 2 * n
    return SiteCurves(curves, spreads, names, covariance, chi2, pixels, done, settled)


class _Stills:
    """Sums over all stills at given values. One plan renders stills of the same counts, one after the other."""

    def __init__(self, experiments, stills, below, kept, names, tolerance):
        self._given = list(zip(experiments, stills, below, kept))
        self._names, self._plan, self._tolerance = names, None, tolerance
        self._numbers = [experiments[0]._parameter_number(name) for name in names]

    def _planned(self, experiment):
        try:
            if self._plan is not None:
                self._plan.update(experiment)
                return self._plan
        except errors.UsageError:  # other counts, for example of sources
            pass
        self._plan = Plan(experiment, parameters=self._names, precision="double", dtype=numpy.float64,
                          tolerance=self._tolerance)
        return self._plan

    def sums(self, values):
        """Return chi2, number of pixels, gradient and curvature by the values."""
        chi2, pixels = 0.0, 0
        gradient, curvature = numpy.zeros(len(values)), numpy.zeros((len(values), len(values)))
        for experiment, still, below, kept in self._given:
            experiment.set_values(self._names, self._numbers, values.tolist())
            plan = self._planned(experiment)
            model = plan.forward() + below
            counts = model > 0 if kept is None else kept & (model > 0)
            weight = numpy.where(counts, 1 / numpy.where(counts, model, 1), 0)
            one, g, c = plan.normal(still - below, weight)
            chi2, pixels = chi2 + one, pixels + int(counts.sum())
            gradient += g
            curvature += c
        return chi2, pixels, gradient, curvature


def _backgrounds(background, stills):
    if numpy.ndim(background) == 0:
        value = finite(background, 1, "background")[0]
        if value < 0:
            raise errors.UsageError(f"background: expected photons of at least 0, found {value:g}")
        return [value] * len(stills)
    below = [numpy.asarray(b, dtype=numpy.float64) for b in background]
    if len(below) != len(stills) or any(b.shape != s.shape or not (b >= 0).all() for b, s in zip(below, stills)):
        raise errors.UsageError("background: expected photons of at least 0, an image for each still")
    return below


def _check(experiments, stills, kept, start):
    if not start:
        raise errors.UsageError("refine_site_curves: these structure factors do not depend on the photon energy "
                                "(Experiment(sites=...))")
    for n, (experiment, still, mask) in enumerate(zip(experiments, stills, kept)):
        own = experiment.site_curves
        if list(own) != list(start) or any(not numpy.array_equal(own[k][:, 0], c[:, 0]) for k, c in start.items()):
            raise errors.UsageError(f"still {n}: expected the kinds of sites and energies of the first")
        if still.shape != experiment.shape or (mask is not None and mask.shape != still.shape):
            raise errors.UsageError(f"still {n}: expected an image (and mask) of {experiment.shape}, found {still.shape}")
        used = still if mask is None else still[mask]
        if not numpy.isfinite(used).all():
            raise errors.InputError(f"still {n}: expected finite counts")
        if mask is not None:
            still[~mask] = 0


def _solved(curvature, gradient, seen):
    """Return the step from the minimum, and the inverse of the curvature; both are 0 for parameters that no still sees."""
    part = numpy.ix_(seen, seen)
    size = numpy.sqrt(numpy.diagonal(curvature)[seen])
    inverse = numpy.linalg.pinv(curvature[part] / numpy.outer(size, size), hermitian=True) / numpy.outer(size, size)
    covariance, step = numpy.zeros_like(curvature), numpy.zeros_like(gradient)
    covariance[part] = inverse
    step[seen] = inverse @ gradient[seen]
    return step, covariance


def _roughness(curves):
    """Return the matrix of squared second differences of all curves, in their order."""
    blocks: list[Any] = []
    for curve in curves.values():
        energy = curve[:, 0]
        d = numpy.zeros((max(len(energy) - 2, 0), len(energy)))
        for i in range(len(energy) - 2):
            low, high = energy[i + 1] - energy[i], energy[i + 2] - energy[i + 1]
            d[i, i:i + 3] = numpy.array([1 / low, -1 / low - 1 / high, 1 / high]) * 2 / (low + high)
        blocks += [d.T @ d] * 2
    whole = numpy.zeros((sum(map(len, blocks)),) * 2)
    at = 0
    for block in blocks:
        whole[at:at + len(block), at:at + len(block)] = block
        at += len(block)
    return whole
