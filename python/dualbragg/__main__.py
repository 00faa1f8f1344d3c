"""`python -m dualbragg` runs the program dualbragg."""

from ._program import main

if __name__ == "__main__":
    main()
