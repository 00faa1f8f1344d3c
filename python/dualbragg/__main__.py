"""`python -m dualbragg` is the program dualbragg."""

from ._program import main

main()
