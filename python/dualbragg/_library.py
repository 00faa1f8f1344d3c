"""Extension module, and helpers of all calls: contexts, statuses, arrays, texts."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import re
import weakref
from typing import TYPE_CHECKING, Any

import numpy

from . import _former, _progress, errors

if TYPE_CHECKING:
    from types import TracebackType
    from typing import Callable, Iterator, Sequence, TypeVar

    from numpy.typing import ArrayLike, DTypeLike, NDArray
    from typing_extensions import Self

    from ._types import Floats, Memory, Path

    Function = TypeVar("Function", bound=Callable[..., Any])


def _module() -> Any:
    """Return the extension module: of the package dualbragg-cuda13, which has GPUs, if it is installed, else this
    package's own."""
    try:
        import dualbragg_cuda13
    except ModuleNotFoundError:
        if TYPE_CHECKING:
            extension: Any = None
        else:
            from . import _dualbragg as extension
        return extension
    import importlib.metadata
    try:
        own = importlib.metadata.version("dualbragg")
    except importlib.metadata.PackageNotFoundError:  # not installed, but in a folder
        own = dualbragg_cuda13.version
    if own != dualbragg_cuda13.version:
        raise ImportError(f"dualbragg-cuda13: expected version {own}, that of dualbragg, found {dualbragg_cuda13.version}")
    from dualbragg_cuda13 import _dualbragg
    return _dualbragg


def _load() -> Any:
    """Load the extension module, with OpenMP threads that sleep while they wait.

    By default GCC's OpenMP lets waiting threads spin for some ms: on a busy machine they take this time from the
    threads that they wait for. OpenMP reads the environment once, when it is loaded. Settings of the user have
    precedence, and the environment stays as it was."""
    said = {"OMP_WAIT_POLICY", "GOMP_SPINCOUNT"} & set(os.environ)
    if not said:
        os.environ["OMP_WAIT_POLICY"] = "passive"
    try:
        return _module()
    finally:
        if not said:
            del os.environ["OMP_WAIT_POLICY"]


_extension = _load()
ffi, lib = _extension.ffi, _extension.lib
extern: Callable[..., Callable[[Function], Function]] = ffi.def_extern

_ERRORS: dict[int, type[errors.Error]] = {
    lib.DB_ERROR_USAGE: errors.UsageError,
    lib.DB_ERROR_INPUT: errors.InputError,
    lib.DB_ERROR_FILE: errors.FileError,
    lib.DB_ERROR_MEMORY: errors.OutOfMemoryError,
    lib.DB_ERROR_CANCELLED: errors.CancelledError,
    lib.DB_ERROR_UNSUPPORTED: errors.UnsupportedError,
    lib.DB_ERROR_DEVICE: errors.DeviceError,
}
_threads: int | None = None  # as threads() has set them
_PASS = ffi.addressof(lib, "pass_progress")
_FORMER_NAME = re.compile(r" is called \S+ now")  # in a notice of the library


if lib.DB_PYTHON_CUDA:
    lib.db_cuda_register()


def version() -> str:
    """Return the library's version, such as "0.1.0"."""
    return text(lib.db_version())


def features() -> list[str]:
    """Return the optional components of this build, such as ["OpenMP", "AVX2", "HDF5"]."""
    return text(lib.db_features()).split(", ")


def threads(number: int | None = None) -> int:
    """Set the number of threads of everything made from now on, such as plans; return the number in effect.

    number: of threads; 0: one for each processor; None: no change

    By default all processors are used. A process that multiprocessing has started uses one thread, because such
    processes share the processors."""
    global _threads
    if number is not None:
        before, _threads = _threads, integer(number, "threads")
        try:
            new_context()
        except errors.Error:
            _threads = before
            raise
    found: int = lib.db_context_threads(new_context())
    return found


def _wanted_threads() -> int:
    if _threads is not None:
        return _threads
    # a spawned process has a name before it has a parent
    started = multiprocessing.parent_process() or multiprocessing.current_process().name != "MainProcess"
    return 1 if started else 0


def forked() -> None:
    """In a child of fork, use one thread: OpenMP's threads exist only in the parent, and a call would wait for them."""
    threads(1)
    for user in users:
        user.forked()


users: weakref.WeakSet[Any] = weakref.WeakSet()  # objects with a context or a lock: a child of fork calls their forked()
os.register_at_fork(after_in_child=forked)


def text(c: Any) -> str:
    """Return a C string as str; file names may hold any bytes."""
    found: str = ffi.string(c).decode(errors="surrogateescape") if c != ffi.NULL else ""
    return found


def indices(hkl: ArrayLike, rows: str) -> NDArray[numpy.int64]:
    """Return indices of reflections as int64, (reflections, 3)."""
    hkl, most = numpy.asarray(hkl), 10**6
    if hkl.ndim != 2 or hkl.shape[1] != 3 or len(hkl) == 0 or hkl.dtype.kind not in "iu":
        raise errors.UsageError(f"hkl: expected whole numbers of the shape ({rows}, 3), found {hkl.dtype.name} of {hkl.shape}")
    beyond = (hkl > most).any(1) | (hkl < -most).any(1) if hkl.dtype.kind == "i" else (hkl > most).any(1)
    if beyond.any():
        raise errors.UsageError(f"hkl: expected indices of at most {most}, found {tuple(hkl[beyond][0].tolist())}")
    return hkl.astype(numpy.int64)


def encoded(path: Path | bytes, what: str = "path") -> bytes:
    """Return a path as bytes."""
    if not isinstance(path, (str, bytes, os.PathLike)):
        raise errors.UsageError(f"{what}: expected the name of a file, found {type(path).__name__}")
    value = os.fsencode(path)
    if b"\0" in value:
        raise errors.UsageError(f"{what} {path!r}: expected no zero bytes")
    return value


def integer(value: Any, what: str, bits: int = 32) -> int:
    """Return a whole number that fits into `bits` bits, sign included."""
    import operator
    try:
        number = operator.index(value)
    except TypeError:
        raise errors.UsageError(f"{what}: expected a whole number, found {value!r}") from None
    if not -2**(bits - 1) <= number < 2**(bits - 1):
        raise errors.UsageError(f"{what}: expected a whole number of {bits} bits, found {number}")
    return number


def finite(value: Any, count: int, what: str, least: int | None = None) -> Floats:
    """Return `count` finite numbers (float64); at least `least` of them, if it is given."""
    if getattr(value, "dtype", None) == numpy.float16:
        raise errors.UsageError(f"{what}: expected numbers of more digits than float16 has")
    try:
        found = numpy.asarray(value, dtype=float).reshape(-1)
    except (TypeError, ValueError, OverflowError):
        raise errors.UsageError(f"{what}: expected {count} number{'s' * (count > 1)}, found "
                                f"{value!r}") from None
    if not (least or count) <= found.size <= count:
        wanted = f"{least} to {count}" if least else count
        raise errors.UsageError(f"{what}: expected {wanted} number{'s' * (count > 1)}, found "
                                f"{found.size}")
    if not numpy.isfinite(found).all():
        raise errors.UsageError(f"{what}: expected finite numbers, found {value!r}")
    return found


class Shared:
    """What several objects use. The last one to leave frees it: the garbage collector ends the objects of a circle in any
    order."""

    _others: list[None]

    def __init__(self, free: Callable[[], Any]) -> None:
        self._free, self._others = free, []

    def join(self) -> None:
        """Add an object that uses it; the first one has joined."""
        self._others.append(None)

    def leave(self) -> None:
        try:
            self._others.pop()
        except IndexError:
            self._free()


_contexts: dict[int, Shared] = {}  # by their addresses


def _address(context: Any) -> int:
    return int(ffi.cast("uintptr_t", context))


def new_context() -> Any:
    """Return a new context. One thread at a time may use a context."""
    out = ffi.new("db_context **")
    if lib.db_context_create(out) != lib.DB_OK:
        raise errors.OutOfMemoryError("no memory for a context")

    def free() -> None:
        del _contexts[_address(out[0])]
        lib.db_context_destroy(out)

    shared = _contexts[_address(out[0])] = Shared(free)
    holder = ffi.gc(out[0], lambda _: shared.leave())
    check(holder, lib.db_context_set_threads(holder, _wanted_threads()))
    return holder


def shared_context(context: Any) -> Shared:
    """Return the Shared of a context, which what is made with it joins."""
    return _contexts[_address(context)]


def check(context: Any, status: int) -> None:
    """Raise the exception that belongs to a status, with the context's message; nothing for DB_OK."""
    if status != lib.DB_OK:
        kind = _ERRORS.get(status, errors.Error)
        raise kind(text(lib.db_context_message(context)) or text(lib.db_status_text(status)))


class Watch:
    """Watch over long work: calls the progress function, and keeps an exception of this function or of a signal
    (KeyboardInterrupt) until the library has returned, when check raises it."""

    def __init__(self, progress: Any = None) -> None:
        self.function = _progress.function_of(progress)
        self.raised: BaseException | None = None
        self.handle = ffi.new_handle(self)

    def of_context(self, context: Any) -> Self:
        """Receive the progress of a context's work; return self."""
        tell = lib.take_progress if self.function else _PASS
        lib.db_context_set_progress(context, tell, self.handle)
        return self

    def tell(self, what: Any) -> bool:
        """Call the progress function; return True if the work must end."""
        return self.raised is not None or bool(self.function and self.function(what))

    def progressed(self, fraction: float) -> bool:
        return self.tell(fraction)

    def check(self, context: Any, status: int) -> None:
        """Raise the kept exception, else what the status stands for."""
        if isinstance(self.function, _progress.Shown):
            self.function.end(done=status == lib.DB_OK and self.raised is None)
        raised, self.raised = self.raised, None
        if raised is not None:
            raise raised
        check(context, status)


def keep_raised(kind: type[BaseException], value: BaseException, trace: TracebackType) -> None:
    """Keep an exception of a function that C has called, in its watch."""
    ffi.from_handle(trace.tb_frame.f_locals["user"]).raised = value


@contextlib.contextmanager
def noticing(context: Any, notices: list[str]) -> Iterator[Any]:
    """Within this context manager, append notices of the library to the list: contents of files that are doubtful or
    not used.

    It yields a handle of the list, for functions of the library that take notices with lib.take_notice. Former names of
    keys and parameters give a DeprecationWarning."""
    user, before = ffi.new_handle(notices), len(notices)
    lib.db_context_set_notices(context, lib.take_notice, user)
    try:
        yield user
    finally:
        lib.db_context_set_notices(context, ffi.NULL, ffi.NULL)
    for line in notices[before:]:
        if _FORMER_NAME.search(line):
            _former.told(line)


@extern()
def take_notice(user: Any, line: Any) -> None:
    ffi.from_handle(user).append(text(line))


@extern(error=1, onerror=keep_raised)
def take_progress(user: Any, fraction: float) -> bool:
    ended: bool = ffi.from_handle(user).progressed(fraction)
    return ended


def array(value: Any, what: str, shape: Sequence[int], dtype: DTypeLike, writable: bool = False) -> NDArray[Any]:
    """Return the caller's array, which is used as it is; raise UsageError, naming what does not fit."""
    if not isinstance(value, numpy.ndarray):
        raise errors.UsageError(f"{what}: expected a numpy array, found {type(value).__name__}")
    if value.dtype != dtype:
        raise errors.UsageError(f"{what}: expected {numpy.dtype(dtype).name}, found {value.dtype.name}"
                                f" (value.astype(numpy.{numpy.dtype(dtype).name}) makes a copy)")
    if value.shape != tuple(shape):
        raise errors.UsageError(f"{what}: expected the shape {tuple(shape)}, found {value.shape}")
    if not value.flags.c_contiguous:
        raise errors.UsageError(f"{what}: expected an array in C order without gaps, found strides "
                                f"{value.strides} (numpy.ascontiguousarray makes a copy)")
    if writable and not value.flags.writeable:
        raise errors.UsageError(f"{what}: expected an array that can be written to")
    return value


def address(value: Memory) -> int:
    """Return the address of the elements of an array, a view of memory or a tensor."""
    found: int
    if isinstance(value, numpy.ndarray):
        found = value.__array_interface__["data"][0]
    else:
        found = value.data_ptr() if hasattr(value, "data_ptr") else value.address
    return found


def pointer(value: Memory, c_type: str) -> Any:
    """Return a C pointer to the elements of an array or a view of memory, which must live as long."""
    return ffi.cast(c_type, address(value))
