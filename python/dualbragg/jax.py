"""Images as functions of JAX, with derivatives both ways.

    import jax
    from dualbragg.jax import Renderer

    render = Renderer(experiment, ["cell_a", "misset_x"])
    loss = lambda values: ((render(values) - data) ** 2).sum()
    slope = jax.jit(jax.grad(loss))(values)

jit, vmap, jvp, vjp, grad, jacrev and jacfwd go through it; second derivatives are refused. The work is
done on the processor, by a callback. JAX computes in single precision unless told otherwise
(jax.config.update("jax_enable_x64", True)): values of parameters then have seven digits.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Iterable

import jax
import jax.numpy as jnp
import numpy
from jax.extend.core import Primitive
from jax.interpreters import ad, batching, mlir

from . import errors
from ._rendering import Rendering

if TYPE_CHECKING:
    from numpy.typing import DTypeLike

    from .amplitudes import Amplitudes
    from .experiment import Experiment
    from .plan import Plan


def _called(function, *arguments, shape, dtype):
    """A function of arrays as one of JAX, which hands it all images of a vmap at once."""
    return jax.pure_callback(lambda *given: function(*given).astype(dtype, copy=False),
                             jax.ShapeDtypeStruct(shape, dtype), *arguments,
                             vmap_method="broadcast_all")


def _exact(values):
    return numpy.ascontiguousarray(values, dtype=numpy.float64)


def _forward(own, values):
    return _called(lambda v: own.forward(_exact(v), own.new(v)), values,
                   shape=(*values.shape[:-1], *own.shape), dtype=own.plan.dtype)


def _tangent(values, direction, *, own):
    """J direction."""
    return _called(lambda v, d: own.jvp(_exact(v), _exact(d), own.new(v)), values, direction,
                   shape=(*values.shape[:-1], *own.shape), dtype=own.plan.dtype)


def _adjoint(values, cotangent, *, own):
    """J^T cotangent."""
    return _called(lambda v, c: own.vjp(_exact(v), numpy.ascontiguousarray(c, own.plan.dtype)), values,
                   cotangent, shape=values.shape, dtype=values.dtype)


def _linear(name, function, transposed):
    """A primitive of (values, vector) that is linear in the vector; transposed() is the one with the
    transposed matrix."""
    primitive = Primitive(name)
    primitive.def_impl(function)
    primitive.def_abstract_eval(lambda values, vector, *, own: jax.core.ShapedArray(
        *_shape_of(name, values, own)))
    mlir.register_lowering(primitive, mlir.lower_fun(function, multiple_results=False))

    def batch(arguments, dims, *, own):
        size = next(a.shape[d] for a, d in zip(arguments, dims) if d is not None)
        moved = [jnp.broadcast_to(a, (size, *a.shape)) if d is None else jnp.moveaxis(a, d, 0)
                 for a, d in zip(arguments, dims)]
        return primitive.bind(*moved, own=own), 0

    def transpose(cotangent, values, vector, *, own):
        if isinstance(cotangent, ad.Zero):
            return None, ad.Zero(vector.aval)
        return None, transposed().bind(values, cotangent, own=own)

    def differentiate(arguments, tangents, *, own):
        if not isinstance(tangents[0], ad.Zero):
            raise errors.UnsupportedError("second derivatives of images: the library has none")
        found = primitive.bind(*arguments, own=own)
        if isinstance(tangents[1], ad.Zero):
            return found, ad.Zero.from_primal_value(found)
        return found, primitive.bind(arguments[0], tangents[1], own=own)

    batching.primitive_batchers[primitive] = batch
    ad.primitive_transposes[primitive] = transpose
    ad.primitive_jvps[primitive] = differentiate
    return primitive


def _shape_of(name, values, own):
    if name == "dualbragg_adjoint":
        return values.shape, values.dtype
    return (*values.shape[:-1], *own.shape), own.plan.dtype


_tangent_primitive: Any = _linear("dualbragg_tangent", _tangent, lambda: _adjoint_primitive)
_adjoint_primitive: Any = _linear("dualbragg_adjoint", _adjoint, lambda: _tangent_primitive)


class Renderer:
    """An experiment as a function of its parameters.

    experiment: copied; parameters: names of those that values are of
    dtype: of images, "float32" or, where JAX has 64 bits, "float64"
    amplitudes: a dualbragg.Amplitudes: structure factors that are values, too
    keywords: those of dualbragg.Plan"""

    def __init__(self, experiment: Experiment, parameters: Iterable[str] = (), dtype: DTypeLike = "float32", *,
                 amplitudes: Amplitudes | None = None, **keywords: Any) -> None:
        dtype = numpy.dtype(dtype)
        if dtype == numpy.float64 and not jax.config.jax_enable_x64:
            raise errors.UsageError("dtype: expected float32, since JAX has no 64 bits unless "
                                    "jax_enable_x64 is set, found float64")
        self._rendering = own = Rendering(experiment, parameters, dtype, amplitudes, keywords)

        @jax.custom_jvp
        def render(values):
            return _forward(own, values)

        @render.defjvp
        def _(primals, tangents):
            values, = primals
            return render(values), _tangent_primitive.bind(values, tangents[0], own=own)

        self._render = render

    @property
    def plan(self) -> Plan:
        """The dualbragg.Plan that renders."""
        return self._rendering.plan

    @property
    def shape(self) -> tuple[int, ...]:
        """Of an image: (slow, fast), or as Experiment.shape says."""
        return self._rendering.shape

    def __call__(self, values: Any = None, amplitudes: Any = None) -> jax.Array:
        """The image (photons) at the values of the parameters, in their units.

        values: floating array of (parameters,), or (..., parameters) for an image each
        amplitudes: the same of (amplitudes,), electrons, in the order of the renderer's Amplitudes
        Returns (..., *shape) of the renderer's dtype"""
        own, split = self._rendering, len(self.plan.names)
        given = []
        for what, array, size in (("values", values, split), ("amplitudes", amplitudes, own.count - split)):
            if size == 0 and array is None:
                continue
            array = jnp.asarray(array)
            if array.ndim < 1 or array.shape[-1] != size:
                raise errors.UsageError(f"{what}: expected the shape ({size},) or (..., {size}), found "
                                        f"{array.shape}")
            if array.dtype not in (jnp.float32, jnp.float64):  # half a float has too few digits
                raise errors.UsageError(f"{what}: expected float64 or float32, a floating type with the digits "
                                        f"that a crystal needs, found {array.dtype}")
            given.append(array)
        if not given:
            return self._render(jnp.zeros(0))
        shape = jnp.broadcast_shapes(*[a.shape[:-1] for a in given])
        return self._render(jnp.concatenate(
            [jnp.broadcast_to(a, (*shape, a.shape[-1])) for a in given], -1))
