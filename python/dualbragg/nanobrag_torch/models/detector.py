"""The port's Detector."""

import torch

from ..config import DetectorConfig


class Detector:
    """Detector: its config has the geometry."""

    def __init__(self, config=None, device=None, dtype=torch.float32):
        self.config = config if config is not None else DetectorConfig()
        self.device, self.dtype = device, dtype
        self.spixels, self.fpixels = self.config.spixels, self.config.fpixels
