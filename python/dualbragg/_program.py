"""Program dualbragg, which an installed package contains."""

from __future__ import annotations

import os
import shutil
import sys
from typing import TYPE_CHECKING, Sequence

from . import errors

if TYPE_CHECKING:
    from typing import NoReturn


def path() -> str:
    """Return the path of the program: in this package, or on the path of the shell."""
    own = os.path.join(os.path.dirname(__file__), "bin", "dualbragg")
    if os.access(own, os.X_OK):
        return own
    found = os.environ.get("DUALBRAGG") or shutil.which("dualbragg")
    if not found:
        raise errors.UnsupportedError("the program dualbragg is neither in this package nor on the path")
    return found


def run(arguments: Sequence[str]) -> NoReturn:
    """Replace this process by the program."""
    program = path()
    os.execv(program, [program, *arguments])


def main() -> NoReturn:
    run(sys.argv[1:])
