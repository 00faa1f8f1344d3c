"""How test programs end: with status 77 where all was skipped, which shows it as skipped."""

import sys
import unittest


def main():
    result = unittest.main(module="__main__", exit=False).result
    if result.wasSuccessful() and result.testsRun and len(result.skipped) == result.testsRun:
        sys.exit(77)
    sys.exit(not result.wasSuccessful())
