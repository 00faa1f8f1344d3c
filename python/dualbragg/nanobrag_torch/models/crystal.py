"""The port's Crystal, whose values may be replaced by tensors."""

from __future__ import annotations

from typing import Any, Optional

import torch

from dualbragg._types import Path
from ..config import BeamConfig, CrystalConfig

_CELL = ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma")


class Crystal:
    """Crystal: cell_a ... cell_gamma (A, degree) and N_cells_a, _b, _c may be set to tensors."""

    cell_a: Any
    cell_b: Any
    cell_c: Any
    cell_alpha: Any
    cell_beta: Any
    cell_gamma: Any
    N_cells_a: Any
    N_cells_b: Any
    N_cells_c: Any
    config: CrystalConfig
    beam_config: Optional[BeamConfig]
    device: Any
    dtype: torch.dtype

    def __init__(self, config: Optional[CrystalConfig] = None, beam_config: Optional[BeamConfig] = None, device: Any = None,
                 dtype: torch.dtype = torch.float32) -> None:
        self.config = config if config is not None else CrystalConfig()
        self.beam_config, self.device, self.dtype = beam_config, device, dtype
        for name in _CELL:
            setattr(self, name, getattr(self.config, name))
        self.N_cells_a, self.N_cells_b, self.N_cells_c = self.config.N_cells
        self.hkl_file: Optional[Path] = None

    def load_hkl(self, hkl_path: Path, write_cache: bool = False) -> None:
        """Use the structure factors of a file. Nothing writes a cache."""
        self.hkl_file = hkl_path
