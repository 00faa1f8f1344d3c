"""Command line of nanoBragg: runs `dualbragg sim`."""

import sys

from dualbragg._program import run

if __name__ == "__main__":
    run(["sim", *sys.argv[1:]])
