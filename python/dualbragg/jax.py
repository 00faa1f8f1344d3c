"""Images as functions of JAX, with reverse and forward derivatives.

    import jax
    from dualbragg.jax import Renderer

    render = Renderer(experiment, ["cell_a", "misset_x"])
    loss = lambda values: ((render(values) - data) ** 2).sum()
    slope = jax.jit(jax.grad(loss))(render.named())         # {"cell_a": ..., "misset_x": ...}

jit, vmap, shard_map, jvp, vjp, grad, jacrev and jacfwd work; hessian works if `second_order` allows it. A callback does
the work on the processor. JAX computes in single precision by default: values of parameters then have seven digits.
jax.config.update("jax_enable_x64", True) gives double precision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Callable, Iterable, Mapping, Sequence

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import errors
from ._rendering import Rendering

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, DTypeLike, NDArray

    from ._types import Floats
    from .amplitudes import Amplitudes
    from .experiment import Experiment
    from .plan import Plan

_filled: Callable[[Any], Any] = ad.instantiate_zeros
_is_unknown: Callable[[Any], bool] = ad.is_undefined_primal
_described: Callable[..., jax.ShapeDtypeStruct] = jax.ShapeDtypeStruct


def _exact(values: ArrayLike) -> Floats:
    return numpy.ascontiguousarray(values, dtype=numpy.float64)


def _factors(values: NDArray[Any]) -> Floats | None:
    """Return structure factors for a Rendering; None: they are not variables."""
    return _exact(values) if values.shape[-1] else None


# Work of the primitives. Arguments: `own`, a Rendering; values and structure factors; then vectors, each by values and by
# structure factors, or an image.

def _image(own: Rendering, values: NDArray[Any], factors: NDArray[Any]) -> list[NDArray[Any]]:
    values = _exact(values)
    return [own.forward(values, _factors(factors), own.new(values))]


def _tangent(own: Rendering, values: NDArray[Any], factors: NDArray[Any], along: NDArray[Any],
             by_factors: NDArray[Any]) -> list[NDArray[Any]]:
    """Return J along."""
    values = _exact(values)
    return [own.jvp(values, _factors(factors), _exact(along), _factors(by_factors), own.new(values))]


def _adjoint(own: Rendering, values: NDArray[Any], factors: NDArray[Any],
             cotangent: NDArray[Any]) -> list[Floats | None]:
    """Return J^T cotangent."""
    return list(own.vjp(_exact(values), _factors(factors), numpy.ascontiguousarray(cotangent, own.plan.dtype)))


def _difference(own: Rendering, function: Callable[..., Sequence[Any]], values: NDArray[Any], factors: NDArray[Any],
                rest: Sequence[NDArray[Any]], along: Sequence[NDArray[Any]]) -> list[Any]:
    """Return the derivative of a function of values and structure factors along a direction."""
    return own.difference(lambda v, f: function(own.exact(), v, factors if f is None else f, *rest), _exact(values),
                          _factors(factors), _exact(along[0]), _factors(along[1]))


def _curve(own: Rendering, values: NDArray[Any], factors: NDArray[Any], tangent: NDArray[Any],
           tangent_factors: NDArray[Any], *along: NDArray[Any]) -> list[Any]:
    """Return the derivative of J tangent along a direction."""
    return _difference(own, lambda *given: [*_tangent(*given), None], values, factors, (tangent, tangent_factors),
                       along)[:1]


def _bend(own: Rendering, values: NDArray[Any], factors: NDArray[Any], cotangent: NDArray[Any],
          *along: NDArray[Any]) -> list[Any]:
    """Return the derivative of J^T cotangent along a direction."""
    return _difference(own, _adjoint, values, factors, (cotangent,), along)


class _Operation:
    """Primitive of (values, factors, vectors ...), linear in each of the vectors.

    gives: "image", or "sums" by the values and by the factors
    derive: function (own, arguments, tangents) that returns the derivative along all tangents
    transpose: function (own, cotangents, arguments) that returns cotangents of the arguments"""

    work: Callable[..., list[Any]]
    gives: str
    primitive: Any
    shared: Any

    def __init__(self, name: str, work: Callable[..., list[Any]], gives: str,
                 derive: Callable[[Rendering, Sequence[Any], Sequence[Any]], list[jax.Array]],
                 transpose: Callable[[Rendering, Sequence[Any], Sequence[Any]], list[jax.Array | None]] | None = None) -> None:
        self.work, self.gives = work, gives
        primitive: Any = Primitive("dualbragg_" + name)
        self.primitive = primitive
        self.primitive.multiple_results = True
        self.primitive.def_impl(self._run)
        self.primitive.def_abstract_eval(self._shapes)
        self.shared = mlir.lower_fun(self._call, multiple_results=True)
        mlir.register_lowering(self.primitive, self._lower)
        batching.primitive_batchers[self.primitive] = self._batch

        def differentiate(arguments: Sequence[Any], tangents: Sequence[Any], *,
                          own: Rendering) -> tuple[list[jax.Array], list[jax.Array]]:
            tangents = [_filled(t) if isinstance(t, ad.Zero) and k > 1 else t for k, t in enumerate(tangents)]
            return self.bind(own, *arguments), derive(own, arguments, tangents)

        ad.primitive_jvps[self.primitive] = differentiate
        if transpose is not None:
            def transposed(cotangents: Sequence[Any], *arguments: Any, own: Rendering) -> list[jax.Array | None]:
                given = [_filled(c) for c in cotangents]
                return transpose(own, given, arguments)
            ad.primitive_transposes[self.primitive] = transposed

    def bind(self, own: Rendering, *arguments: Any) -> list[jax.Array]:
        found: list[jax.Array] = self.primitive.bind(*arguments, own=own)
        return found

    def _run(self, *arguments: Any, own: Rendering) -> list[jax.Array]:
        """Run outside of compiled functions, as a compiled function of its own."""
        if self not in own.compiled:
            own.compiled[self] = jax.jit(lambda *given: self.bind(own, *given))
        found: list[jax.Array] = own.compiled[self](*arguments)
        return found

    def _lower(self, context: mlir.LoweringRuleContext, *operands: Any, own: Rendering) -> Sequence[Any]:
        """On one device, call Python with numpy's arrays. pure_callback makes JAX's arrays of them, which takes 0.1 ms
        more."""
        if getattr(context.module_context.axis_context, "num_devices", 0) != 1:
            shared: Sequence[Any] = self.shared(context, *operands, own=own)
            return shared
        taken: Any = context.avals_in
        work = self._work(own, context.avals_out)
        made: Sequence[Any] = mlir.emit_python_callback(context, work, None, list(operands), taken, context.avals_out,
                                                        has_side_effect=False)[0]
        return made

    def _call(self, *arguments: Any, own: Rendering) -> Sequence[jax.Array]:
        wanted = self._shapes(*arguments, own=own)
        found: Sequence[jax.Array] = jax.pure_callback(
            self._work(own, wanted), [_described(a.shape, a.dtype) for a in wanted], *arguments)
        return found

    def _work(self, own: Rendering, wanted: Sequence[Any]) -> Callable[..., tuple[NDArray[Any], ...]]:
        """Return the function that works on arrays."""
        def work(*given: Any) -> tuple[NDArray[Any], ...]:
            found = self.work(own, *given)
            return tuple(numpy.zeros(a.shape, a.dtype) if made is None else made.astype(a.dtype, copy=False)
                         for made, a in zip(found, wanted))

        return work

    def _shapes(self, values: Any, factors: Any, *_: Any, own: Rendering) -> list[jax.core.ShapedArray]:
        kind = jax.core.ShapedArray
        if self.gives == "image":
            return [kind((*values.shape[:-1], *own.image), own.plan.dtype)]
        return [kind(values.shape, values.dtype), kind(factors.shape, factors.dtype)]

    def _batch(self, arguments: Sequence[jax.Array], dims: Sequence[int | None], *,
               own: Rendering) -> tuple[list[jax.Array], list[int]]:
        """Bind the arguments with the map's dimension in front. Structure factors without it need not be repeated if
        they have one dimension only: their leading dimensions are the first ones of the values."""
        size = next(a.shape[d] for a, d in zip(arguments, dims) if d is not None)
        pairs = range(1, len(arguments), 2) if self.gives == "image" else ()
        alone = all(dims[i] is None and arguments[i].ndim == 1 for i in pairs)
        moved = [a if alone and i in pairs else
                 jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
                 for i, (a, d) in enumerate(zip(arguments, dims))]
        found = self.bind(own, *moved)
        return found, [0] * len(found)


def _sum(one: list[jax.Array] | None, other: list[jax.Array]) -> list[jax.Array]:
    return other if one is None else [a + b for a, b in zip(one, other)]


def _moved(own: Rendering, tangents: Sequence[Any],
           function: Callable[..., list[jax.Array]]) -> list[jax.Array] | None:
    """Return the function's result for tangents of values and structure factors, zeros filled in; None: both are 0."""
    if all(isinstance(t, ad.Zero) for t in tangents[:2]):
        return None
    return function(own, *[_filled(t) for t in tangents[:2]])


def _second(own: Rendering, operation: _Operation, *arguments: Any) -> list[jax.Array]:
    """Return a second derivative, as the renderer's second_order says."""
    if own.second_order == "error":
        raise errors.UnsupportedError("second derivatives of images: the library has none; Renderer(second_order="
                                      "'gauss-newton') leaves them out, 'differences' estimates them")
    if own.second_order == "gauss-newton":
        return [jnp.zeros(a.shape, a.dtype) for a in operation._shapes(*arguments[:2], own=own)]
    return operation.bind(own, *arguments)


def _derive_image(own: Rendering, arguments: Sequence[Any], tangents: Sequence[Any]) -> list[jax.Array]:
    return tangent_of.bind(own, *arguments, *[_filled(t) for t in tangents])


def _derive_tangent(own: Rendering, arguments: Sequence[Any], tangents: Sequence[Any]) -> list[jax.Array]:
    bent = _moved(own, tangents, lambda own, *along: _second(own, curve_of, *arguments, *along))
    return _sum(bent, tangent_of.bind(own, *arguments[:2], *tangents[2:]))


def _derive_adjoint(own: Rendering, arguments: Sequence[Any], tangents: Sequence[Any]) -> list[jax.Array]:
    bent = _moved(own, tangents, lambda own, *along: _second(own, bend_of, *arguments, *along))
    return _sum(bent, adjoint_of.bind(own, *arguments[:2], tangents[2]))


def _refuse(own: Rendering, *along: Any) -> list[jax.Array]:
    raise errors.UnsupportedError("third derivatives of images: the library has none")


def _derive_curve(own: Rendering, arguments: Sequence[Any], tangents: Sequence[Any]) -> list[jax.Array]:
    _moved(own, tangents, _refuse)
    at, one, other = arguments[:2], arguments[2:4], arguments[4:]
    return _sum(curve_of.bind(own, *at, *tangents[2:4], *other), curve_of.bind(own, *at, *one, *tangents[4:]))


def _derive_bend(own: Rendering, arguments: Sequence[Any], tangents: Sequence[Any]) -> list[jax.Array]:
    _moved(own, tangents, _refuse)
    at, cotangent, along = arguments[:2], arguments[2], arguments[3:]
    return _sum(bend_of.bind(own, *at, tangents[2], *along), bend_of.bind(own, *at, cotangent, *tangents[3:]))


def _transpose_tangent(own: Rendering, cotangents: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array | None]:
    return [None, None, *adjoint_of.bind(own, *arguments[:2], *cotangents)]


def _transpose_adjoint(own: Rendering, cotangents: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array | None]:
    return [None, None, *tangent_of.bind(own, *arguments[:2], *cotangents)]


def _transpose_curve(own: Rendering, cotangents: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array | None]:
    one, other = arguments[2:4], arguments[4:]
    known = other if _is_unknown(one[0]) else one
    found = bend_of.bind(own, *arguments[:2], *cotangents, *known)
    return [None, None, *found, None, None] if known is other else [None, None, None, None, *found]


def _transpose_bend(own: Rendering, cotangents: Sequence[Any], arguments: Sequence[Any]) -> list[jax.Array | None]:
    if _is_unknown(arguments[2]):
        return [None, None, *curve_of.bind(own, *arguments[:2], *arguments[3:], *cotangents), None, None]
    return [None, None, None, *bend_of.bind(own, *arguments[:3], *cotangents)]


image_of: _Operation = _Operation("image", _image, "image", _derive_image)
tangent_of: _Operation = _Operation("tangent", _tangent, "image", _derive_tangent, _transpose_tangent)
adjoint_of: _Operation = _Operation("adjoint", _adjoint, "sums", _derive_adjoint, _transpose_adjoint)
curve_of: _Operation = _Operation("curve", _curve, "image", _derive_curve, _transpose_curve)
bend_of: _Operation = _Operation("bend", _bend, "sums", _derive_bend, _transpose_bend)


class Renderer:
    """Renderer: images of an experiment as a function of values of its parameters.

    experiment: copied; or a sequence of experiments (shots) with the same counts and structure factors: images then
        have an axis of shots
    parameters: names, in the order of the values
    dtype: of images, "float32", or "float64" if JAX has 64 bits
    amplitudes: dualbragg.Amplitudes: structure factors that are values, too
    second_order: second derivatives of images: "error": refused; "gauss-newton": 0, so that the Hessian of a loss is
        J^T (d2 loss/d image2) J; "differences": central differences of fourth order of exact first derivatives, in
        double precision
    keywords: as for dualbragg.Plan

    A renderer can be pickled and copied."""

    def __init__(self, experiment: Experiment | Sequence[Experiment], parameters: Iterable[str] = (),
                 dtype: DTypeLike = "float32", *, amplitudes: Amplitudes | None = None, second_order: str = "error",
                 **keywords: Any) -> None:
        dtype = numpy.dtype(dtype)
        read: Callable[[str], Any] = jax.config.read
        if dtype == numpy.float64 and not read("jax_enable_x64"):
            raise errors.UsageError("dtype: expected float32, because JAX has no 64 bits unless "
                                    "jax_enable_x64 is set, found float64")
        self._take(Rendering(experiment, parameters, dtype, amplitudes, keywords, second_order=second_order))

    def _take(self, rendering: Rendering) -> None:
        self._rendering = rendering
        rendering.compiled = {}  # compiled operations, for calls outside of compiled functions

    def __getstate__(self) -> Rendering:
        return self._rendering

    def __setstate__(self, state: Rendering) -> None:
        self._take(state)

    @property
    def plan(self) -> Plan:
        """The dualbragg.Plan that renders."""
        return self._rendering.plan

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the image at values of shape (parameters,): as Experiment.shape, with the axis of shots in front."""
        return self._rendering.shape

    def start(self) -> jax.Array:
        """Return the experiment's values: (parameters,), or (shots, parameters)."""
        return jnp.asarray(self._rendering.start())

    def named(self) -> dict[str, jax.Array]:
        """Return the experiment's values by name, as the renderer takes them: () each, or (shots,)."""
        start = self._rendering.start()
        return {name: jnp.asarray(start[..., i]) for i, name in enumerate(self.plan.names)}

    def __call__(self, values: Any = None, amplitudes: Any = None) -> jax.Array:
        """Return the images (photons) at values of the parameters, in their units: (..., *shape) of the renderer's
        dtype.

        values: floating array (parameters,), or (..., parameters) for an image each; of several shots (..., shots,
            parameters), or (parameters,) for all shots. Or a dictionary of arrays by name, (...) or (..., shots). Other
            parameters, and all parameters for None, have the experiment's values
        amplitudes: floating array (amplitudes,), electrons, in the order of the renderer's Amplitudes, or (...,
            amplitudes); None: the experiment's"""
        own = self._rendering
        if values is None or isinstance(values, Mapping):
            values = self._joined(values or {})
        else:
            values = self._checked("values", values, own.front, own.count)
        if own.front and (values.ndim == 1 or values.shape[-2] == 1):
            values = jnp.broadcast_to(values, (*values.shape[:-2], *own.front, own.count))
        factors = jnp.zeros(0)
        if own.amplitudes is not None or amplitudes is not None:
            values, factors = self._with_factors(values, amplitudes)
        return image_of.bind(own, values, factors)[0]

    def _joined(self, values: Mapping[str, Any]) -> jax.Array:
        """Return values by name as one array."""
        names, front = self.plan.names, self._rendering.front
        if set(values) - set(names):
            raise errors.UsageError(f"values: {sorted(set(values) - set(names))[0]} is not among the parameters")
        if not names:
            return self.start()
        each = {**self.named(), **{name: self._checked(name, value) for name, value in values.items()}}
        for name, value in each.items():
            if front and value.ndim and value.shape[-1] not in (1, *front):
                raise errors.UsageError(f"{name}: expected the shape () or (..., {front[0]}), found {value.shape}")
        return jnp.stack(jnp.broadcast_arrays(*each.values()), -1)

    def _with_factors(self, values: jax.Array, factors: Any) -> tuple[jax.Array, jax.Array]:
        own = self._rendering
        if own.amplitudes is None:
            raise errors.UsageError("amplitudes: expected none, because this renderer has no Amplitudes, found an array")
        if factors is None:
            factors = own.start_factors()
        factors = self._checked("amplitudes", factors, (), len(own.amplitudes))
        if factors.ndim > 1:  # of each image
            shots = 1 + len(own.front)
            front = jnp.broadcast_shapes(values.shape[:values.ndim - shots], factors.shape[:-1])
            values = jnp.broadcast_to(values, (*front, *values.shape[values.ndim - shots:]))
            factors = jnp.broadcast_to(factors, (*front, factors.shape[-1]))
        return values, factors

    @staticmethod
    def _checked(what: str, array: Any, front: tuple[int, ...] = (), size: int | None = None) -> jax.Array:
        array = jnp.asarray(float(array) if type(array) is int else array)
        wanted = (*(front if array.ndim > 1 else ()), size)
        if size is not None and (array.ndim < 1 or array.shape[array.ndim - len(wanted):] != wanted):
            raise errors.UsageError(f"{what}: expected the shape ({size},) or (..., {', '.join(map(str, wanted))}), found "
                                    f"{array.shape}")
        if array.dtype not in (jnp.float32, jnp.float64):  # half a float has too few digits
            raise errors.UsageError(f"{what}: expected float64 or float32, a floating type with the digits "
                                    f"that a crystal needs, found {array.dtype}")
        checked: jax.Array = array
        return checked
