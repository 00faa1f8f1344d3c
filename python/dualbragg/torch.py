"""Images as tensors of PyTorch that autograd goes through, both ways.

    from dualbragg.torch import Image

    model = Image(experiment, ["cell_a", "misset_x"], bounds={"cell_a": (75, 80)})
    loss = ((model() - data) ** 2).sum()
    loss.backward()                       # one pass, no derivative image is stored

Reverse and forward mode, torch.func (vmap, vjp, jvp, jacrev, jacfwd, hessian) and torch.compile, as a
custom operator (dualbragg::render), go through it. Images are on the processor, or, of a renderer with
device="cuda", on that GPU: rendered there on PyTorch's current stream, and not copied.
"""

from __future__ import annotations

import inspect
import itertools
import weakref
from typing import TYPE_CHECKING, Any, Iterable, Mapping

import numpy
import torch

from . import errors
from ._library import lib
from ._rendering import Rendering
from .memory import CUDA, LEGACY_STREAM, View

if TYPE_CHECKING:
    from .amplitudes import Amplitudes
    from .experiment import Experiment
    from .plan import Plan

_TYPES = {torch.float32: numpy.float32, torch.float64: numpy.float64}
_SECOND_ORDERS = ("error", "gauss-newton", "differences")
_renderers: weakref.WeakValueDictionary[int, Renderer] = weakref.WeakValueDictionary()  # by number
_numbers = itertools.count(1)


class Renderer:
    """A plan, and an experiment of its own, which takes the values of its parameters.

    experiment: copied; parameters: names of those that values are of
    dtype: of images, torch.float32 or torch.float64
    amplitudes: a dualbragg.Amplitudes: structure factors that are values, too
    second_order: what second derivatives of images by the parameters are taken for, as a loss needs
        them that is differentiated twice:
        "error": refused;
        "gauss-newton": 0, so that the Hessian of a loss is J^T (d2 loss/d image2) J;
        "differences": differences of first derivatives, at two more passes each
    keywords: those of dualbragg.Plan. With device="cuda" images and cotangents are tensors of that GPU;
        values may be on it or on the processor, which reads them in either case

    It can be pickled and copied, and used by several threads, which wait for each other."""

    def __init__(self, experiment: Experiment, parameters: Iterable[str] = (), dtype: torch.dtype = torch.float32,
                 *, amplitudes: Amplitudes | None = None, second_order: str = "error", **keywords: Any) -> None:
        if dtype not in _TYPES:
            raise errors.UsageError(f"dtype: expected torch.float32 or torch.float64, found {dtype}")
        if second_order not in _SECOND_ORDERS:
            raise errors.UsageError(f"second_order: expected one of {', '.join(_SECOND_ORDERS)}, found "
                                    f"{second_order!r}")
        self._rendering = Rendering(experiment, parameters, _TYPES[dtype], amplitudes, keywords)
        self.dtype, self.second_order = dtype, second_order
        self.device = torch.device(self.plan.device)
        self._here = self.device.type == "cpu"
        self.number = next(_numbers)
        _renderers[self.number] = self

    @property
    def plan(self) -> Plan:
        """The dualbragg.Plan that renders."""
        return self._rendering.plan

    def __reduce__(self):
        own = self._rendering
        return _remake, (own.given, own.plan.names, self.dtype, own.amplitudes, self.second_order,
                         own.keywords)

    def __deepcopy__(self, memo):
        return _remake(*self.__reduce__()[1])

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an image: (slow, fast), or as Experiment.shape says."""
        return self._rendering.shape

    def __call__(self, values: torch.Tensor | None = None, amplitudes: torch.Tensor | None = None) -> torch.Tensor:
        """The image (photons) at the values of the parameters, in their units.

        values: floating tensor of (parameters,), or (..., parameters) for an image each
        amplitudes: the same of (amplitudes,), electrons, in the order of the renderer's Amplitudes
        Returns (..., *shape) of the renderer's dtype"""
        values = self._joined(values, amplitudes)
        if torch.compiler.is_compiling():
            return torch.ops.dualbragg.render(values, self.number)
        return _Render.apply(values, self)

    def _joined(self, values, amplitudes):
        """Values of parameters and structure factors in one tensor."""
        split, count = len(self.plan.names), self._rendering.count
        if amplitudes is None and split == count and values is not None:
            self._check("values", values, split)
            return values
        given = []
        for what, tensor, size in (("values", values, split), ("amplitudes", amplitudes, count - split)):
            if size == 0 and tensor is None:
                continue
            self._check(what, tensor, size)
            given.append(tensor)
        if not given:
            return torch.zeros(0, dtype=torch.float64)
        if len(given) == 1:
            return given[0]
        shape = torch.broadcast_shapes(*[t.shape[:-1] for t in given])
        return torch.cat([t.double().expand(*shape, t.shape[-1]) for t in given], -1)

    def start(self) -> torch.Tensor:
        """Values of the experiment's parameters, float64."""
        return torch.tensor(self._rendering.start(), dtype=torch.float64)

    def _check(self, what, values, size):
        if not isinstance(values, torch.Tensor):
            raise errors.UsageError(f"{what}: expected a tensor, found {type(values).__name__}")
        if not values.is_cpu and values.device != self.device:
            own = "" if self._here else f" or on {self.device}"
            raise errors.UsageError(f"{what}: expected a tensor on the processor{own} (.cpu() makes a copy), "
                                    f"found one on {values.device}")
        if values.dim() < 1 or values.shape[-1] != size:
            raise errors.UsageError(f"{what}: expected the shape ({size},) or (..., {size}), found "
                                    f"{tuple(values.shape)}")
        if values.dtype not in _TYPES:  # half a float has too few digits for a cell's edge
            raise errors.UsageError(f"{what}: expected torch.float64 or torch.float32, a floating type with "
                                    f"the digits that a crystal needs, found {values.dtype}")

    # What the derivatives below are made of.

    def _empty(self, shape):
        return torch.empty(shape, dtype=self.dtype, device=self.device)

    def _stream(self):
        """That the library is to work on: PyTorch's."""
        if self._here:
            return 0
        return torch.cuda.current_stream(self.device).cuda_stream or LEGACY_STREAM

    def _memory(self, images):
        """Of several images, as the library takes it."""
        if self._here:
            return images.numpy()
        return View(images.data_ptr(), images.shape, self.plan.dtype, (CUDA, self.device.index), images)

    def _forward(self, values):
        at, images = _exact(values), self._empty((*values.shape[:-1], *self.shape))
        if values.dim() == 1:
            self._rendering.call(lib.rendering_forward, at.data_ptr(), self._stream(), images.data_ptr())
        else:
            self._rendering.forward(at.numpy(), self._memory(images), self._stream())
        return images

    def _vjp(self, values, cotangent):
        if cotangent.dtype != self.dtype or cotangent.device != self.device:
            cotangent = cotangent.to(self.device, self.dtype)
        at, cotangent = _exact(values), cotangent.detach().contiguous()  # autograd may have one number for all pixels
        if values.dim() == 1:
            gradient = torch.empty_like(at)
            self._rendering.call(lib.rendering_vjp, at.data_ptr(), self._stream(), cotangent.data_ptr(),
                                 gradient.data_ptr())
        elif (every := self._jacobian(at)) is not None:
            gradient = (cotangent.reshape(-1, every.shape[1]).double() @ every.T.double()).reshape(values.shape)
        else:
            gradient = torch.from_numpy(self._rendering.vjp(at.numpy(), self._memory(cotangent), self._stream()))
        return gradient.to(values.device, values.dtype)

    def _jvp(self, values, tangent):
        at, along = _exact(values), _exact(tangent)
        if (every := self._jacobian(at)) is not None:
            return (along.to(every.device, every.dtype) @ every).reshape(*values.shape[:-1], *self.shape)
        images, stream = self._empty((*values.shape[:-1], *self.shape)), self._stream()
        self._rendering.jvp(at.numpy(), along.numpy(), self._memory(images), stream)
        return images

    def _jacobian(self, values):
        """All derivative images, if they serve all rows of values; of numpy Rendering sees to it."""
        return None if self._here else self._rendering.jacobian(values.numpy(), self._empty, self._stream())

    def _bend(self, values, cotangent, direction):
        """The derivative of vjp(values, cotangent) along a direction of the values."""
        if self.second_order == "error":
            raise errors.UnsupportedError("second derivatives of images: the library has none; "
                                          "Renderer(second_order='gauss-newton') leaves them out, "
                                          "'differences' estimates them")
        if self.second_order == "gauss-newton":
            return torch.zeros_like(values)
        scale = torch.tensor(self._rendering.scales(), dtype=torch.float64, device=values.device)
        step = 1e-4 if self.plan.precision == "double" and self.dtype == torch.float64 else 1e-2
        at, along = values.detach().double(), direction.detach().double()
        length = (along / scale).abs().amax(-1, keepdim=True)
        h = torch.where(length > 0, step / length, torch.ones_like(length))
        ahead, behind = [self._vjp(at + sign * h * along, cotangent) for sign in (1, -1)]
        return ((ahead - behind) / (2 * h)).to(values.dtype)


def _remake(experiment, names, dtype, amplitudes, second_order, keywords):
    return Renderer(experiment, names, dtype, amplitudes=amplitudes, second_order=second_order,
                    **keywords)


def _exact(tensor):
    """Values as float64 of the processor in C order: the tensor's own memory, if it is such."""
    return tensor.detach().to("cpu", torch.float64).contiguous()


class _AsGiven(inspect.Signature):
    """PyTorch asks for the signature of a function's forward at each call, and binds the arguments to it,
    which takes longer than an image. They stay as they are."""

    class _Bound:
        def __init__(self, args, kwargs):
            self.args, self.kwargs = args, kwargs

        def apply_defaults(self):
            """There are none."""

    def bind(self, *args, **kwargs):
        return self._Bound(args, kwargs)


class _Function(torch.autograd.Function):
    """What is common: all arguments but the last, the renderer, are tensors, which may have further
    dimensions in front."""

    def __init_subclass__(cls):
        cls.forward.__signature__ = _AsGiven()

    @classmethod
    def _in_front(cls, tensor, dim, size):
        return tensor.expand(size, *tensor.shape) if dim is None else tensor.movedim(dim, 0)

    @classmethod
    def _vmap(cls, info, in_dims, *arguments):
        *tensors, renderer = arguments
        moved = [cls._in_front(t, d, info.batch_size) for t, d in zip(tensors, in_dims)]
        return cls.apply(*moved, renderer), 0

    @staticmethod
    def setup_context(context, inputs, output):
        *tensors, context.renderer = inputs
        context.save_for_backward(*tensors)
        context.save_for_forward(*tensors)


class _Render(_Function):
    """The image at values."""

    @staticmethod
    def forward(values, renderer):
        return renderer._forward(values)

    @staticmethod
    def backward(context, cotangent):
        values, = context.saved_tensors
        return _Adjoint.apply(values, cotangent, context.renderer), None

    @staticmethod
    def jvp(context, tangent, _):
        values, = context.saved_tensors
        return _Tangent.apply(values, tangent, context.renderer)

    @staticmethod
    def vmap(info, in_dims, *arguments):
        return _Render._vmap(info, in_dims, *arguments)


class _Adjoint(_Function):
    """J^T cotangent."""

    @staticmethod
    def forward(values, cotangent, renderer):
        return renderer._vjp(values, cotangent)

    @staticmethod
    def backward(context, direction):
        values, cotangent = context.saved_tensors
        bent = by_cotangent = None
        if context.needs_input_grad[0]:
            bent = _Bend.apply(values, cotangent, direction, context.renderer)
        if context.needs_input_grad[1]:
            by_cotangent = _Tangent.apply(values, direction, context.renderer).to(cotangent.dtype)
        return bent, by_cotangent, None

    @staticmethod
    def jvp(context, tangent, cotangent_tangent, _):
        values, cotangent = context.saved_tensors
        found = _Adjoint.apply(values, cotangent_tangent, context.renderer)
        return found + _Bend.apply(values, cotangent, tangent, context.renderer)

    @staticmethod
    def vmap(info, in_dims, *arguments):
        return _Adjoint._vmap(info, in_dims, *arguments)


class _Tangent(_Function):
    """J tangent."""

    @staticmethod
    def forward(values, tangent, renderer):
        return renderer._jvp(values, tangent)

    @staticmethod
    def backward(context, cotangent):
        values, tangent = context.saved_tensors
        bent = by_tangent = None
        if context.needs_input_grad[0]:
            bent = _Bend.apply(values, cotangent, tangent, context.renderer)
        if context.needs_input_grad[1]:
            by_tangent = _Adjoint.apply(values, cotangent, context.renderer).to(tangent.dtype)
        return bent, by_tangent, None

    @staticmethod
    def vmap(info, in_dims, *arguments):
        return _Tangent._vmap(info, in_dims, *arguments)


class _Bend(_Function):
    """The derivative of J^T cotangent along a direction; its own derivatives are refused."""

    @staticmethod
    def forward(values, cotangent, direction, renderer):
        return renderer._bend(values, cotangent, direction)

    @staticmethod
    def backward(context, _):
        raise errors.UnsupportedError("third derivatives of images: the library has none")

    @staticmethod
    def vmap(info, in_dims, *arguments):
        return _Bend._vmap(info, in_dims, *arguments)


# The same as operators, which compiled code calls as they are.

@torch.library.custom_op("dualbragg::render", mutates_args=())
def _render_operator(values: torch.Tensor, renderer: int) -> torch.Tensor:
    return _renderers[renderer]._forward(values)


@_render_operator.register_fake
def _(values, renderer):
    own = _renderers[renderer]
    return values.new_empty((*values.shape[:-1], *own.shape), dtype=own.dtype, device=own.device)


@torch.library.custom_op("dualbragg::adjoint", mutates_args=())
def _adjoint_operator(values: torch.Tensor, cotangent: torch.Tensor, renderer: int) -> torch.Tensor:
    return _renderers[renderer]._vjp(values, cotangent)


@_adjoint_operator.register_fake
def _(values, cotangent, renderer):
    return torch.empty_like(values)


def _save(ctx, inputs, output):  # torch names the arguments
    values, ctx.number = inputs
    ctx.save_for_backward(values)


def _back(context, cotangent):
    values, = context.saved_tensors
    return torch.ops.dualbragg.adjoint(values, cotangent, context.number), None


_render_operator.register_autograd(_back, setup_context=_save)


class Image(torch.nn.Module):
    """An image whose parameters are learned.

    experiment: where they start; parameters: their names
    bounds: {name: (least, most)} in their units: those stay between them
    dtype and keywords: those of Renderer; amplitudes: a dualbragg.Amplitudes, whose structure factors
        are learned, too

    The module's parameter `steps` is in typical steps of each quantity, so that one learning rate
    suits all: value = start + scale * step, and within bounds
    value = least + (most - least) * sigmoid. values() gives them in their units. Structure factors
    have `amplitude_steps`, of their root mean square; amplitudes() gives them in electrons.

    state_dict() has the names, so that it can be loaded into a module that has the same parameters
    in another order; one that has others is refused."""

    def __init__(self, experiment: Experiment, parameters: Iterable[str],
                 bounds: Mapping[str, tuple[float, float]] | None = None, dtype: torch.dtype = torch.float32,
                 **keywords: Any) -> None:
        super().__init__()
        self.renderer = Renderer(experiment, parameters, dtype, **keywords)
        names = self.renderer.plan.names
        bounds = dict(bounds or {})
        unknown = set(bounds) - set(names)
        if unknown:
            raise errors.UsageError(f"bounds: {sorted(unknown)[0]} is not among the parameters")
        rendering, start = self.renderer._rendering, self.renderer.start()
        scale = torch.tensor(rendering.scales(), dtype=torch.float64)
        least, most = start - torch.inf, start + torch.inf
        for i, name in enumerate(names):
            if name in bounds:
                least[i], most[i] = bounds[name]
                if not -torch.inf < least[i] < start[i] < most[i] < torch.inf:
                    raise errors.UsageError(f"bounds of {name}: expected two finite numbers on either "
                                            f"side of {start[i]:g}, found {bounds[name]}")
        own, factors = scale[:len(names)], scale[len(names):]
        for name, value in dict(start=start, scale=own, least=least, most=most).items():
            self.register_buffer(name, value)
        self._prepare()
        self.steps = torch.nn.Parameter(torch.zeros(len(names), dtype=torch.float64))
        if rendering.amplitudes is not None:
            self.register_buffer("amplitude_start", torch.tensor(rendering.amplitudes.get(rendering.given)))
            self.register_buffer("amplitude_scale", factors)
            self.amplitude_steps = torch.nn.Parameter(torch.zeros_like(factors))

    def _prepare(self):
        """What is the same for all steps: a parameter within bounds moves along a sigmoid, which has the scale as
        its slope at the start."""
        bounded = torch.isfinite(self.least)
        floor = torch.where(bounded, self.least, self.start - 1)
        width = torch.where(bounded, self.most - self.least, 2.0)
        middle = torch.logit((self.start - floor) / width)
        pace = self.scale / (width * torch.sigmoid(middle) * torch.sigmoid(-middle))
        for name, value in dict(bounded=bounded, floor=floor, width=width, middle=middle, pace=pace).items():
            self.register_buffer("_" + name, value, persistent=False)
        self._any_bounded = bool(bounded.any())

    def values(self) -> torch.Tensor:
        """The parameters in their units."""
        free = torch.addcmul(self.start, self.scale, self.steps)
        if not self._any_bounded:
            return free
        inside = torch.addcmul(self._floor, self._width, torch.sigmoid(torch.addcmul(self._middle, self._pace, self.steps)))
        return torch.where(self._bounded, inside, free)

    def amplitudes(self) -> torch.Tensor | None:
        """The structure factors in electrons; None if they are not learned."""
        if self.renderer._rendering.amplitudes is None:
            return None
        return self.amplitude_start + self.amplitude_scale * self.amplitude_steps

    def forward(self) -> torch.Tensor:
        """The image at values() and amplitudes()."""
        return self.renderer(self.values(), self.amplitudes())

    def get_extra_state(self) -> dict[str, Any]:
        """What state_dict has besides: the names of the parameters, hkl of structure factors."""
        amplitudes = self.renderer._rendering.amplitudes
        return dict(parameters=list(self.renderer.plan.names),
                    hkl=[] if amplitudes is None else amplitudes.hkl.tolist())

    def set_extra_state(self, state: Any) -> None:
        """The names are looked at before what they name is loaded."""

    def _load_from_state_dict(self, state_dict, prefix, metadata, strict, missing, unexpected, messages):
        told, own = state_dict.get(prefix + "_extra_state"), self.get_extra_state()
        kinds = dict(parameters=("steps", "start", "scale", "least", "most"),
                     hkl=("amplitude_steps", "amplitude_start", "amplitude_scale"))
        moved = dict(state_dict)  # in this module's order
        for kind, entries in kinds.items() if told is not None else ():
            found, wanted = [[_name(n) for n in names[kind]] for names in (told, own)]
            if sorted(found) != sorted(wanted):
                messages.append(f"{prefix}{kind}: expected {_some(wanted)}, found {_some(found)}")
                return
            at = {n: i for i, n in enumerate(found)}
            order = [at[n] for n in wanted] if found != wanted else None
            for entry in entries:
                if order is not None and prefix + entry in moved:
                    moved[prefix + entry] = moved[prefix + entry][order]
        super()._load_from_state_dict(moved, prefix, metadata, strict, missing, unexpected, messages)
        self._prepare()


def _name(name):
    return name if isinstance(name, str) else tuple(name)


def _some(names):
    return ", ".join(map(str, names[:8])) + (", ..." if len(names) > 8 else "") or "none"
