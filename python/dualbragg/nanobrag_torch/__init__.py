"""Names of the PyTorch port of nanoBragg (nanobrag_torch), with this library behind them.

    from dualbragg.nanobrag_torch.config import BeamConfig, CrystalConfig, DetectorConfig
    from dualbragg.nanobrag_torch.models.crystal import Crystal
    from dualbragg.nanobrag_torch.models.detector import Detector
    from dualbragg.nanobrag_torch.simulator import Simulator

    image = Simulator(Crystal(CrystalConfig(cell_a=a)), Detector(DetectorConfig()), beam_config=BeamConfig()).run()

install() makes them known as nanobrag_torch, so that programs for the port run unchanged. docs/howto/python.md lists
the differences. `python -m dualbragg.nanobrag_torch` takes nanoBragg's command line."""

import importlib
import sys

_MODULES = ("", ".config", ".simulator", ".models", ".models.crystal", ".models.detector")


def install() -> None:
    """Make `import nanobrag_torch` import this package, in this process."""
    for name in _MODULES:
        sys.modules["nanobrag_torch" + name] = importlib.import_module(__name__ + name)
