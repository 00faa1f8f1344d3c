"""Direction of includes. Usage: includes.py TREE EXCEPTIONS

Prints a line for every include that goes against the direction and for every circle of files, and then fails. What
the file EXCEPTIONS lists is let pass; an exception that is not needed any more fails, too, so that the list shrinks.
"""
import os
import re
import sys

# Each folder may include itself and those to its left, and public headers.
LIBRARY = ["ad", "src/base", "src/loss", "src/model", "src/kernel", "src/engine", "src/noise", "src/surroundings",
           "src/io", "src/setup", "src/cli"]
# What stands in fit/ itself counts as between intensities and cli.
REFINEMENT = ["fit/config", "fit/linear", "fit/pixels", "fit/merge", "fit/objective", "fit/result", "fit/search", "fit/verdict",
              "fit/report", "fit/lists", "fit/shots", "fit/intensities", "fit", "fit/cli"]
PUBLIC = ["src/include", "fit/include", "cuda/include"]

MAY_INCLUDE = {"src/include": ["src/include"],
               "fit/include": ["src/include", "fit/include"],
               "cuda/include": ["src/include", "cuda/include"],
               "cuda": ["ad", "src/base", "src/loss", "src/model", "src/kernel", "src/engine", "src/noise",
                        "src/include", "cuda", "cuda/include"],
               "examples": PUBLIC + ["examples"]}
for place, folder in enumerate(LIBRARY):
    MAY_INCLUDE[folder] = LIBRARY[:place + 1] + (["src/include"] if folder != "ad" else [])
for place, folder in enumerate(REFINEMENT):
    MAY_INCLUDE[folder] = REFINEMENT[:place + 1] + ["src/include", "fit/include", "src/base", "src/loss", "src/surroundings", "ad"]
MAY_INCLUDE["src/cli"] += PUBLIC
MAY_INCLUDE["fit/cli"] += ["src/cli"]

SEARCHED = ["", "src", "src/include", "fit/include", "cuda/include", "tests", "bench"]  # after the file's own folder
INCLUDE = re.compile(r'\s*#\s*include\s*["<]([^">]+)[">]')


def room_of(path):
    """The folder that has rules: of two levels where there are such (src/io, fit/pixels), else of one."""
    parts = path.split("/")[:-1]
    two = "/".join(parts[:2])
    return two if two in MAY_INCLUDE else parts[0] if parts else ""


def sources(tree):
    for folder, folders, names in os.walk(tree):
        folders[:] = sorted(f for f in folders if not f.startswith(".") and f != "build")
        for name in sorted(names):
            if name.endswith((".c", ".h", ".cu", ".cuh")):
                yield os.path.relpath(os.path.join(folder, name), tree)


def includes(tree):
    """(file, line number, included file), all paths from the tree's root; headers of others are left out."""
    files = set(sources(tree))
    for path in sorted(files):
        with open(os.path.join(tree, path), errors="replace") as lines:
            for number, line in enumerate(lines, 1):
                found = INCLUDE.match(line)
                for folder in [os.path.dirname(path)] + SEARCHED if found else []:
                    target = os.path.normpath(os.path.join(folder, found[1]))
                    if target in files:
                        yield path, number, target
                        break


def unit_of(path):
    """A header and the file that implements it are one."""
    return os.path.splitext(path)[0]


def circles(edges):
    """Strongly connected units of a graph {unit: set of units} (Tarjan 1972), each sorted."""
    index, low, stack, found = {}, {}, [], []

    def visit(unit):
        index[unit] = low[unit] = len(index)
        stack.append(unit)
        for other in sorted(edges.get(unit, ())):
            if other not in index:
                visit(other)
            if other in stack:
                low[unit] = min(low[unit], low[other])
        if low[unit] == index[unit]:
            start = stack.index(unit)
            if len(stack) - start > 1:
                found.append(sorted(stack[start:]))
            del stack[start:]

    sys.setrecursionlimit(10000)
    for unit in sorted(edges):
        if unit not in index:
            visit(unit)
    return found


def read_exceptions(path):
    with open(path) as lines:
        return {line.strip() for line in lines if line.strip() and not line.startswith("#")}


def check(tree, exceptions):
    """Messages; none if all is well."""
    wrong, needed, edges, where = [], set(), {}, {}
    for path, number, target in includes(tree):
        source, room = room_of(path), room_of(target)
        if room not in MAY_INCLUDE.get(source, [room]):
            entry = f"{path} {target}"
            needed.add(entry)
            if entry not in exceptions:
                allowed = ", ".join(MAY_INCLUDE[source])
                wrong.append(f"{path}:{number}: includes {target}; files of {source} may include those of {allowed}")
        if unit_of(path) != unit_of(target):
            edges.setdefault(unit_of(path), set()).add(unit_of(target))
            where.setdefault((unit_of(path), unit_of(target)), f"{path}:{number}: includes {target}")
    for circle in circles(edges):
        entry = "circle " + " ".join(circle)
        needed.add(entry)
        if entry not in exceptions:
            wrong.append("circle of " + ", ".join(circle) + ":")
            wrong += [f"    {where[a, b]}" for a in circle for b in circle if (a, b) in where]
    wrong += [f"exception not needed any more: {entry}" for entry in sorted(exceptions - needed)]
    return wrong


if __name__ == "__main__":
    messages = check(sys.argv[1], read_exceptions(sys.argv[2]))
    print("\n".join(messages) or f"includes go in one direction in {len(list(sources(sys.argv[1])))} files")
    sys.exit(bool(messages))
