"""Lattice, orientation, beam and panels of an experiment as numpy arrays."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable, Iterator, Sequence

import numpy

from . import errors
from ._library import check, ffi, finite, lib, new_context
from ._records import Record

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._types import Floats, Random

_FRAMES = ("laboratory", "dxtbx", "mosflm")


@dataclass(frozen=True)
class Panel(Record):
    """Flat panel of the detector, in the laboratory frame.

    origin: (3,) mm, outer corner of the first pixel
    fast_axis, slow_axis: (3,) unit vectors
    pixel_size: mm, along fast and slow
    shape: pixels (slow, fast)"""
    origin: Floats
    fast_axis: Floats
    slow_axis: Floats
    pixel_size: tuple[float, float]
    shape: tuple[int, int]

    @property
    def normal(self) -> Floats:
        """Unit vector fast_axis x slow_axis, (3,)."""
        normal: Floats = numpy.cross(self.fast_axis, self.slow_axis)
        return normal


def random_rotation(random: Random = None) -> Floats:
    """Return a random rotation matrix (3, 3), uniformly distributed over all rotations.

    random: numpy.random.Generator, or a seed; None: another matrix at each call"""
    try:
        random = numpy.random.default_rng(random)
    except (TypeError, ValueError):
        raise errors.UsageError(f"random: expected a numpy.random.Generator or a whole number from 0, found {random!r}") from None
    w, x, y, z = (q := random.normal(size=4)) / numpy.linalg.norm(q)
    return _of_quaternion(w, x, y, z)


def _of_quaternion(w: float, x: float, y: float, z: float) -> Floats:
    return numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])


def _quaternion(u: Floats) -> Floats:
    """Return the quaternion (w >= 0, x, y, z) of a rotation matrix.

    It is the eigenvector of the greatest eigenvalue of a symmetric matrix, which is exact for half turns, too
    (Bar-Itzhack, J. Guid. Control Dyn. 23, 1085, 2000)."""
    k = numpy.empty((4, 4))
    k[1:, 1:] = u + u.T - numpy.trace(u) * numpy.eye(3)
    k[0, 0] = numpy.trace(u)
    k[0, 1:] = k[1:, 0] = u[2, 1] - u[1, 2], u[0, 2] - u[2, 0], u[1, 0] - u[0, 1]
    q = numpy.linalg.eigh(k)[1][:, -1]
    return -q if q[0] < 0 else q


def _matrix(values: ArrayLike, name: str) -> Floats:
    found = numpy.asarray(values, dtype=float)
    if found.shape != (3, 3) or not numpy.isfinite(found).all():
        raise errors.UsageError(f"{name}: expected finite numbers of the shape (3, 3), found "
                                f"{found.shape if found.shape != (3, 3) else 'infinite or NaN'}")
    return numpy.ascontiguousarray(found)


def _unit(values: ArrayLike, name: str) -> tuple[Floats, numpy.floating[Any]]:
    """Return the unit vector of a vector, and its length."""
    vector = numpy.array(finite(values, 3, name))
    if not (length := numpy.linalg.norm(vector)) > 0:
        raise errors.UsageError(f"{name}: expected a length greater than 0, found 0")
    return vector / length, length


def _turned(vector: Floats, before: Floats, after: Floats) -> Floats:
    """Return the vector, turned by the least rotation that turns the unit vector `before` into `after`."""
    axis, cosine = numpy.cross(before, after), before @ after
    if cosine < -1 + 1e-9:
        raise errors.UsageError("s0: expected a direction that is not opposite to the beam's")
    return vector + numpy.cross(axis, vector) + numpy.cross(axis, numpy.cross(axis, vector)) / (1 + cosine)


def _axes(panel: Panel, what: str = "panel") -> Floats:
    """Return the unit vectors fast, slow and normal of a panel as rows; the normal points away from the sample."""
    fast, slow, origin = (numpy.array(finite(v, 3, what)) for v in (panel.fast_axis, panel.slow_axis, panel.origin))
    if abs(fast @ slow) > 1e-6 or max(abs(fast @ fast - 1), abs(slow @ slow - 1)) > 1e-6:
        raise errors.UsageError(f"{what}: expected axes of length 1 at right angles")
    fast, normal = _unit(fast, what)[0], _unit(numpy.cross(fast, slow), what)[0]
    slow = numpy.cross(normal, fast)
    return numpy.array([fast, slow, normal if normal @ origin > 0 else -normal])


def _rotation(values: ArrayLike, name: str) -> Floats:
    u = _matrix(values, name)
    if abs(u @ u.T - numpy.eye(3)).max() > 1e-6 or numpy.linalg.det(u) < 0:
        raise errors.UsageError(f"{name}: expected a rotation: rows at right angles, of length 1, right-handed")
    return u


class Oriented:
    """Orientation in several forms, all of them calculated from U."""

    if TYPE_CHECKING:
        U: Any

    @property
    def quaternion(self) -> Floats:
        """Orientation as a unit quaternion (w >= 0, x, y, z). It can be set, with any length but 0."""
        return _quaternion(self.U)

    @quaternion.setter
    def quaternion(self, q: ArrayLike) -> None:
        q = numpy.array(finite(q, 4, "quaternion"))
        if not (length := numpy.linalg.norm(q)) > 0:
            raise errors.UsageError("quaternion: expected a length greater than 0, found 0")
        self.U = _of_quaternion(*(q / length))

    @property
    def rotation_vector(self) -> Floats:
        """Orientation as a vector along the rotation axis (3,), whose length is the angle (radian, at most pi). It can
        be set."""
        w, *axis = self.quaternion
        length = numpy.linalg.norm(axis)
        return numpy.array(axis) * (2 * numpy.arctan2(length, w) / length if length > 0 else 2.0)

    @rotation_vector.setter
    def rotation_vector(self, vector: ArrayLike) -> None:
        half = numpy.array(finite(vector, 3, "rotation_vector")) / 2
        angle = numpy.linalg.norm(half)
        self.U = _of_quaternion(numpy.cos(angle), *(half * numpy.sinc(angle / numpy.pi)))


class Geometry(Oriented):
    """Lattice, orientation, beam and panels of an experiment.

    Vectors and matrices are in the laboratory frame, which depends on the detector's convention
    (docs/theory/conventions.md). Units are A and 1/A for the lattice, mm for the detector."""

    if TYPE_CHECKING:  # members of Experiment
        _c: Any

        @property
        def panel_shapes(self) -> list[tuple[int, int]]: ...

        def _check(self) -> None: ...

        def __getstate__(self) -> Any: ...

        def __setstate__(self, state: Any) -> None: ...

    @property
    def unit_cell(self) -> Floats:
        """Cell a, b, c (A), alpha, beta, gamma (degree). It can be set."""
        return numpy.array(list(self._c.crystal.cell))

    @unit_cell.setter
    def unit_cell(self, cell: ArrayLike) -> None:
        before = list(self._c.crystal.cell)
        self._c.crystal.cell = list(finite(cell, 6, "unit_cell"))
        try:
            self._check()
        except errors.Error:
            self._c.crystal.cell = before
            raise

    @property
    def A(self) -> Floats:
        """Reciprocal matrix (3, 3) at a spindle angle of 0: columns a*, b*, c* in 1/A; q = A @ hkl.

        Setting A sets cell and orientation, and misset to 0. MOSFLM's matrix files contain A times the wavelength."""
        return self._reciprocal(self._c.crystal)

    @A.setter
    def A(self, a_star: ArrayLike) -> None:
        values, context = _matrix(a_star, "A"), new_context()
        check(context, lib.db_crystal_set_matrix(context, ffi.addressof(self._c.crystal),
                                                 ffi.from_buffer("double[]", values)))
        self._c.crystal.misset = [0, 0, 0]

    @property
    def B(self) -> Floats:
        """Reciprocal matrix (3, 3) of the cell in the standard frame, 1/A: A = U @ B."""
        crystal = ffi.new("db_crystal *", self._c.crystal)
        crystal.orientation, crystal.misset = [1, 0, 0, 0, 1, 0, 0, 0, 1], [0, 0, 0]
        return self._reciprocal(crystal[0])

    @property
    def U(self) -> Floats:
        """Orientation as a rotation matrix (3, 3), misset included: A = U @ B. Setting U sets misset to 0."""
        return self.A @ numpy.linalg.inv(self.B)

    @U.setter
    def U(self, rotation: ArrayLike) -> None:
        self._c.crystal.orientation = list(_rotation(rotation, "U").ravel())
        self._c.crystal.misset = [0, 0, 0]

    @property
    def s0(self) -> Floats:
        """Incident wave vector (3,) in 1/A: direction of the beam, tilt included, divided by the wavelength.

        Setting s0 turns all sources, and sets the tilt to 0; the panels do not move."""
        s0: Floats = self._vector(lib.db_experiment_beam_direction) / self._c.beam.wavelength
        return s0

    @s0.setter
    def s0(self, vector: ArrayLike) -> None:
        direction, length = _unit(vector, "s0")
        beam, panels = self._c.beam, self.panels
        if self._c.detector.curved:
            raise errors.UnsupportedError("s0: expected flat panels; a curved panel follows the beam")
        before = numpy.array(list(beam.direction))
        with self._unless_refused():
            for source in beam.sources[0:beam.source_count]:
                source.direction = list(_turned(numpy.array(list(source.direction)), before, direction))
            beam.direction, beam.wavelength, beam.tilt = list(direction), 1 / length, [0, 0]
            self._place(panels)

    @property
    def spindle_axis(self) -> Floats:
        """Rotation axis of the crystal, tilts included: a unit vector (3,). Setting it, with any length, sets the tilts
        to 0."""
        return self._vector(lib.db_experiment_spindle_axis)

    @spindle_axis.setter
    def spindle_axis(self, axis: ArrayLike) -> None:
        direction, _ = _unit(axis, "spindle_axis")
        with self._unless_refused():
            self._c.goniometer.spindle_axis, self._c.goniometer.tilt = list(direction), [0, 0]

    @property
    def panels(self) -> list[Panel]:
        """Panels of the detector, a list of Panel.

        They can be set to a list of the same shapes (dataclasses.replace changes a Panel). This sets common motions of
        the panels, panel_turn and panel_shift, to 0."""
        return [self._panel(p, shape) for p, shape in enumerate(self.panel_shapes)]

    @panels.setter
    def panels(self, panels: Sequence[Panel]) -> None:
        given, shapes = list(panels), self.panel_shapes
        if not all(isinstance(p, Panel) for p in given) or [p.shape for p in given] != shapes:
            raise errors.UsageError(f"panels: expected {len(shapes)} of the shapes {shapes[:3]}, found "
                                    f"{[getattr(p, 'shape', type(p).__name__) for p in given[:3]]}")
        if self._c.detector.curved:
            raise errors.UnsupportedError("panels: expected flat panels; a curved panel follows the beam")
        with self._unless_refused():
            self._place(given)

    @contextlib.contextmanager
    def _unless_refused(self) -> Iterator[None]:
        """Within this context manager the experiment is changed. If it is not valid afterwards, restore it and raise
        the exception."""
        before = self.__getstate__()
        try:
            yield
            self._check()
        except BaseException:
            self.__setstate__(before)
            raise

    def _place(self, panels: Sequence[Panel]) -> None:
        """Put flat panels at their new places. Their common plate stays the same."""
        detector = self._c.detector
        detector.panel_turn = detector.panel_shift = [0, 0, 0]
        own, now = detector.panels[0], self._panel(0, self.panel_shapes[0])
        plate = numpy.array([list(own.fast_axis), list(own.slow_axis), list(own.normal)])
        turn = plate.T @ _axes(now)  # rotates from the laboratory into the plate's frame
        start = now.origin - turn.T @ list(own.origin)
        for number, (panel, c) in enumerate(zip(panels, detector.panels[0:len(panels)])):
            fast, slow, normal = _axes(panel, what=f"panel {number}") @ turn.T
            c.origin, c.pixel_size = list(turn @ (numpy.asarray(panel.origin) - start)), list(panel.pixel_size)
            c.fast_axis, c.slow_axis, c.normal = list(fast), list(slow), list(normal)

    def frame(self, name: str) -> Floats:
        """Return the rotation (3, 3) from the laboratory frame into another frame.

        name: "laboratory": the unit matrix; "dxtbx": frame of DIALS experiment lists, x along the spindle, z against
            the beam; "mosflm": x along the beam, z along the spindle

        Tilts of beam and spindle do not turn a frame."""
        if name not in _FRAMES:
            raise errors.UsageError(f"frame: expected one of {', '.join(_FRAMES)}, found {name!r}")
        if name == "laboratory":
            return numpy.eye(3)
        rows = ffi.new("double[3][3]")
        lib.db_dials_frame(self._c, rows)
        x, y, z = (numpy.array(list(row)) for row in rows)
        return numpy.array([x, y, z] if name == "dxtbx" else [-z, y, x])

    def matrices(self, convention: str) -> Matrices:
        """Return A, U and B in the convention of another program: "laboratory", "dxtbx" or "mosflm". Setting them
        changes the experiment."""
        return Matrices(self, convention)

    def _vector(self, asked: Callable[[Any, Any], Any]) -> Floats:
        found = ffi.new("double[3]")
        asked(self._c, found)
        return numpy.array(list(found))

    def _reciprocal(self, crystal: Any) -> Floats:
        found = ffi.new("double[9]")
        lib.db_crystal_matrix(ffi.addressof(crystal), found)
        return numpy.array(list(found)).reshape(3, 3)

    def _panel(self, panel: int, shape: tuple[int, int]) -> Panel:
        corners = [self._position(panel, *at) for at in ((0, 0), (shape[1], 0), (0, shape[0]))]
        fast, slow = (corner - corners[0] for corner in corners[1:])
        lengths: tuple[Any, Any] = numpy.linalg.norm(fast), numpy.linalg.norm(slow)
        return Panel(corners[0], fast / lengths[0], slow / lengths[1],
                     (lengths[0] / shape[1], lengths[1] / shape[0]), shape)

    def _position(self, panel: int, fast: float, slow: float) -> Floats:
        position, context = ffi.new("double[3]"), new_context()
        if lib.db_experiment_pixel_position(self._c, panel, fast, slow, position) != lib.DB_OK:
            raise errors.UsageError(f"panel {panel}: expected one from 0 to {len(self.panel_shapes) - 1}")
        return numpy.array(list(position))


class Matrices(Oriented):
    """Matrices A = U @ B of an experiment in the convention of a program. Setting A changes cell and orientation of the
    experiment, setting U its orientation.

    laboratory: in the frame of the Experiment
    dxtbx: as in a dxtbx Crystal (1/A), in its frame; B has a along x, and b in the plane of x and y
    mosflm: as in MOSFLM's matrix files, times the wavelength, in its frame; B has a* along x, and b* in the plane of
        x and y"""

    experiment: Geometry
    convention: str

    def __init__(self, experiment: Geometry, convention: str) -> None:
        self._frame = experiment.frame(convention)
        self.experiment, self.convention = experiment, convention

    @property
    def _scale(self) -> float:
        return self.experiment._c.beam.wavelength if self.convention == "mosflm" else 1.0

    @property
    def A(self) -> Floats:
        """Reciprocal matrix (3, 3): columns a*, b*, c*."""
        a_star: Floats = self._scale * self._frame @ self.experiment.A
        return a_star

    @A.setter
    def A(self, a_star: ArrayLike) -> None:
        self.experiment.A = self._frame.T @ _matrix(a_star, "A") / self._scale

    @property
    def U(self) -> Floats:
        """Orientation, a rotation matrix (3, 3)."""
        if self.convention == "laboratory":
            return self.experiment.U
        columns = self.A if self.convention == "mosflm" else numpy.linalg.inv(self.A).T  # a*, b*, c*, or a, b, c
        x, z = columns[:, 0], numpy.cross(columns[:, 0], columns[:, 1])
        x, z = x / numpy.linalg.norm(x), z / numpy.linalg.norm(z)
        return numpy.stack([x, numpy.cross(z, x), z], 1)

    @U.setter
    def U(self, rotation: ArrayLike) -> None:
        turn = _rotation(rotation, "U") @ self.U.T
        self.experiment.U = self._frame.T @ turn @ self._frame @ self.experiment.U

    @property
    def B(self) -> Floats:
        """Reciprocal matrix (3, 3) of the cell without rotation: A = U @ B."""
        return self.U.T @ self.A

    def __repr__(self) -> str:
        return f"<dualbragg.Matrices of {self.convention}: A {self.A.tolist()}>"
