"""docs/reference/quirks.md: every row says what happens, and every row of kind R or N, and every test that a row names, is there.
"""
import json
import os
import re
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..")
TABLE = os.path.join(TESTS, "..", "docs", "reference", "quirks.md")
CELLS = 6


def test_fault(test):
    """What is wrong with one name of a test: FILE, or FILE FUNCTION."""
    words = test.split()
    path = os.path.join(TESTS, words[0])
    if not os.path.exists(path):
        return "there is no tests/%s" % words[0]
    with open(path) as file:
        text = file.read()
    if len(words) > 1 and not re.search(r"\b(def|void) %s\(" % re.escape(words[1]), text):
        return "there is no %s in tests/%s" % (words[1], words[0])
    return None if len(words) < 3 else "%s: expected a file and a test" % test


def row_faults(cells):
    if len(cells) != CELLS or not all(cells[:5]):
        yield "expected %d filled cells, found %d" % (CELLS, len(cells))
        return
    if cells[1] not in "RKN":
        yield "column c: expected R, K or N, found %s" % cells[1]
    if cells[1] == "R" and cells[3] == cells[4]:
        yield "R, but the same in both modes"
    for test in filter(None, (text.strip() for text in cells[5].split(";"))):
        fault = test_fault(test)
        if fault:
            yield fault
    if not cells[5]:
        yield "no test"


def main():
    with open(TABLE) as file:
        rows = [[cell.strip() for cell in line.strip().strip("|").split("|")] for line in file
                if re.match(r"\| [a-zA-Z0-9-]+ \|", line) and not line.startswith("| quirk |")]
    faults = ["%s: %s" % (cells[0], fault) for cells in rows for fault in row_faults(cells)]
    names = [cells[0] for cells in rows]
    faults += ["%s: twice" % name for name in set(names) if names.count(name) > 1]
    with open(os.path.join(TESTS, "golden", "data", "cases.json")) as file:
        faults += ["%s: shapes a golden image, but has no row" % case["quirk"] for case in json.load(file)
                   if case.get("quirk", names[0]) not in names]
    print("%d rows, %d faults" % (len(rows), len(faults)), *faults, sep="\n")
    sys.exit(1 if faults or len(rows) < 83 else 0)


main()
