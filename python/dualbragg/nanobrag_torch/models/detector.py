"""The port's Detector."""

from __future__ import annotations

from typing import Any, Optional

import torch

from ..config import DetectorConfig


class Detector:
    """Detector: its config has the geometry."""

    config: DetectorConfig
    device: Any
    dtype: torch.dtype
    spixels: int
    fpixels: int

    def __init__(self, config: Optional[DetectorConfig] = None, device: Any = None,
                 dtype: torch.dtype = torch.float32) -> None:
        self.config = config if config is not None else DetectorConfig()
        self.device, self.dtype = device, dtype
        self.spixels, self.fpixels = self.config.spixels, self.config.fpixels
