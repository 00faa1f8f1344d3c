"""The program dualbragg, which comes with an installed package."""

import os
import shutil
import sys

from . import errors


def path():
    """Where it is: in this package, or on the path."""
    own = os.path.join(os.path.dirname(__file__), "bin", "dualbragg")
    if os.access(own, os.X_OK):
        return own
    found = os.environ.get("DUALBRAGG") or shutil.which("dualbragg")
    if not found:
        raise errors.UnsupportedError("the program dualbragg is not part of this package, nor on the path")
    return found


def run(arguments):
    """Becomes the program."""
    program = path()
    os.execv(program, [program, *arguments])


def main():
    run(sys.argv[1:])
