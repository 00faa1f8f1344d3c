"""Images as tensors of PyTorch that autograd goes through, both ways.

    from dualbragg.torch import Image

    model = Image(experiment, ["cell_a", "misset_x"], bounds={"cell_a": (75, 80)})
    loss = ((model() - data) ** 2).sum()
    loss.backward()                       # one pass, no derivative image is stored

Tensors are on the processor. Second derivatives are not there: asking for them is an error.
"""

import threading

import numpy
import torch

from . import errors
from .fields import parameters as describe
from .plan import Plan

_TYPES = {torch.float32: numpy.float32, torch.float64: numpy.float64}


class Renderer:
    """A plan, and an experiment of its own, which takes the values of its parameters.

    Keywords are those of dualbragg.Plan; dtype is torch.float32 or torch.float64."""

    def __init__(self, experiment, parameters, dtype=torch.float32, **keywords):
        if dtype not in _TYPES:
            raise errors.UsageError(f"dtype: expected torch.float32 or torch.float64, found {dtype}")
        self.experiment = experiment.copy()
        self.plan = Plan(self.experiment, parameters, dtype=_TYPES[dtype], **keywords)
        self.dtype = dtype
        self._lock = threading.Lock()  # autograd goes back in threads of its own

    def __call__(self, values):
        """The image (photons) at the values of the parameters, in their units."""
        return _Render.apply(values, self)

    def _at(self, values):
        """The plan at these values; the lock is held."""
        for name, value in zip(self.plan.names, values.detach().double().tolist()):
            self.experiment[name] = value
        self.plan.update(self.experiment)
        return self.plan

    def _check(self, values):
        expected = (len(self.plan.names),)
        if values.device.type != "cpu":
            raise errors.UsageError(f"values: expected a tensor on the processor, found {values.device}")
        if tuple(values.shape) != expected:
            raise errors.UsageError(f"values: expected the shape {expected}, found "
                                    f"{tuple(values.shape)}")
        if not values.is_floating_point():
            raise errors.UsageError(f"values: expected a floating type, found {values.dtype}")


class _Render(torch.autograd.Function):
    @staticmethod
    def forward(values, renderer):
        renderer._check(values)
        with renderer._lock:
            return torch.from_numpy(renderer._at(values).forward())

    @staticmethod
    def setup_context(context, inputs, output):
        values, context.renderer = inputs
        context.save_for_backward(values)
        context.save_for_forward(values)

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(context, cotangent):
        values, = context.saved_tensors
        # what autograd hands over may be one number for all pixels
        own = cotangent.detach().to(context.renderer.dtype).contiguous().numpy()
        with context.renderer._lock:
            gradient = context.renderer._at(values).vjp(own)
        return torch.from_numpy(gradient).to(values.dtype), None

    @staticmethod
    def jvp(context, tangent, _):
        values, = context.saved_tensors
        with context.renderer._lock:
            _, image = context.renderer._at(values).jvp(tangent.detach().double().numpy().copy())
        return torch.from_numpy(image)


class Image(torch.nn.Module):
    """An image whose parameters are learned.

    experiment: where they start; parameters: their names
    bounds: {name: (least, most)} in their units: those stay between them

    The one parameter of the module, `steps`, is in typical steps of each quantity, so that one
    learning rate suits all: value = start + scale * step, and within bounds
    value = least + (most - least) * sigmoid. values() gives them in their units."""

    def __init__(self, experiment, parameters, bounds=None, dtype=torch.float32, **keywords):
        super().__init__()
        self.renderer = Renderer(experiment, parameters, dtype, **keywords)
        names = self.renderer.plan.names
        bounds = dict(bounds or {})
        unknown = set(bounds) - set(names)
        if unknown:
            raise errors.UsageError(f"bounds: {sorted(unknown)[0]} is not among the parameters")
        table = describe()
        start = torch.tensor([experiment[n] for n in names], dtype=torch.float64)
        scale = torch.tensor([table[n].scale if n in table else 1.0 for n in names],
                             dtype=torch.float64)
        least, most = start - torch.inf, start + torch.inf
        for i, name in enumerate(names):
            if name in bounds:
                least[i], most[i] = bounds[name]
                if not least[i] < start[i] < most[i]:
                    raise errors.UsageError(f"bounds of {name}: expected two numbers on either side of "
                                            f"{start[i]:g}, found {bounds[name]}")
        for name, value in dict(start=start, scale=scale, least=least, most=most).items():
            self.register_buffer(name, value)
        self.steps = torch.nn.Parameter(torch.zeros(len(names), dtype=torch.float64))

    def values(self):
        """The parameters in their units."""
        free = self.start + self.scale * self.steps
        bounded = torch.isfinite(self.least)
        least = torch.where(bounded, self.least, self.start - 1)
        width = torch.where(bounded, self.most - self.least, 2.0)
        middle = torch.logit((self.start - least) / width)
        slope = width * torch.sigmoid(middle) * torch.sigmoid(-middle)  # of a step at the start
        inside = least + width * torch.sigmoid(middle + self.scale * self.steps / slope)
        return torch.where(bounded, inside, free)

    def forward(self):
        return self.renderer(self.values())
