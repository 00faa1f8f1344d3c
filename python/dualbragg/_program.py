"""Program dualbragg, which an installed package contains."""

import os
import shutil
import sys

from . import errors


def path():
    """Return the path of the program: in this package, or on the path of the shell."""
    own = os.path.join(os.path.dirname(__file__), "bin", "dualbragg")
    if os.access(own, os.X_OK):
        return own
    found = os.environ.get("DUALBRAGG") or shutil.which("dualbragg")
    if not found:
        raise errors.UnsupportedError("the program dualbragg is neither in this package nor on the path")
    return found


def run(arguments):
    """Replace this process by the program."""
    program = path()
    os.execv(program, [program, *arguments])


def main():
    run(sys.argv[1:])
