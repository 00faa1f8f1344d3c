"""Memory of images: numpy's, and memory of the processor or a GPU that packages (torch, cupy, jax ...) share by DLPack.
Nothing is copied."""

from __future__ import annotations

import ctypes
import math
from typing import TYPE_CHECKING, Any, Callable, Iterable, Sequence

import numpy

from . import errors
from ._library import address, array, extern, ffi, lib

if TYPE_CHECKING:
    from numpy.typing import DTypeLike, NDArray

CPU, CUDA, CUDA_HOST, CUDA_MANAGED = 1, 2, 3, 13  # DLPack's kinds of devices
LEGACY_STREAM = 1  # as DLPack and CUDA number it
_NAME = b"dltensor"
_capsule = ctypes.pythonapi
_capsule.PyCapsule_GetPointer.restype = ctypes.c_void_p
_capsule.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
_capsule.PyCapsule_New.restype = ctypes.py_object
_capsule.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
_types = {(2, 32): numpy.dtype(numpy.float32), (2, 64): numpy.dtype(numpy.float64)}


class View:
    """Elements in C order at an address; `owner` keeps the memory alive."""

    address: int
    shape: tuple[int, ...]
    dtype: numpy.dtype[Any]
    device: tuple[int, int]
    owner: Any

    def __init__(self, address: int, shape: Iterable[int], dtype: DTypeLike, device: tuple[int, int],
                 owner: Any) -> None:
        self.address, self.shape, self.dtype = address, tuple(shape), numpy.dtype(dtype)
        self.device, self.owner = device, owner  # device: DLPack's (kind, number)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return math.prod(self.shape) * self.dtype.itemsize

    def __len__(self) -> int:
        return self.shape[0]

    def reshape(self, *shape: int) -> View:
        """Return the same elements in another shape; one size may be -1."""
        known = math.prod(n for n in shape if n != -1)
        shape = tuple(math.prod(self.shape) // known if n == -1 else n for n in shape)
        return View(self.address, shape, self.dtype, self.device, self.owner)

    def __getitem__(self, number: int | slice) -> View:
        """Return an element of the first axis, such as one of several images, or a slice of step 1."""
        rest = self.shape[1:]
        if isinstance(number, slice):
            first, end, step = number.indices(len(self))
            if step != 1:
                raise errors.UsageError(f"{type(self).__name__}: expected a slice of step 1, found {step}")
            shape = (max(end - first, 0), *rest)
        elif not 0 <= (first := number) < len(self):
            raise IndexError(number)
        else:
            shape = rest
        return View(self.address + first * math.prod(rest) * self.dtype.itemsize, shape, self.dtype,
                    self.device, self.owner)


class DeviceArray(View):
    """Images in the memory of a plan's device, from Plan.empty: for `out` of the plan's calls, and for packages with
    __dlpack__ (torch.from_dlpack, cupy.from_dlpack) or __cuda_array_interface__."""

    def __init__(self, plan: Any, memory: Any, shape: Iterable[int], dtype: DTypeLike,
                 device: tuple[int, int]) -> None:
        super().__init__(int(ffi.cast("intptr_t", memory)), shape, dtype, device, memory)
        self._plan = plan

    def numpy(self) -> NDArray[Any]:
        """Wait until all work of the plan is done, and return a copy as a numpy array."""
        copy = numpy.empty(self.shape, self.dtype)
        self._plan._read(copy, self)
        return copy

    def __dlpack_device__(self) -> tuple[int, int]:
        return self.device

    def __dlpack__(self, *, stream: int | None = None, max_version: tuple[int, int] | None = None,
                   dl_device: tuple[int, int] | None = None, copy: bool | None = None) -> Any:
        if dl_device not in (None, self.device) or copy:
            raise BufferError("memory of a plan's device is shared where it is, not copied")
        self._plan._hand_over(stream)
        what = ffi.new("struct dl_tensor *", dict(
            data=ffi.cast("void *", self.address), device_type=self.device[0], device_id=self.device[1],
            dimensions=len(self.shape), code=2, bits=8 * self.dtype.itemsize, lanes=1))
        handle = ffi.new_handle(self)
        made = lib.lend(what[0], ffi.new("int64_t[]", self.shape), handle)
        if made == ffi.NULL:
            raise errors.OutOfMemoryError("no memory for a tensor")
        _lent[handle] = handle
        return _capsule.PyCapsule_New(int(ffi.cast("intptr_t", made)), _NAME, int(
            ffi.cast("intptr_t", ffi.addressof(lib, "capsule_gone"))))

    @property
    def __cuda_array_interface__(self) -> dict[str, Any]:
        if self.device[0] != CUDA:
            raise AttributeError("__cuda_array_interface__: this memory is the processor's")
        self._plan._hand_over(None)
        return dict(shape=self.shape, typestr=self.dtype.str, data=(self.address, False), strides=None,
                    version=3, stream=None)

    def __repr__(self) -> str:
        where = "cpu" if self.device[0] == CPU else f"cuda:{self.device[1]}"
        return f"<dualbragg.DeviceArray: {' x '.join(map(str, self.shape))} {self.dtype.name}, {where}>"


_lent: dict[Any, Any] = {}  # keeps memory alive that other packages use


@extern()
def give_back(context: Any) -> None:
    _lent.pop(context, None)


def _borrowed(value: Any, what: str, stream: int | None) -> tuple[Any, tuple[int, int], Any]:
    """Return the tensor of an object with __dlpack__, its device, and the capsule that keeps it alive.

    stream: work on this stream must wait for the object's own, on a GPU"""
    try:
        kind, number = (int(n) for n in value.__dlpack_device__())
        capsule = value.__dlpack__() if kind in (CPU, CUDA_HOST) else value.__dlpack__(stream=stream)
    except (BufferError, RuntimeError, TypeError) as error:
        raise errors.UsageError(f"{what}: expected memory that can be shared (a tensor without "
                                f"gradients: .detach()), found: {error}") from None
    if not _capsule.PyCapsule_IsValid(capsule, _NAME):
        raise errors.UsageError(f"{what}: __dlpack__: expected a capsule named dltensor, found {capsule!r}")
    address = _capsule.PyCapsule_GetPointer(capsule, _NAME)
    return ffi.cast("struct dl_managed *", address).tensor, (kind, number), capsule


def _names(types: Iterable[numpy.dtype[Any]]) -> str:
    return " or ".join(t.name for t in types)


def _is_in_order(shape: Sequence[int], strides: Sequence[int]) -> bool:
    step = 1
    for size, stride in zip(reversed(shape), reversed(strides)):
        if size != 1 and stride != step:
            return False
        step *= size
    return True


def taken(value: Any, what: str, shape: Sequence[int], types: Sequence[Any], device: tuple[int, int],
          stream: Callable[[], Any]) -> Any:
    """Return the caller's memory, which is used as it is; raise UsageError, naming what does not fit.

    types: allowed types of elements
    device: (kind, number) of the plan
    stream: function that returns the plan's stream, called if the memory is on a GPU"""
    if isinstance(value, numpy.ndarray):
        if len(types) > 1 and value.dtype not in types:
            raise errors.UsageError(f"{what}: expected {_names(types)}, found {value.dtype.name}")
        return array(value, what, shape, value.dtype if value.dtype in types else types[0])
    if isinstance(value, View):
        place, keeper = value.device, value
        found, in_order = value.shape, True
        dtype: Any = value.dtype
        address = value.address
        if place[0] == CUDA:
            stream()
    elif hasattr(value, "__dlpack__") and hasattr(value, "__dlpack_device__"):
        on_gpu = int(value.__dlpack_device__()[0]) in (CUDA, CUDA_MANAGED)
        if on_gpu:
            _check_device(value.__dlpack_device__(), what, device)
        t, place, keeper = _borrowed(value, what, stream() if on_gpu else None)
        found = tuple(t.shape[i] for i in range(t.dimensions))
        dtype = _types.get((t.code, t.bits)) if t.lanes == 1 else None
        in_order = t.strides == ffi.NULL or _is_in_order(found, [t.strides[i] for i in range(t.dimensions)])
        address = int(ffi.cast("intptr_t", t.data)) + t.byte_offset
    else:
        raise errors.UsageError(f"{what}: expected a numpy array or a tensor with __dlpack__, found "
                                f"{type(value).__name__}")
    if dtype not in types:
        raise errors.UsageError(f"{what}: expected {_names(types)}, found "
                                f"{dtype.name if dtype is not None else 'another type'}")
    if found != tuple(shape):
        raise errors.UsageError(f"{what}: expected the shape {tuple(shape)}, found {found}")
    if not in_order:
        raise errors.UsageError(f"{what}: expected elements in C order without gaps (contiguous() makes a "
                                "copy)")
    _check_device(place, what, device)
    return View(address, found, dtype, place, keeper)


def _check_device(place: Iterable[int], what: str, device: tuple[int, int]) -> None:
    kind, number = (int(n) for n in place)
    if kind in (CPU, CUDA_HOST) or (device[0] == CUDA and kind == CUDA_MANAGED) or (kind, number) == device:
        return
    names = {CPU: "the processor", CUDA: f"cuda:{number}", CUDA_MANAGED: "CUDA's managed memory"}
    own = "" if device[0] == CPU else f" or of cuda:{device[1]}"
    raise errors.UsageError(f"{what}: expected memory of the processor{own}, found memory of "
                            f"{names.get(kind, f'device kind {kind} of DLPack')}")


def share(a: Any, b: Any) -> bool:
    """Return True if two arrays or views share memory."""
    if isinstance(a, numpy.ndarray) and isinstance(b, numpy.ndarray):
        return numpy.may_share_memory(a, b)
    (first, size), (other, other_size) = (_extent(a), _extent(b))
    return first < other + other_size and other < first + size


def _extent(value: NDArray[Any] | View) -> tuple[int, int]:
    return address(value), value.nbytes


def handle_of(stream: Any) -> int:
    """Return the number of a CUDA stream: an int, torch.cuda.Stream, cupy.cuda.Stream, or an object with
    __cuda_stream__."""
    if hasattr(stream, "__cuda_stream__"):
        stream = stream.__cuda_stream__()[1]
    for name in ("cuda_stream", "ptr"):
        stream = getattr(stream, name, stream)
    try:
        number = int(stream)
    except (TypeError, ValueError):
        raise errors.UsageError(f"stream: expected a CUDA stream or its number, found {stream!r}") from None
    if number < 0:
        raise errors.UsageError(f"stream: expected a CUDA stream or its number, found {number}")
    return number or LEGACY_STREAM
