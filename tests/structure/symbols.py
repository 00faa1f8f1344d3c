"""Direction of calls. Usage: symbols.py TREE BUILD EXCEPTIONS

As includes.py, by the symbols of object files: also calls through public headers go in the direction of the folders, and
no files call each other in a circle; in the folders STAIRS not even where a file includes what another one calls. An
exception that is not needed any more fails.
"""
import glob
import os
import subprocess
import sys

import includes

OBJECTS = {"src": "src/CMakeFiles/dualbragg_objects.dir", "fit": "fit/CMakeFiles/dualbragg_fit_objects.dir",
           "cuda": "tests/cuda/CMakeFiles/cuda_on_host.dir/__/__/cuda"}
ORDER = includes.LIBRARY + includes.REFINEMENT + ["cuda"]
STAIRS = ["cuda"]


def symbols_of(tree, build):
    """(source file, symbol, whether it is defined there) of every object whose source is in the tree."""
    source_of = {}
    for part, folder in OBJECTS.items():
        root = os.path.join(build, folder)
        for path in glob.glob(root + "/**/*.o", recursive=True):
            source = os.path.join(part, os.path.relpath(path, root)[:-2])
            if os.path.exists(os.path.join(tree, source)):  # neither made by the build nor left by one that has gone
                source_of[path] = source
    listed = subprocess.run(["nm", "-A", "-P", "-g"] + sorted(source_of), capture_output=True, text=True, check=True).stdout
    for line in listed.splitlines():
        path, symbol = line.split(": ", 1)
        name, kind = symbol.split()[:2]
        yield source_of[path], name, kind != "U"


def stairs(symbols, included):
    """Circles of files with their headers, by calls and includes together, in each of STAIRS."""
    home = {name: source for source, name, is_defined in symbols if is_defined}
    pairs = [(source, home[name]) for source, name, is_defined in symbols if not is_defined and name in home] + included
    for folder in STAIRS:
        edges = {}
        for source, target in pairs:
            one, other = includes.unit_of(source), includes.unit_of(target)
            if one != other and includes.room_of(source) == includes.room_of(target) == folder:
                edges.setdefault(one, set()).add(other)
        yield from includes.circles(edges)


def check(symbols, exceptions, included=()):
    """Messages; none if all is well."""
    symbols, included = list(symbols), list(included)
    home = {name: source for source, name, is_defined in symbols if is_defined}
    wrong, needed, edges = [], set(), {}

    def refuse(entry, message):
        needed.add(entry)
        if entry not in exceptions:
            wrong.append(message)

    for source, name, is_defined in symbols:
        target = home.get(name, source)
        if is_defined or target == source:
            continue
        edges.setdefault(source, set()).add(target)
        if ORDER.index(includes.room_of(target)) > ORDER.index(includes.room_of(source)):
            refuse(f"{source} {name}", f"{source}: uses {name} of {target}, which comes after it")
    for circle in includes.circles(edges):
        refuse("circle " + " ".join(circle), "files that use each other: " + ", ".join(circle))
    for circle in stairs(symbols, included):
        refuse("stairs " + " ".join(circle), "files that use or include each other: " + ", ".join(circle))
    return wrong + [f"exception not needed any more: {entry}" for entry in sorted(exceptions - needed)]


def self_check():
    """Finds what it looks for."""
    up = [("src/base/a.c", "db_a", True), ("src/base/a.c", "db_b", False), ("src/io/b.c", "db_b", True)]
    circle = [("src/io/a.c", "db_a", True), ("src/io/a.c", "db_b", False),
              ("src/io/b.c", "db_b", True), ("src/io/b.c", "db_a", False)]
    down = [("src/base/a.c", "db_a", True), ("src/io/b.c", "db_a", False), ("src/io/b.c", "malloc", False)]
    assert check(up, set()) == ["src/base/a.c: uses db_b of src/io/b.c, which comes after it"]
    assert check(up, {"src/base/a.c db_b"}) == []
    assert check(circle, set()) == ["files that use each other: src/io/a.c, src/io/b.c"]
    assert check(down, set()) == []
    step = [("cuda/a.c", "db_b", False), ("cuda/b.c", "db_b", True)]
    assert check(step, set(), [("cuda/b.c", "cuda/c.h")]) == []
    assert check(step, set(), [("cuda/b.c", "cuda/a.h")]) == ["files that use or include each other: cuda/a, cuda/b"]
    assert check(down, {"src/base/a.c db_b"}) == ["exception not needed any more: src/base/a.c db_b"]


if __name__ == "__main__":
    self_check()
    found = list(symbols_of(sys.argv[1], sys.argv[2]))
    included = [(source, target) for source, _, target in includes.includes(sys.argv[1])]
    messages = check(found, includes.read_exceptions(sys.argv[3]), included)
    print("\n".join(messages) or f"calls go in one direction in {len({source for source, _, _ in found})} object files")
    sys.exit(bool(messages))
