"""Experiments: crystal, beam, spindle, detector, structure factors."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Callable, Iterable, Iterator

import numpy

from . import _former, _html, errors
from ._library import (array, check, encoded, ffi, finite, indices, integer, lib, new_context, noticing, pointer,
                       text)
from ._records import Record
from ._structs import copied, numbers, packed, plain, records, table
from .fields import parameters
from .geometry import Geometry

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray
    from typing_extensions import Unpack

    from ._keywords import Keywords
    from ._types import Floats, Memory, Path

# Keywords that name files, and their members of db_setup.
_FILES = {"matrix": "matrix_file", "hkl": "hkl_file", "sources": "source_file",
          "spectrum": "spectrum_file", "stol": "stol_file"}
_TEXTS = {"hkl_columns": "hkl_columns", "hkl_space_group": "hkl_space_group", "sites": "sites"}
# Keywords with numbers that are no fields of the library's table, and the count of their numbers.
_NUMBERS = {"Xbeam": 1, "Ybeam": 1, "orientation": 9, "sample_size": 3, "detector_size": 2, "dmin": 1,
            "beamsize": 1, "origin": 3, "amorphous_size": 3, "density": 1, "molecular_weight": 1}
_LAYER_DEPTHS = ("mean", "front")  # of the sensor: 0 and 1 of db_setup.layers_at_front
_FORMER = {"cells": ("Ncells",), "d_min": ("dmin",), "beam_centre": ("Xbeam", "Ybeam")}  # former names of keywords
# Keys of configurations that are no keywords, and what to write instead.
_ELSEWHERE = {"geometry": "header=FILE takes the geometry of an image", "symmetry": "fit(model=dict(symmetry=...)) keeps it",
              "energy": "wavelength=12398.42 / energy in eV",
              "find_orientation": "dualbragg.find_orientation and fit(model=dict(find_orientation=True)) find it"}
_MOST_SHOWN = 1 << 24  # pixels: largest image that a notebook renders, with spots in closed form, which is fast
_KINDS = {lib.DB_FIELD_NUMBER: "double", lib.DB_FIELD_INTEGER: "int"}


def _set_choice(setup: Any, field: Any, name: str, value: Any) -> None:
    choices: list[str] = []
    while field.choices[len(choices)] != ffi.NULL:
        choices.append(text(field.choices[len(choices)]))
    if value not in choices:
        raise errors.UsageError(f"{name}: expected one of {', '.join(choices)}, found {value!r}")
    at = ffi.cast("char *", setup) + field.offset
    ffi.cast("int *", at)[0] = choices.index(value)


def _set_field(setup: Any, field: Any, name: str, value: Any) -> None:
    """Store values of a field; db_setup_resolve checks their range."""
    if field.kind == lib.DB_FIELD_CHOICE:
        if isinstance(value, bool):
            value = "yes" if value else "no"
        return _set_choice(setup, field, name, value)
    if field.kind == lib.DB_FIELD_SEED:
        at = ffi.cast("long *", ffi.cast("char *", setup) + field.offset)
        at[0] = integer(value, name, 8 * ffi.sizeof("long"))
        return None
    values = finite(value, field.count, name, field.fewest or None)
    for v in values:
        if field.kind != lib.DB_FIELD_NUMBER and v != int(v):
            raise errors.UsageError(f"{name}: expected a whole number, found {v:g}")
        if field.kind == lib.DB_FIELD_INTEGER and integer(int(v), name) == field.open < field.least:  # would be left open
            raise errors.InputError(f"{name}: expected a whole number from {field.least:g}, found {v:g}")
    at = ffi.cast(_KINDS[field.kind] + " *", ffi.cast("char *", setup) + field.offset)
    for i, v in enumerate(values):
        at[i] = v * field.factor if field.kind == lib.DB_FIELD_NUMBER else int(v)


def _set_number(setup: Any, name: str, value: Any) -> None:
    values = finite(value, _NUMBERS[name], name)
    if name in ("Xbeam", "Ybeam"):
        setup.beam_centre["XY".index(name[0])] = values[0]
    elif _NUMBERS[name] == 1:
        setattr(setup, name, values[0])
    else:
        setattr(setup, name, list(values))


def _present(keywords: dict[str, Any]) -> dict[str, Any]:
    """Return the keywords by their present names."""
    for former in keywords.keys() & _FORMER.keys():
        now = _FORMER[former]
        for name in now:
            if name in keywords:
                raise errors.UsageError(f"Experiment: {former} is the former keyword of {name}; expected one of them")
        _former.told(f"{former}= is called {', '.join(f'{name}=' for name in now)} now")
        value = keywords.pop(former)
        keywords.update(zip(now, finite(value, len(now), former) if len(now) > 1 else (value,)))
    return keywords


def _set(setup: Any, name: str, value: Any, borrowed: Callable[[Path, str], Any]) -> None:
    """Store the value of a keyword. borrowed: function that keeps a text for C."""
    field = lib.db_setup_field_find(name.encode())
    if name in _FILES or name in _TEXTS:
        setattr(setup, {**_FILES, **_TEXTS}[name], borrowed(value, name))
    elif field != ffi.NULL:
        _set_field(setup, field, name, value)
    elif name == "layer_depth":
        if value not in _LAYER_DEPTHS:
            raise errors.UsageError(f"layer_depth: expected 'mean' or 'front', found {value!r}")
        setup.layers_at_front = _LAYER_DEPTHS.index(value)
    elif name in _NUMBERS:
        _set_number(setup, name, value)
    else:
        raise errors.UsageError(f"Experiment: there is no keyword {name!r}{_nearest(name)}")


class Experiment(Geometry, Record):
    """Experiment: crystal, beam, spindle, detector and structure factors of an image.

    Keywords are the library's fields, with their names and units. dualbragg.fields() lists them: cell (A, degree),
    distance (mm), wavelength (A), misset (degree), mosaic_spread (degree) ... Further keywords:

    hkl, hkl_columns, hkl_space_group: file of structure factors (text, MTZ, CIF, PDB), its columns and space group
    sites: kinds of sites in the coordinates of hkl whose scattering depends on the photon energy: SITES=CURVE,
        separated by commas, such as "FES:FE1=reduced.tsv,FES:FE2=table:2"
    matrix: file with a MOSFLM orientation matrix
    orientation: 9 numbers of a rotation matrix, row by row
    sources, spectrum, stol: files of sources, of a spectrum, of amplitudes of amorphous matter
    header: image whose header gives the places of detector, beam and spindle
    expt, expt_number, expt_frame: DIALS list, number of an experiment in it, and image of its scan
    Xbeam, Ybeam: beam centre (mm) of nanoBragg's flags, whose meaning depends on the convention; beam_centre_px (pixels
        along fast and slow) has one meaning in all conventions
    origin: m
    sample_size, detector_size, beamsize: mm
    dmin: A
    amorphous_size, density, molecular_weight: mm, g/cm^3, g/mol
    layer_depth: depth at which a layer of the sensor records photons: "mean", where it absorbs on average, or "front",
        as in nanoBragg

    experiment["cell_a"] reads and sets a parameter, in its unit; images have derivatives by parameters. Lattice,
    orientation, beam and panels are arrays: A, U, unit_cell, quaternion, s0, panels ...

    notices: list of lines about automatic choices, and about contents of files that are doubtful or not used

    Many threads may read an experiment while none changes it. Copies and pickles contain all values; they do not need
    the files."""

    def __init__(self, *, header: Path | None = None, expt: Path | None = None, expt_number: int = -1,
                 expt_frame: int = 0, **keywords: Unpack[Keywords]) -> None:
        context = new_context()
        setup = ffi.new("db_setup *")
        lib.db_setup_init(setup)
        setup.layers_at_front = _LAYER_DEPTHS.index("mean")
        given = _present(dict(keywords))
        if expt is None and (expt_number, expt_frame) != (-1, 0):
            raise errors.UsageError("expt_number, expt_frame: expected expt, the list of experiments, beside them")
        keep: list[Any] = []
        self.notices: list[str] = []

        def borrowed(path: Path, what: str) -> Any:
            keep.append(ffi.new("char[]", encoded(path, what)))
            return keep[-1]

        with noticing(context, self.notices) as user:
            if header is not None:
                check(context, lib.db_setup_read_header(context, encoded(header, "header"),
                                                        lib.DB_HEADER_OF_IMAGE, setup,
                                                        lib.take_notice, user))
            if expt is not None:
                setup.expt_frame = integer(expt_frame, "expt_frame")
                check(context, lib.db_setup_read_expt(context, borrowed(expt, "expt"),
                                                      integer(expt_number, "expt_number"), ffi.NULL,
                                                      setup, lib.take_notice, user))
            for name, value in given.items():
                _set(setup, name, value, borrowed)
            if "wavelength" in keywords:
                setup.wavelength_given = 1
            self._c = _new_experiment()
            check(context, lib.db_setup_resolve(context, setup, self._c, lib.take_notice, user))
        self._check()

    @classmethod
    def from_expt(cls, path: Path, number: int = -1, **keywords: Unpack[Keywords]) -> Experiment:
        """Return the experiment of a DIALS list (.expt).

        number: of the experiment in the list, from 0; -1: the only one
        keywords: as for Experiment, for values that the list lacks"""
        return cls(expt=path, expt_number=number, **keywords)

    def to_expt(self, path: Path) -> None:
        """Write a DIALS experiment list. Lists have no position of the crystal; a UserWarning says so if it is not 0."""
        context = new_context()
        check(context, lib.db_write_expt(context, encoded(path), self._c, ffi.NULL))
        if any(self._c.crystal.position):
            _former.told(f"{path} leaves out the position of the crystal, which experiment lists do not have", UserWarning)

    def write_matrix(self, path: Path) -> None:
        """Write the crystal's orientation matrix in MOSFLM's format."""
        context = new_context()
        check(context, lib.db_write_mosflm_matrix(context, encoded(path), self._c))

    def write_smv(self, path: Path, image: NDArray[numpy.float32], scale: float = 1.0, adc: float = 0.0) -> None:
        """Write an image of one panel as SMV, with this experiment in its header.

        image: photons, (slow, fast) float32; the file has image * scale + adc, rounded, from 0 to 65535
        scale: ADU per photon; 0: so that the brightest pixel has 55000
        adc: offset, ADU"""
        array(image, "image", self.shape, numpy.float32)
        context = new_context()
        check(context, lib.db_write_smv(context, encoded(path), self._c, pointer(image, "float *"),
                                        finite(scale, 1, "scale")[0], finite(adc, 1, "adc")[0],
                                        ffi.NULL))

    def copy(self) -> Experiment:
        """Return an independent copy."""
        return self.copy_of(self._c, self.notices)

    @classmethod
    def copy_of(cls, c: Any, notices: Iterable[str] = ()) -> Experiment:
        """Return an independent copy of a db_experiment of the library."""
        made = object.__new__(cls)
        made.notices = list(notices)
        made._c = _new_experiment()
        context = new_context()
        check(context, lib.db_experiment_copy(context, c, made._c))
        return made

    def without_list(self) -> Experiment:
        """Return a copy without structure factors, for a shot of a batch: the batch has them."""
        borrowed = ffi.new("db_experiment *", self._c[0])
        borrowed.structure_factors.amplitude = ffi.NULL
        borrowed.structure_factors.sites = ffi.NULL
        borrowed.structure_factors.extent = [0, 0, 0]
        return self.copy_of(borrowed)

    def __getstate__(self) -> dict[str, Any]:
        c = self._c
        factors, matter = c.structure_factors, c.background
        count = math.prod(factors.extent) if factors.amplitude != ffi.NULL else 0
        lists: dict[str, Any] = dict(
            sources=packed(table(c.beam.sources, c.beam.source_count, "db_source")),
            panels=packed(table(c.detector.panels, c.detector.panel_count, "db_panel")),
            amplitudes=numbers(factors.amplitude, count),
            amorphous=[numbers(matter.stol, matter.count), numbers(matter.amplitude, matter.count)])
        if factors.sites != ffi.NULL:
            part = self.site_parts
            lists.update(parts=part.view(float).ravel(), curves={n: c.ravel() for n, c in self.site_curves.items()})
        return {**self.__dict__, "_c": (packed(table(c, 1, "db_experiment")), lists)}

    def __setstate__(self, state: dict[str, Any]) -> None:
        values, lists = state["_c"]
        self.__dict__.update(state)
        self._c = c = _new_experiment()
        context = new_context()
        check(context, lib.db_experiment_init(context, c))
        copied(values, c, "db_experiment")
        for set_list, name in ((lib.db_experiment_set_sources, "source"), (lib.db_experiment_set_panels, "panel")):
            given = lists[name + "s"]
            made = ffi.new(f"db_{name}[]", max(len(given), 1))
            copied(given, made, f"db_{name}")
            check(context, set_list(context, c, made, len(given)))
        factors, listed = c.structure_factors, c.structure_factors.listed
        self._check_lists(lists)
        if len(lists["amplitudes"]):
            check(context, lib.db_experiment_set_amplitudes(context, c, factors.min, factors.extent,
                                                            ffi.from_buffer("double[]", lists["amplitudes"])))
            factors.listed = listed
        if len(lists.get("parts", ())):
            curves = {name: numpy.reshape(curve, (-1, 3)) for name, curve in lists["curves"].items()}
            self._set_site_kinds(numpy.asarray(lists["parts"], dtype=float), curves)
            copied_amplitudes = ffi.from_buffer("double[]", lists["amplitudes"])
            ffi.memmove(factors.amplitude, copied_amplitudes, ffi.sizeof(copied_amplitudes))
        stol, amplitude = (ffi.from_buffer("double[]", given) for given in lists["amorphous"])
        check(context, lib.db_experiment_set_amorphous(context, c, stol, amplitude, len(lists["amorphous"][0])))
        self._check()

    def _check_lists(self, lists: dict[str, Any]) -> None:
        """Raise UsageError unless lists of structure factors and of amorphous matter have as many numbers as the library
        will read."""
        box = math.prod(max(0, n) for n in self._c.structure_factors.extent)
        wanted = {"amplitudes": box if len(lists["amplitudes"]) else 0,
                  "parts": 2 * box * (1 + len(lists["curves"])) if len(lists.get("parts", ())) else 0}
        for name, count in wanted.items():
            if len(lists.get(name, ())) != count:
                raise errors.UsageError(f"{name}: expected {count} numbers, found {len(lists[name])}")
        places, values = map(len, lists["amorphous"])
        if places != values:
            raise errors.UsageError(f"amorphous: expected as many amplitudes as places, found {values} and {places}")

    def _check(self) -> None:
        context = new_context()
        check(context, lib.db_experiment_check(context, self._c))

    def _parameter(self, name: str) -> int:
        number = self._parameter_number(name)
        if not lib.db_parameter_exists(self._c, number):
            raise errors.UsageError(f"parameter {name}: this experiment does not have it")
        return number

    @staticmethod
    def _parameter_number(name: str) -> int:
        context, out = new_context(), ffi.new("db_parameter *")
        if not isinstance(name, str):
            raise errors.UsageError(f"parameter: expected a name, found {name!r}")
        with noticing(context, []):
            check(context, lib.db_parameter_find(context, name.encode(), out))
        number: int = out[0]
        return number

    def __contains__(self, name: str) -> bool:
        """Return whether the experiment has the parameter."""
        try:
            self._parameter(name)
        except errors.UsageError:
            return False
        return True

    def __iter__(self) -> Iterator[str]:
        """Iterate over the names of its parameters."""
        return iter(self.values)

    def __getitem__(self, name: str) -> float:
        """Return the value of a parameter, in its unit."""
        value: float = lib.db_parameter_get(self._c, self._parameter(name))
        return value

    def __setitem__(self, name: str, value: float) -> None:
        """Set a parameter, in its unit. Raise an exception and change nothing if the experiment cannot have the value."""
        parameter = self._parameter(name)
        before = lib.db_parameter_get(self._c, parameter)
        lib.db_parameter_set(self._c, parameter, finite(value, 1, name)[0])
        try:
            self._check()
        except errors.Error:
            lib.db_parameter_set(self._c, parameter, before)
            raise

    def set_values(self, names: Iterable[str], numbers: Iterable[int], values: Iterable[float]) -> None:
        """Set several parameters. After an exception, parameters that were set keep their new values.

        names: of the parameters
        numbers: of the parameters, in the library's table
        values: in the units of the parameters"""
        for name, number, value in zip(names, numbers, values):
            if not math.isfinite(value):
                raise errors.UsageError(f"{name}: expected a finite number, found {value!r}")
            lib.db_parameter_set(self._c, number, value)
        self._check()

    @property
    def values(self) -> dict[str, float]:
        """Values of all parameters that this experiment has, by name, in their units."""
        return {name: self[name] for name in parameters(self)}

    parameters: property = _former.attribute("parameters", "values")

    @property
    def panel_shapes(self) -> list[tuple[int, int]]:
        """Pixels (slow, fast) of each panel."""
        d = self._c.detector
        return [(d.panels[p].slow_pixels, d.panels[p].fast_pixels) for p in range(d.panel_count)]

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of images: (slow, fast) of one panel; (panels, slow, fast) of panels with equal shapes; else (pixels,),
        panel after panel."""
        panels = self.panel_shapes
        if len(panels) == 1:
            return panels[0]
        if len(set(panels)) == 1:
            return (len(panels), *panels[0])
        return (sum(slow * fast for slow, fast in panels),)

    def set_amplitudes(self, hkl: ArrayLike, amplitude: ArrayLike, default_F: float | None = None) -> None:
        """Replace the list of structure factors.

        hkl: (reflections, 3) whole numbers
        amplitude: (reflections,) electrons
        default_F: amplitude of other reflections, electrons; None: unchanged"""
        index = indices(hkl, "reflections")
        values = finite(amplitude, len(index), "amplitude")
        low, extent = index.min(0), numpy.ptp(index, 0) + 1
        if numpy.prod(extent.astype(float)) > 1e9:
            raise errors.UsageError("hkl: expected indices within a box of at most 1e9")
        if default_F is not None:
            default_F = finite(default_F, 1, "default_F")[0]
        else:
            default_F = self._c.structure_factors.default_F
        box = numpy.full(tuple(extent), default_F)
        at = tuple((index - low).T)
        box[at] = values
        if (twice := numpy.flatnonzero(box[at] != values)).size:
            one = twice[0]
            raise errors.UsageError(f"hkl: {tuple(index[one].tolist())} is listed twice, with {values[one]:g} and "
                                    f"{box[at][one]:g}")
        context = new_context()
        check(context, lib.db_experiment_set_amplitudes(
            context, self._c, [int(v) for v in low], [int(v) for v in extent],
            ffi.from_buffer("double[]", box)))
        self._c.structure_factors.default_F = default_F
        self._c.structure_factors.listed = len(index)

    @property
    def site_curves(self) -> dict[str, NDArray[numpy.float64]]:
        """Curves of f' and f'' of each kind of sites, by name: (points, 3) of energy (eV), f' and f'' (electrons),
        copied. {} if the structure factors do not depend on the photon energy.

        Their parameters are "fp:KIND:POINT" and "fdp:KIND:POINT", numbers from 0."""
        sites = self._c.structure_factors.sites
        if sites == ffi.NULL:
            return {}
        kinds = [sites.kind[k] for k in range(sites.count)]
        return {text(k.name): numpy.stack([numbers(v, k.count) for v in (k.energy, k.f_prime, k.f_second)], 1)
                for k in kinds}

    @property
    def site_parts(self) -> NDArray[numpy.complex128]:
        """Structure factors of the rest and geometric factors G of each kind of sites, in the box of Miller indices
        that begins at box_start: (h, k, l, 1 + kinds) complex, copied.

        F(E) = rest + sum over kinds of (f'(E) + i f''(E)) G"""
        sites, extent = self._c.structure_factors.sites, tuple(self._c.structure_factors.extent)
        if sites == ffi.NULL:
            raise errors.UsageError("site_parts: the structure factors do not depend on the photon energy")
        each = 1 + sites.count
        parts: NDArray[numpy.complex128] = numbers(sites.part, 2 * each * math.prod(extent)).view(complex)
        return parts.reshape(*extent, each)

    @property
    def box_start(self) -> tuple[int, ...]:
        """Least h, k, l of the box of structure factors."""
        return tuple(self._c.structure_factors.min)

    def set_site_curve(self, name: str, curve: ArrayLike) -> None:
        """Replace the curve of a kind of sites.

        curve: (points, 3) of energy (eV, ascending), f' and f'' (electrons)"""
        curves = self.site_curves
        if name not in curves:
            raise errors.UsageError(f"set_site_curve: expected one of {list(curves)}, found {name!r}")
        curves[name] = _curve(name, curve)
        self._set_site_kinds(self.site_parts.view(float).ravel(), curves)

    def set_site_kinds(self, hkl: ArrayLike, parts: ArrayLike, curves: dict[str, ArrayLike]) -> None:
        """Replace the structure factors by arrays that depend on the photon energy.

        hkl: (reflections, 3) whole numbers; Friedel mates have a line each
        parts: (reflections, 1 + kinds) complex: F of the rest (electrons), and the geometric factor of each kind
        curves: name of each kind and its curve, (points, 3) of energy (eV, ascending), f' and f'' (electrons); it must
            cover the energies of all sources

        Other reflections have default_F."""
        parts = numpy.asarray(parts, dtype=complex)
        if parts.ndim != 2 or parts.shape[1] != 1 + len(curves) or not numpy.isfinite(parts).all():
            raise errors.UsageError(f"parts: expected finite numbers of the shape (reflections, {1 + len(curves)}), "
                                    f"found {parts.shape}")
        made = self.copy()
        made.set_amplitudes(hkl, abs(parts[:, 0]))
        box = numpy.zeros((*made._c.structure_factors.extent, parts.shape[1]), complex)
        box[..., 0] = made._c.structure_factors.default_F
        index = indices(hkl, "reflections")
        at = tuple((index - made.box_start).T)
        box[at] = parts
        if (box[at] != parts).any():
            wrong = index[(box[at] != parts).any(axis=1)][0]
            raise errors.UsageError(f"hkl: reflection {', '.join(map(str, wrong))} has two lines with different parts")
        made._set_site_kinds(box.view(float).ravel(), {name: _curve(name, c) for name, c in curves.items()})
        self._c = made._c

    def _set_site_kinds(self, parts: Floats, curves: dict[str, Floats]) -> None:
        if not 1 <= len(curves) <= lib.DB_MOST_SITE_KINDS:
            raise errors.UsageError(f"sites: expected 1 to {lib.DB_MOST_SITE_KINDS} kinds, found {len(curves)}")
        parts = numpy.ascontiguousarray(parts)
        sites = ffi.new("db_site_kinds *", {"count": len(curves), "part": ffi.from_buffer("double[]", parts)})
        keep = []
        for kind, (name, curve) in zip(sites.kind, curves.items()):
            encoded_name = encoded(name)
            if len(encoded_name) >= len(kind.name):
                raise errors.UsageError(f"sites: expected a name below {len(kind.name)} characters, found {name!r}")
            kind.name = encoded_name
            kind.count = len(curve)
            columns = [numpy.ascontiguousarray(c) for c in numpy.asarray(curve, dtype=float).T]
            keep.append(columns)
            kind.energy, kind.f_prime, kind.f_second = (ffi.from_buffer("double[]", c) for c in columns)
        context = new_context()
        check(context, lib.db_experiment_set_site_kinds(context, self._c, sites))

    def to_dict(self) -> dict[str, Any]:
        """Return all values as a dictionary that json takes; from_dict makes the same experiment from it."""
        values, lists = self.__getstate__()["_c"]
        return dict(experiment=plain(values[0]), notices=list(self.notices),
                    **{name: [plain(row) for row in lists[name]] for name in ("sources", "panels")},
                    amplitudes=lists["amplitudes"].tolist(), amorphous=[v.tolist() for v in lists["amorphous"]],
                    parts=lists["parts"].tolist() if "parts" in lists else [],
                    curves={name: c.tolist() for name, c in lists.get("curves", {}).items()})

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Experiment:
        """Return the experiment of a dictionary made by to_dict."""
        made = object.__new__(cls)
        try:
            lists = {name: records(values[name], f"db_{name[:-1]}") for name in ("sources", "panels")}
            numbers_of = [numpy.array(v, dtype=float) for v in (values["amplitudes"], *values["amorphous"])]
            state = dict(notices=[str(n) for n in values["notices"]],
                         _c=(records([values["experiment"]], "db_experiment"),
                             dict(lists, amplitudes=numbers_of[0], amorphous=numbers_of[1:],
                                  parts=numpy.array(values.get("parts", []), dtype=float),
                                  curves=values.get("curves", {}))))
        except (KeyError, TypeError, ValueError) as error:
            raise errors.UsageError(f"from_dict: expected a dictionary made by to_dict: {error!r}") from None
        made.__setstate__(state)
        return made

    def _rows(self) -> list[tuple[str, str, str]]:
        """Return cell and geometry as rows of a notebook's table."""
        shown = [("cell", " ".join(f"{v:.6g}" for v in self.unit_cell), "\u00c5, \u00b0")]
        shown += [(name, f"{self[name]:g}", parameters()[name].unit)
                  for name in ("misset_x", "misset_y", "misset_z", "wavelength", "distance", "mosaic_spread")
                  if lib.db_parameter_exists(self._c, self._parameter_number(name))]
        return [*shown, ("images", " x ".join(map(str, self.shape)), "pixels"),
                ("pixel", " x ".join(f"{v:.6g}" for v in self.panels[0].pixel_size), "mm")]

    def _repr_html_(self) -> str:
        quick = self._c.spread.spots == lib.DB_SPOTS_CLOSED and math.prod(self.shape) <= _MOST_SHOWN
        return _html.rows("Experiment", self._rows()) + (_html.pictures(self._image()) if quick else "")

    def _image(self) -> Memory:
        from .plan import Plan
        return Plan(self).forward()

    def __repr__(self) -> str:
        c = self._c.crystal
        cell = " ".join(f"{v:g}" for v in c.cell)
        return (f"<dualbragg.Experiment: cell {cell}, {self._c.beam.wavelength:g} A, images of "
                f"{' x '.join(map(str, self.shape))}>")


def need_experiment(value: Any, what: str = "experiment") -> Experiment:
    """Return the value if it is an Experiment; else raise UsageError."""
    if not isinstance(value, Experiment):
        raise errors.UsageError(f"{what}: expected a dualbragg.Experiment, found {type(value).__name__}")
    return value


def _curve(name: str, curve: ArrayLike) -> Floats:
    curve = numpy.asarray(curve, dtype=float)
    if curve.ndim != 2 or curve.shape[1] != 3:
        raise errors.UsageError(f"curve of {name}: expected the shape (points, 3), energy (eV), f' and f'', found "
                                f"{curve.shape}")
    return curve


def _new_experiment() -> Any:
    return ffi.gc(ffi.new("db_experiment *"), lib.db_experiment_clear)


def _nearest(name: str) -> str:
    import difflib

    from .fields import fields
    if name in _ELSEWHERE:
        return f"; {_ELSEWHERE[name]}"
    known = [*fields(), *_FILES, *_TEXTS, *_NUMBERS, "header", "expt", "layer_depth"]
    near = difflib.get_close_matches(name, known, 1)
    return f"; did you mean {near[0]!r}?" if near else "; dualbragg.fields() lists them"
