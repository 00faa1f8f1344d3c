"""The port's Crystal, whose values may be replaced by tensors."""

import torch

from ..config import CrystalConfig

_CELL = ("cell_a", "cell_b", "cell_c", "cell_alpha", "cell_beta", "cell_gamma")


class Crystal:
    """Crystal: cell_a ... cell_gamma (A, degree) and N_cells_a, _b, _c may be set to tensors."""

    def __init__(self, config=None, beam_config=None, device=None, dtype=torch.float32):
        self.config = config if config is not None else CrystalConfig()
        self.beam_config, self.device, self.dtype = beam_config, device, dtype
        for name in _CELL:
            setattr(self, name, getattr(self.config, name))
        self.N_cells_a, self.N_cells_b, self.N_cells_c = self.config.N_cells
        self.hkl_file = None

    def load_hkl(self, hkl_path, write_cache=False):
        """Use the structure factors of a file. Nothing writes a cache."""
        self.hkl_file = hkl_path
