"""Images as tensors of PyTorch, with reverse and forward derivatives by autograd.

    from dualbragg.torch import Image

    model = Image(experiment, ["cell_a", "misset_x"], bounds={"cell_a": (75, 80)})
    loss = ((model() - data) ** 2).sum()
    loss.backward()                       # one pass, no derivative image is stored

Reverse and forward mode, torch.func (vmap, vjp, jvp, jacrev, jacfwd, hessian) and torch.compile (by the custom operator
dualbragg::render) work. Images are on the processor. With device="cuda" a renderer makes them on that GPU, on PyTorch's
current stream, without copies."""

from __future__ import annotations

import inspect
import itertools
import weakref
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, Iterator, Mapping, Sequence, Union

import numpy
import torch

from . import errors
from ._library import integer, lib
from ._rendering import Rendering
from .memory import CUDA, LEGACY_STREAM, View
from .training import RandomShots

if TYPE_CHECKING:
    from ._types import Floats, Memory
    from .amplitudes import Amplitudes
    from .experiment import Experiment
    from .plan import Plan

Values = Union[torch.Tensor, Mapping[str, Union[torch.Tensor, float]]]
_TYPES: dict[torch.dtype, type[numpy.floating[Any]]] = {torch.float32: numpy.float32, torch.float64: numpy.float64}
_renderers: weakref.WeakValueDictionary[str, Renderer] = weakref.WeakValueDictionary()  # by number
_numbers = itertools.count(1)


class Renderer(torch.nn.Module):
    """Renderer: images of an experiment as a function of values of its parameters.

    experiment: copied; or a sequence of experiments (shots) with the same counts and structure factors: images then
        have an axis of shots
    parameters: names, in the order of the values
    dtype: of images, torch.float32 or torch.float64
    amplitudes: dualbragg.Amplitudes: structure factors that are values, too
    second_order: second derivatives of images by the parameters, for a loss that is differentiated twice: "error":
        refused; "gauss-newton": 0, so that the Hessian of a loss is J^T (d2 loss/d image2) J; "differences": central
        differences of fourth order of exact first derivatives, in double precision, at four more passes each
    keywords: as for dualbragg.Plan. With device="cuda" images and cotangents are tensors of that GPU; values may be
        there or on the processor, which reads them

    The module has no parameters of its own: to(), cuda() and double() make another plan, on that device or with that
    type of pixels. It can be pickled and copied. Threads that share it wait for each other."""

    device: torch.device
    dtype: torch.dtype
    number: str
    _like: torch.Tensor

    def __init__(self, experiment: Experiment | Sequence[Experiment], parameters: Iterable[str] = (),
                 dtype: torch.dtype = torch.float32, *, amplitudes: Amplitudes | None = None,
                 second_order: str = "error", **keywords: Any) -> None:
        super().__init__()
        self._take(Rendering(experiment, parameters, _pixels(dtype), amplitudes, keywords, second_order=second_order))

    def _take(self, rendering: Rendering) -> None:
        """Render with this Rendering from now on."""
        self._rendering = rendering
        self.device, self.dtype = torch.device(rendering.plan.device), _tensors(rendering.plan.dtype)
        self._here = self.device.type == "cpu"
        self._many = len(rendering.front)
        self._names = tuple(rendering.plan.names)
        self._none = torch.empty(0, dtype=torch.float64)  # structure factors, where they are no values
        self.register_buffer("_like", torch.empty(0, dtype=self.dtype, device=self.device), persistent=False)
        self._register()

    @classmethod
    def _of(cls, rendering: Rendering) -> Renderer:
        made = cls.__new__(cls)
        torch.nn.Module.__init__(made)
        made._take(rendering)
        return made

    def _register(self) -> None:
        self.number = f"{next(_numbers)}"  # a text, so that compiled code is of one renderer
        _renderers[self.number] = self

    def _apply(self, function: Callable[[torch.Tensor], torch.Tensor], recurse: bool = True) -> Renderer:
        wanted = function(self._like)
        if (wanted.dtype, wanted.device) != (self._like.dtype, self._like.device):
            own = self._rendering
            self._take(own.again(_pixels(wanted.dtype), {**own.keywords, "device": str(wanted.device)}))
        parent: Any = super()
        same: Renderer = parent._apply(function, recurse)
        return same

    def __setstate__(self, state: dict[str, Any]) -> None:
        parent: Any = super()
        parent.__setstate__(state)
        self._register()

    @property
    def plan(self) -> Plan:
        """The dualbragg.Plan that renders."""
        return self._rendering.plan

    @property
    def second_order(self) -> str:
        """Treatment of second derivatives: "error", "gauss-newton" or "differences"."""
        return self._rendering.second_order

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image at values of shape (parameters,): as Experiment.shape, with the axis of shots in front."""
        return self._rendering.shape

    def forward(self, values: Values | None = None, amplitudes: torch.Tensor | None = None) -> torch.Tensor:
        """Return the images (photons) at values of the parameters, in their units: (..., *shape) of the renderer's
        dtype.

        values: floating tensor (parameters,), or (..., parameters) for an image each; of several shots (..., shots,
            parameters), or (parameters,) for all shots. Or a dictionary of tensors by name, (...) or (..., shots).
            Other parameters, and all parameters for None, have the experiment's values
        amplitudes: floating tensor (amplitudes,), electrons, in the order of the renderer's Amplitudes, or (...,
            amplitudes); None: the experiment's"""
        if isinstance(values, torch.Tensor):
            self._check("values", values, len(self._names))
            at = values
        else:
            at = self._joined({} if values is None else values)
        if self._many and (at.dim() == 1 or at.shape[-2] == 1):
            at = at.expand(*at.shape[:-2], *self._rendering.front, -1)
        factors = self._none
        if self._rendering.amplitudes is not None or amplitudes is not None:
            at, factors = self._with_factors(at, amplitudes)
        images: torch.Tensor
        if torch.compiler.is_compiling():
            images = torch.ops.dualbragg.render(at, factors, self.number)
        else:
            images = _Render.apply(at, factors, self)
        return images

    def named(self) -> dict[str, torch.Tensor]:
        """Return the experiment's values by name, as forward takes them: float64 of shape (), or (shots,)."""
        return dict(zip(self._names, self.start().unbind(-1)))

    def start(self) -> torch.Tensor:
        """Return the experiment's values: float64 (parameters,), or (shots, parameters)."""
        return torch.from_numpy(self._rendering.start())

    def _joined(self, values: Mapping[str, torch.Tensor | float]) -> torch.Tensor:
        """Return values by name as one tensor."""
        if not isinstance(values, Mapping):
            raise errors.UsageError(f"values: expected a tensor or a dictionary of tensors, found {type(values).__name__}")
        if set(values) - set(self._names):
            raise errors.UsageError(f"values: {sorted(set(values) - set(self._names))[0]} is not among the parameters")
        if not self._names:
            return self.start()
        each = self.named()
        for name, value in values.items():
            if isinstance(value, (int, float)):
                value = torch.tensor(value, dtype=torch.float64)
            self._check(name, value)
            if self._many and value.dim() and value.shape[-1] not in (1, *self._rendering.front):
                raise errors.UsageError(f"{name}: expected the shape () or (..., {self._rendering.front[0]}), found "
                                        f"{tuple(value.shape)}")
            each[name] = value.double()
        given = next((v for v in each.values() if not v.is_cpu), None)
        broadcast: Callable[..., tuple[torch.Tensor, ...] | list[torch.Tensor]] = torch.broadcast_tensors
        return torch.stack(broadcast(*(v if given is None else v.to(given.device) for v in each.values())), -1)

    def _with_factors(self, values: torch.Tensor, factors: torch.Tensor | None) -> tuple[torch.Tensor, torch.Tensor]:
        if self._rendering.amplitudes is None:
            raise errors.UsageError("amplitudes: expected none, because this renderer has no Amplitudes, found a tensor")
        if factors is None:
            factors = torch.from_numpy(self._rendering.start_factors())
        self._check("amplitudes", factors, len(self._rendering.amplitudes))
        if factors.dim() > 1:  # of each image
            shots, own = values.shape[-1 - self._many:], factors.shape[-1:]
            broadcast: Callable[..., torch.Size] = torch.broadcast_shapes
            front = broadcast(values.shape[:-1 - self._many], factors.shape[:-1])
            values, factors = values.expand(*front, *shots), factors.expand(*front, *own)
        return values, factors

    def _check(self, what: str, values: Any, size: int | None = None) -> None:
        if not isinstance(values, torch.Tensor):
            raise errors.UsageError(f"{what}: expected a tensor, found {type(values).__name__}")
        if not values.is_cpu and values.device != self.device:
            own = "" if self._here else f" or on {self.device}"
            raise errors.UsageError(f"{what}: expected a tensor on the processor{own} (.cpu() makes a copy), "
                                    f"found one on {values.device}")
        if size is not None and values.shape != (size,):
            shots = self._rendering.front if what == "values" and values.dim() > 1 else ()
            if values.dim() < 1 or values.shape[values.dim() - 1 - len(shots):] != (*shots, size):
                wanted = ", ".join(map(str, (*shots, size)))
                raise errors.UsageError(f"{what}: expected the shape ({size},) or (..., {wanted}), found "
                                        f"{tuple(values.shape)}")
        if values.dtype not in _TYPES:  # half a float has too few digits for a cell's edge
            raise errors.UsageError(f"{what}: expected torch.float64 or torch.float32, a floating type with "
                                    f"the digits that a crystal needs, found {values.dtype}")

    # Parts of the derivatives below.

    def _empty(self, shape: Sequence[int]) -> torch.Tensor:
        return torch.empty(shape, dtype=self.dtype, device=self.device)

    def _images(self, values: torch.Tensor) -> torch.Tensor:
        return self._empty((*values.shape[:-1], *self._rendering.image))

    def _stream(self) -> int:
        """Return the stream for the library's work: PyTorch's current one."""
        if self._here:
            return 0
        return torch.cuda.current_stream(self.device).cuda_stream or LEGACY_STREAM

    def _memory(self, images: torch.Tensor) -> Memory:
        """Return the memory of several images, as the library takes it."""
        if self._here:
            return images.numpy()
        return View(images.data_ptr(), images.shape, self.plan.dtype, (CUDA, self.device.index), images)

    @staticmethod
    def _is_one(values: torch.Tensor, factors: torch.Tensor) -> bool:
        """Return True for one image without variable structure factors, which takes one call of the library."""
        return values.dim() == 1 and not factors.numel()

    def _image_of(self, values: torch.Tensor, factors: torch.Tensor) -> torch.Tensor:
        at = _exact(values)
        if self._is_one(values, factors):
            images = self._empty(self._rendering.image)
            self._rendering.call(lib.rendering_forward, at.data_ptr(), self._stream(), images.data_ptr())
            return images
        images = self._images(values)
        self._rendering.forward(at.numpy(), _factors(factors), self._memory(images), self._stream())
        return images

    def _vjp(self, values: torch.Tensor, factors: torch.Tensor, cotangent: torch.Tensor,
             *wanted: bool) -> tuple[torch.Tensor, torch.Tensor]:
        if cotangent.dtype != self.dtype or cotangent.device != self.device:
            cotangent = cotangent.to(self.device, self.dtype)
        at, cotangent = _exact(values), cotangent.detach().contiguous()  # autograd may have one number for all pixels
        by_factors: Floats | None = None
        if self._is_one(values, factors):
            gradient = torch.empty_like(at)
            self._rendering.call(lib.rendering_vjp, at.data_ptr(), self._stream(), cotangent.data_ptr(),
                                 gradient.data_ptr(), 0)
        elif (every := self._jacobian(at, factors)) is not None:
            gradient = (cotangent.reshape(-1, every.shape[1]).double() @ every.T.double()).reshape(values.shape)
        else:
            found, by_factors = self._rendering.vjp(at.numpy(), _factors(factors), self._memory(cotangent), self._stream(),
                                                    wanted)
            gradient = torch.from_numpy(found)
        sums = torch.zeros_like(factors) if by_factors is None else torch.from_numpy(by_factors)
        return gradient.to(values.device, values.dtype), sums.to(factors.device, factors.dtype)

    def _jvp(self, values: torch.Tensor, factors: torch.Tensor, tangent: torch.Tensor,
             by_factors: torch.Tensor) -> torch.Tensor:
        at, along = _exact(values), _exact(tangent)
        if (every := self._jacobian(at, factors)) is not None:
            return (along.to(every.device, every.dtype) @ every).reshape(*values.shape[:-1], *self._rendering.image)
        images = self._images(values)
        self._rendering.jvp(at.numpy(), _factors(factors), along.numpy(force=True), _factors(by_factors), self._memory(images),
                            self._stream())
        return images

    def _jacobian(self, values: torch.Tensor, factors: torch.Tensor) -> torch.Tensor | None:
        """Return all derivative images, if they serve all rows of values; else None. For numpy Rendering decides."""
        if self._here:
            return None
        found: torch.Tensor | None = self._rendering.jacobian(values.numpy(), _factors(factors), self._empty, self._stream())
        return found

    def _bent(self, first: Callable[[Renderer, torch.Tensor, torch.Tensor], Sequence[torch.Tensor]], values: torch.Tensor,
              factors: torch.Tensor, direction: torch.Tensor, by_factors: torch.Tensor) -> list[torch.Tensor] | None:
        """Return the derivatives of the results of `first` along a direction; None: 0."""
        if self.second_order == "gauss-newton":
            return None

        exact = self._rendering.exact()
        twin = self if exact is self._rendering else Renderer._of(exact)

        def at(v: Floats, f: Floats | None) -> Sequence[torch.Tensor]:
            return first(twin, torch.from_numpy(v), factors if f is None else torch.from_numpy(f))

        return self._rendering.difference(at, _exact(values).numpy(), _factors(factors), _exact(direction).numpy(force=True),
                                          _factors(by_factors))

    def _bend(self, values: torch.Tensor, factors: torch.Tensor, cotangent: torch.Tensor, direction: torch.Tensor,
              by_factors: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """Return the derivative of _vjp(values, factors, cotangent) along a direction of the values."""
        wanted = True, factors.numel() > 0
        found = self._bent(lambda own, v, f: own._vjp(v, f, cotangent, *wanted), values, factors, direction, by_factors)
        if found is None:
            return torch.zeros_like(values), torch.zeros_like(factors)
        return found[0].to(values.device, values.dtype), found[1].to(factors.device, factors.dtype)

    def _curve(self, values: torch.Tensor, factors: torch.Tensor, tangent: torch.Tensor, tangent_factors: torch.Tensor,
               direction: torch.Tensor, by_factors: torch.Tensor) -> torch.Tensor:
        """Return the derivative of _jvp(values, factors, tangent, tangent_factors) along a direction of the values."""
        found = self._bent(lambda own, v, f: (own._jvp(v, f, tangent, tangent_factors),), values, factors, direction,
                           by_factors)
        return self._images(values).zero_() if found is None else found[0].to(self.dtype)


def _pixels(dtype: torch.dtype) -> type[numpy.floating[Any]]:
    """Return numpy's type of pixels."""
    if dtype not in _TYPES:
        raise errors.UsageError(f"dtype: expected torch.float32 or torch.float64, found {dtype}")
    return _TYPES[dtype]


def _tensors(dtype: numpy.dtype[Any]) -> torch.dtype:
    """Return PyTorch's type of pixels."""
    return next(own for own, there in _TYPES.items() if there == dtype)


def _exact(tensor: torch.Tensor) -> torch.Tensor:
    """Return values as float64 of the processor in C order: the tensor's own memory, if it has this form."""
    return tensor.detach().to("cpu", torch.float64).contiguous()


def _factors(tensor: torch.Tensor) -> Floats | None:
    """Return structure factors for a Rendering; None: they are not variables."""
    return _exact(tensor).numpy(force=True) if tensor.numel() else None  # torch's zeros may have no memory


class _AsGiven(inspect.Signature):
    """Signature that leaves arguments as they are.

    PyTorch asks for the signature of a function's forward at each call and binds the arguments to it, which takes
    longer than an image."""

    class _Bound:
        def __init__(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
            self.args, self.kwargs = args, kwargs

        def apply_defaults(self) -> None:
            """Do nothing: there are no defaults."""

    def bind(self, *args: Any, **kwargs: Any) -> Any:
        return self._Bound(args, kwargs)


class _Function(torch.autograd.Function):
    """Base class of the operators below: a function of tensors, a renderer and flags.

    Tensors may have further dimensions in front. The second tensor, and those listed in `factors`, are structure
    factors; their dimensions in front are the first ones of the values. Each function is also a custom operator:
    compiled code calls it, and torch's former vmap calls it for each element."""

    factors: tuple[int, ...] = ()  # images: arguments that all elements of a map may share; sums by them: none
    does: tuple[str, int, str]  # method of Renderer, number of its tensors, its flags
    operator: Any

    def __init_subclass__(cls) -> None:
        if "does" not in cls.__dict__:
            return
        does, tensors, flags = cls.does
        method = getattr(Renderer, does)

        def forward(*arguments: Any) -> Any:
            given = arguments[:tensors]
            try:
                return method(arguments[tensors], *given, *arguments[tensors + 1:])
            except RuntimeError:
                if not any(map(_is_of_former_map, given)):
                    raise
            return cls.operator(*given, arguments[tensors].number, *arguments[tensors + 1:])

        def setup_context(context: Any, inputs: tuple[Any, ...], output: Any) -> None:
            context.renderer = inputs[tensors]
            context.save_for_backward(*inputs[:tensors])
            context.save_for_forward(*inputs[:tensors])

        signed: Any = forward
        signed.__signature__ = _AsGiven()
        own: Any = cls
        own.forward, own.setup_context = staticmethod(forward), staticmethod(setup_context)
        named = ", ".join(f"Tensor t{i}" for i in range(tensors))
        gives = "Tensor" if cls.factors else "(Tensor, Tensor)"
        cls.operator = torch.library.custom_op(
            f"dualbragg::{cls.__name__[1:].lower()}",
            lambda *given: method(_renderers[given[tensors]], *given[:tensors], *given[tensors + 1:]),
            mutates_args=(), schema=f"({named}, str renderer{flags}) -> {gives}")
        cls.operator.register_fake(lambda *given: cls._like(_renderers[given[tensors]], *given[:2]))
        cls.operator.register_vmap(lambda *given: cls._mapped(cls.operator, *given))

    @classmethod
    def _like(cls, renderer: Renderer, values: torch.Tensor,
              factors: torch.Tensor) -> torch.Tensor | tuple[torch.Tensor, torch.Tensor]:
        if cls.factors:
            return values.new_empty((*values.shape[:-1], *renderer._rendering.image), dtype=renderer.dtype,
                                    device=renderer.device)
        return values.new_empty(values.shape), factors.new_empty(factors.shape)

    @classmethod
    def _mapped(cls, function: Callable[..., Any], info: Any, in_dims: Sequence[int | None],
                *arguments: Any) -> tuple[Any, int | tuple[int, int]]:
        found = function(*_in_front(info.batch_size, in_dims, arguments, cls.factors))
        return found, 0 if cls.factors else (0, 0)

    @classmethod
    def vmap(cls, *given: Any) -> tuple[Any, int | tuple[int, int]]:
        """Apply the function to all elements of a map."""
        return cls._mapped(cls.apply, *given)


_is_of_former_map = getattr(getattr(torch._C, "_functorch", None), "is_legacy_batchedtensor", lambda tensor: False)


def _in_front(size: int, in_dims: Sequence[int | None], arguments: Sequence[Any], factors: tuple[int, ...]) -> list[Any]:
    """Return arguments of a map with its dimension in front; structure factors without this dimension stay as they are."""
    alone = all(in_dims[i] is None and arguments[i].dim() == 1 for i in factors)

    def moved(i: int, argument: Any, dim: int | None) -> Any:
        if not isinstance(argument, torch.Tensor) or (alone and i in factors):
            return argument
        return argument.expand(size, *argument.shape) if dim is None else argument.movedim(dim, 0)

    return [moved(i, argument, dim) for i, (argument, dim) in enumerate(zip(arguments, in_dims))]


class _Render(_Function):
    """The image at values."""
    does = "_image_of", 2, ""
    factors = (1,)

    @staticmethod
    def backward(context: Any, cotangent: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, factors = context.saved_tensors
        wanted = context.needs_input_grad
        found = _Adjoint.apply(values, factors, cotangent, context.renderer, wanted[0], wanted[1])
        return (*(f if w else None for f, w in zip(found, wanted)), None)

    @staticmethod
    def jvp(context: Any, tangent: torch.Tensor, by_factors: torch.Tensor, _: None) -> torch.Tensor:
        values, factors = context.saved_tensors
        moved: torch.Tensor = _Tangent.apply(values, factors, tangent, by_factors, context.renderer)
        return moved


class _Adjoint(_Function):
    """J^T cotangent, by values and structure factors, if wanted."""
    does = "_vjp", 3, ", bool by_values, bool by_factors"

    @staticmethod
    def backward(context: Any, direction: torch.Tensor, by_factors: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, factors, cotangent = context.saved_tensors
        wanted, renderer = context.needs_input_grad, context.renderer
        bent, by_cotangent = (None, None), None
        if wanted[0] or wanted[1]:
            bent = _Bend.apply(values, factors, cotangent, direction, by_factors, renderer)
        if wanted[2]:
            by_cotangent = _Tangent.apply(values, factors, direction, by_factors, renderer).to(cotangent.dtype)
        return (*bent, by_cotangent, None, None, None)

    @staticmethod
    def jvp(context: Any, tangent: torch.Tensor, by_factors: torch.Tensor, cotangent_tangent: torch.Tensor,
            *_: None) -> tuple[torch.Tensor, ...]:
        values, factors, cotangent = context.saved_tensors
        renderer = context.renderer
        found = _Adjoint.apply(values, factors, cotangent_tangent, renderer, True, factors.numel() > 0)
        bent = _Bend.apply(values, factors, cotangent, tangent, by_factors, renderer)
        return tuple(f + b for f, b in zip(found, bent))


class _Tangent(_Function):
    """J tangent."""
    does = "_jvp", 4, ""
    factors = (1, 3)

    @staticmethod
    def backward(context: Any, cotangent: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        values, factors, tangent, by_factors = context.saved_tensors
        wanted, renderer = context.needs_input_grad, context.renderer
        bent = along = (None, None)
        if wanted[0] or wanted[1]:
            bent = _Bend.apply(values, factors, cotangent, tangent, by_factors, renderer)
        if wanted[2] or wanted[3]:
            along = _Adjoint.apply(values, factors, cotangent, renderer, wanted[2], wanted[3])
            along = along[0].to(tangent.dtype), along[1].to(by_factors.dtype)
        return (*bent, *along, None)

    @staticmethod
    def jvp(context: Any, moved: torch.Tensor, moved_factors: torch.Tensor, tangent_moved: torch.Tensor,
            factors_moved: torch.Tensor, _: None) -> torch.Tensor:
        values, factors, tangent, by_factors = context.saved_tensors
        renderer = context.renderer
        found: torch.Tensor = (_Tangent.apply(values, factors, tangent_moved, factors_moved, renderer) +
                               _Curve.apply(values, factors, tangent, by_factors, moved, moved_factors, renderer))
        return found


class _Second(_Function):
    """A second derivative; its own derivatives are refused."""

    @staticmethod
    def backward(context: Any, *_: Any) -> Any:
        raise errors.UnsupportedError("third derivatives of images: the library has none")

    @staticmethod
    def jvp(context: Any, *_: Any) -> Any:
        raise errors.UnsupportedError("third derivatives of images: the library has none")


class _Bend(_Second):
    """The derivative of J^T cotangent along a direction."""
    does = "_bend", 5, ""


class _Curve(_Second):
    """The derivative of J tangent along a direction."""
    does = "_curve", 6, ""
    factors = (1, 3, 5)


def _save(ctx: Any, inputs: tuple[torch.Tensor, torch.Tensor, str], output: torch.Tensor) -> None:  # torch names the arguments
    values, factors, ctx.number = inputs
    ctx.save_for_backward(values, factors)


def _back(context: Any, cotangent: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
    values, factors = context.saved_tensors
    wanted = context.needs_input_grad
    found = torch.ops.dualbragg.adjoint(values, factors, cotangent, context.number, wanted[0], wanted[1])
    return (*(f if w else None for f, w in zip(found, wanted)), None)


_Render.operator.register_autograd(_back, setup_context=_save)


class Image(torch.nn.Module):
    """Image with parameters that are learned, or images of many shots.

    experiment: start; or a sequence of experiments, one for each shot, with the same counts and structure factors:
        images are then (shots, *shape)
    parameters: names; of several shots, parameters with one value for all
    own: of several shots, parameters with a value for each
    bounds: {name: (least, most)} in their units; these parameters stay between them
    dtype: of images, torch.float32 or torch.float64
    keywords: as for Renderer. With amplitudes, a dualbragg.Amplitudes, structure factors are learned, too

    `steps` has a torch parameter for each name, () or (shots,), in typical steps of the quantity, so that one learning
    rate suits all: value = start + scale * step, or within bounds value = least + (most - least) * sigmoid.
    steps["amplitudes"] is in units of the root mean square of the structure factors.

    values() and set_values() use units of the parameters, amplitudes() electrons. state_dict() contains names and
    start, so a module with the same parameters in another order can load it; a module with other parameters refuses it."""

    renderer: Renderer
    own: frozenset[str]
    steps: torch.nn.ParameterDict

    # buffers (_buffers_of): constants of all steps, by parameter
    _start: torch.Tensor
    _scale: torch.Tensor
    _least: torch.Tensor
    _most: torch.Tensor
    _bounded: torch.Tensor
    _floor: torch.Tensor
    _width: torch.Tensor
    _middle: torch.Tensor
    _pace: torch.Tensor
    _factor_start: torch.Tensor
    _factor_scale: torch.Tensor

    def __init__(self, experiment: Experiment | Sequence[Experiment], parameters: Iterable[str] = (),
                 bounds: Mapping[str, tuple[float, float]] | None = None, dtype: torch.dtype = torch.float32, *,
                 own: Iterable[str] = (), **keywords: Any) -> None:
        super().__init__()
        for what, names in (("parameters", parameters), ("own", own)):
            if isinstance(names, str):
                raise errors.UsageError(f"{what}: expected a list of names, found {names!r}")
        own, common = list(own), list(parameters)
        self.renderer = Renderer(experiment, [*common, *own], dtype, **keywords)
        rendering, names = self.renderer._rendering, self.renderer._names
        if own and not rendering.front:
            raise errors.UsageError("own: expected none, because one experiment has no shots, found " + ", ".join(own))
        start = self.renderer.start()
        for i, name in enumerate(common if rendering.front else ()):
            if (start[:, i] != start[0, i]).any():
                raise errors.UsageError(f"{name}: expected one value that all shots have in common, found "
                                        f"{start[:, i].min():g} to {start[:, i].max():g} (own=[{name!r}]?)")
        self.own = frozenset(own)
        least, most = _bounds(bounds or {}, names, start)
        self._buffers_of(start=start, scale=torch.from_numpy(rendering.scales()), least=least, most=most)
        self.steps = torch.nn.ParameterDict({n: torch.zeros(rendering.front if n in self.own else (), dtype=torch.float64)
                                             for n in names})
        if rendering.amplitudes is not None:
            self._buffers_of(factor_start=torch.from_numpy(rendering.start_factors()),
                             factor_scale=torch.tensor(rendering.factor_scale(), dtype=torch.float64))
            self.steps["amplitudes"] = torch.zeros(len(rendering.amplitudes), dtype=torch.float64)
        self._prepare()
        register: Callable[..., Any] = self.register_load_state_dict_pre_hook
        register(_in_own_order)

    def _buffers_of(self, **values: torch.Tensor) -> None:
        for name, value in values.items():
            self.register_buffer("_" + name, value, persistent=False)

    def _prepare(self) -> None:
        """Prepare constants of all steps. A parameter within bounds moves along a sigmoid, whose slope at the start is
        the scale."""
        bounded = torch.isfinite(self._least)
        floor = torch.where(bounded, self._least, self._start - 1)
        width = torch.where(bounded, self._most - self._least, 2.0)
        middle = torch.logit((self._start - floor) / width)
        pace = self._scale / (width * torch.sigmoid(middle) * torch.sigmoid(-middle))
        self._buffers_of(bounded=bounded, floor=floor, width=width, middle=middle, pace=pace)
        self._any_bounded = bool(bounded.any())

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the parameters, in the order of the renderer's values."""
        return self.renderer._names

    @property
    def units(self) -> dict[str, str]:
        """Units of the parameters by name."""
        return dict(zip(self.names, self.renderer.plan.units))

    def _values(self) -> torch.Tensor:
        """Return the values of all parameters, as the renderer takes them."""
        front = self.renderer._rendering.front
        if not self.names:
            return self._start
        steps = torch.stack([self.steps[n].expand(front) for n in self.names], -1)
        free = torch.addcmul(self._start, self._scale, steps)
        if not self._any_bounded:
            return free
        inside = torch.addcmul(self._floor, self._width, torch.sigmoid(torch.addcmul(self._middle, self._pace, steps)))
        return torch.where(self._bounded, inside, free)

    def values(self) -> dict[str, torch.Tensor]:
        """Return the parameters by name, in their units: (), or (shots,) if each shot has its own."""
        found = self._values()
        return {n: v if n in self.own or not v.dim() else v[0] for n, v in zip(self.names, found.unbind(-1))}

    @torch.no_grad()
    def set_values(self, values: Mapping[str, Any]) -> None:
        """Set parameters.

        values: numbers or tensors by name, in units of the parameters"""
        found = {}
        for name, given in _by_name("values", values).items():
            if name not in self.names:
                raise errors.UsageError(f"values: {name} is not among the parameters")
            i, step = self.names.index(name), self.steps[name]
            try:
                value = torch.as_tensor(given, dtype=torch.float64, device=step.device)
            except (TypeError, ValueError):
                raise errors.UsageError(f"{name}: expected a number or a tensor, found {given!r}") from None
            if value.shape not in ((), step.shape) or not torch.isfinite(value).all():
                raise errors.UsageError(f"{name}: expected finite numbers of the shape {tuple(step.shape)}, found {given}")
            least, most = self._least[i], self._most[i]
            start, middle, pace = (part[..., i] if step.dim() else part[..., i].reshape(-1)[0]
                                   for part in (self._start, self._middle, self._pace))
            if not self._bounded[i]:
                found[name] = (value - start) / self._scale[i]
            elif ((least < value) & (value < most)).all():
                found[name] = (torch.logit((value - least) / (most - least)) - middle) / pace
            else:
                raise errors.UsageError(f"{name}: expected a value between {least:g} and {most:g}, found {given}")
        for name, steps in found.items():
            self.steps[name].copy_(steps)

    def amplitudes(self) -> torch.Tensor | None:
        """Return the structure factors (electrons); None if they are not learned."""
        if self.renderer._rendering.amplitudes is None:
            return None
        return torch.addcmul(self._factor_start, self._factor_scale, self.steps["amplitudes"])

    def forward(self, values: Mapping[str, torch.Tensor] | None = None) -> torch.Tensor:
        """Return the images (photons) at values() and amplitudes().

        values: other values of parameters by name, such as the output of a network: tensors (...) or (..., shots)"""
        at = self._values()
        images: torch.Tensor
        if values:
            images = self.renderer({**dict(zip(self.names, at.unbind(-1))), **values}, self.amplitudes())
        else:
            images = self.renderer(at, self.amplitudes())
        return images

    def extra_repr(self) -> str:
        """Return the values in their units, a line each."""
        with torch.no_grad():
            return "\n".join(f"{n} = {v.item():g} {self.units[n]}" if not v.dim() else
                             f"{n} = {v.min().item():g} to {v.max().item():g} {self.units[n]}, of each shot"
                             for n, v in self.values().items())

    def get_extra_state(self) -> dict[str, Any]:
        """Return the rest of state_dict, beside the steps: start by name, and hkl of structure factors."""
        state: Dict[str, Any] = {}
        for i, name in enumerate(self.names):
            first = (..., i) if name in self.own or self._start.dim() == 1 else (0, i)
            state[name] = dict(start=self._start[first].clone(), scale=self._scale[i].clone(),
                               least=self._least[i].clone(), most=self._most[i].clone())
        amplitudes = self.renderer._rendering.amplitudes
        if amplitudes is not None:
            state["amplitudes"] = dict(start=self._factor_start.clone(), scale=self._factor_scale.clone(),
                                       hkl=torch.from_numpy(amplitudes.hkl.astype(numpy.int64)))
        return state

    def set_extra_state(self, state: Any) -> None:
        """Set the start of the steps; torch refuses steps with other names."""
        for i, name in enumerate(self.names):
            for part, value in state.get(name, {}).items():
                own = getattr(self, "_" + part)[..., i]
                if value.shape in ((), own.shape):  # or torch refuses its steps
                    own.copy_(value)
        for part, value in state.get("amplitudes", {}).items():
            if part != "hkl" and "amplitudes" in self.steps:
                getattr(self, "_factor_" + part).copy_(value)
        self._prepare()


def _by_name(what: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise errors.UsageError(f"{what}: expected a dictionary by name, found {given!r}")
    return given


def _bounds(bounds: Mapping[str, tuple[float, float]], names: Sequence[str],
            start: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Return least and most values of all parameters; infinite ones for parameters without bounds."""
    if set(_by_name("bounds", bounds)) - set(names):
        raise errors.UsageError(f"bounds: {sorted(set(bounds) - set(names))[0]} is not among the parameters")
    least = torch.full((len(names),), -torch.inf, dtype=torch.float64)
    most = -least
    for i, name in enumerate(names):
        if name in bounds:
            try:
                least[i], most[i] = bounds[name]
            except (TypeError, ValueError):
                raise errors.UsageError(f"bounds of {name}: expected the least and the most value, found {bounds[name]!r}") from None
            inside = start[..., i]
            if not bool((-torch.inf < least[i]) & (least[i] < inside).all() & (inside < most[i]).all() & (most[i] < torch.inf)):
                raise errors.UsageError(f"bounds of {name}: expected two finite numbers on either side of "
                                        f"{', '.join(f'{v:g}' for v in inside.reshape(-1)[:3].tolist())}, found {bounds[name]}")
    return least, most


def _in_own_order(module: Image, state: dict[str, Any], prefix: str, metadata: dict[str, Any], strict: bool,
                  missing: list[str], unexpected: list[str], messages: list[str]) -> None:
    """Put structure factors of a state into the module's own order."""
    amplitudes, told = module.renderer._rendering.amplitudes, state.get(prefix + "_extra_state")
    if amplitudes is None or not told or "amplitudes" not in told:
        return
    found = {tuple(hkl): i for i, hkl in enumerate(told["amplitudes"]["hkl"].tolist())}
    wanted = [tuple(hkl) for hkl in amplitudes.hkl.tolist()]
    if set(wanted) != set(found):
        messages.append(f"{prefix}amplitudes: expected hkl {_some(set(wanted) - set(found))}, found "
                        f"{_some(set(found) - set(wanted))}")
        return
    order = torch.tensor([found[hkl] for hkl in wanted])
    own = told["amplitudes"]
    state[prefix + "_extra_state"] = {**told, "amplitudes": {**own, "start": own["start"][order]}}
    if prefix + "steps.amplitudes" in state:
        state[prefix + "steps.amplitudes"] = state[prefix + "steps.amplitudes"][order]


def _some(names: Iterable[tuple[int, ...]]) -> str:
    names = sorted(names)
    return ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "") or "none besides"


class ShotStream(torch.utils.data.IterableDataset[Dict[str, torch.Tensor]]):
    """Stream of batches of a RandomShots: an iterable-style dataset of PyTorch. Batches are dictionaries of tensors,
    the same and in the same order for any number of workers.

        for batch in torch.utils.data.DataLoader(ShotStream(shots, 16), batch_size=None, num_workers=4):

    shots: the RandomShots
    batch: shots in each batch
    rank, ranks: number of this process, from 0, and number of processes that learn together; each gets other batches"""

    shots: RandomShots
    batch: int
    rank: int
    ranks: int

    def __init__(self, shots: RandomShots, batch: int = 1, *, rank: int = 0, ranks: int = 1) -> None:
        if not isinstance(shots, RandomShots):
            raise errors.UsageError(f"shots: expected a RandomShots, found {type(shots).__name__}")
        self.shots, self.batch, self.rank, self.ranks = shots, integer(batch, "batch"), integer(rank, "rank"), integer(ranks, "ranks")
        if self.batch < 1 or not 0 <= self.rank < self.ranks:
            raise errors.UsageError(f"ShotStream: expected a batch of at least 1 and a rank below ranks, found {batch}, {rank}, "
                                    f"{ranks}")

    def __len__(self) -> int:
        return len(range(self.rank, self._batches(), self.ranks))

    def _batches(self) -> int:
        return -(-len(self.shots) // self.batch)

    def __iter__(self) -> Iterator[dict[str, torch.Tensor]]:
        worker = torch.utils.data.get_worker_info()
        first, apart = (0, 1) if worker is None else (worker.id, worker.num_workers)
        for number in range(self.rank + first * self.ranks, self._batches(), apart * self.ranks):
            start = number * self.batch
            yield torch.utils.data.default_collate(
                [self.shots[i] for i in range(start, min(start + self.batch, len(self.shots)))])
