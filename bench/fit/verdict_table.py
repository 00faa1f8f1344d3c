"""Refines the measured still of the examples and a blank frame from right and wrong models by `dualbragg fit`,
without a configuration, and prints a table (docs/results/verdict.md):

    python3 bench/fit/verdict_table.py FOLDER [NAME...]

DUALBRAGG: the program. SHARED_DIR: for the blank frame; left out without it. Ends with 1 where a run ends with 0 with a wrong
cell, or takes more than 60 s of processor time or 1 GB. NAME: of the models to try; all."""
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "examples", "data")
PROGRAM = os.environ.get("DUALBRAGG", "dualbragg")
SHARED = os.environ.get("SHARED_DIR", "../shared")
STILL, MATRIX = os.path.join(EXAMPLES, "thaumatin.cbf"), os.path.join(EXAMPLES, "thaumatin.mat")
A, C, CENTRE = 58.4, 152.2, (749.61, 249.96)
MOST_SECONDS, MOST_MEGABYTES = 60, 1000

# Name, edges, further arguments. The search for the orientation has the same.
TETRAGONAL = ["--symmetry", "tetragonal"]
FREE = ["--symmetry", "orthorhombic"]
CELLS = [
    ("right", (A, A, C), TETRAGONAL),
    ("all edges 5 % longer", (1.05 * A, 1.05 * A, 1.05 * C), TETRAGONAL),
    ("all edges 5 % shorter", (0.95 * A, 0.95 * A, 0.95 * C), TETRAGONAL),
    ("a 5 % longer, not tied to b", (1.05 * A, A, C), FREE),
    ("c 2 % longer", (A, A, 1.02 * C), TETRAGONAL),
    ("c 5 % longer", (A, A, 1.05 * C), TETRAGONAL),
    ("c 5 % shorter", (A, A, 0.95 * C), TETRAGONAL),
    ("c half as long", (A, A, C / 2), TETRAGONAL),
    ("c twice as long", (A, A, C * 2), TETRAGONAL),
    ("b and c exchanged", (A, C, A), FREE),
    ("79, 79, 38 A", (79, 79, 38), TETRAGONAL),
    ("78, 78, 78 A", (78, 78, 78), ["--symmetry", "cubic"]),
    ("a and b twice as long", (2 * A, 2 * A, C), TETRAGONAL),
    ("distance 1 % longer", (A, A, C), TETRAGONAL + ["model.distance=354.5"]),
    ("distance 1 % shorter", (A, A, C), TETRAGONAL + ["model.distance=347.5"]),
]
for fast, slow in ((5, 0), (-5, 0), (0, 5), (0, -5), (3.5, 3.5)):
    CELLS.append(("beam %g, %g pixels off" % (fast, slow), (A, A, C),
                  TETRAGONAL + ["model.beam_centre_px=[%g, %g]" % (CENTRE[0] + fast, CENTRE[1] + slow)]))


def cell_of(edges, angles=(90, 90, 90)):
    return ",".join("%.6g" % x for x in edges + tuple(angles))


def run(prefix, arguments):
    pid = os.fork()
    if pid == 0:
        with open(prefix + ".out", "w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        os.execvp(PROGRAM, [PROGRAM, "fit"] + arguments + ["--no-report", "--output", prefix])
    _, status, used = os.wait4(pid, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def is_right(prefix):
    """Edges, the shortest first: within 2 %, since the distance may be refined, and the cell with it; their ratios within
    0.5 %."""
    with open(prefix + ".yaml") as file:
        line = next(x for x in file if x.strip().startswith("cell:"))
    edges = sorted(float(x) for x in line.split("[")[1].split(",")[:3])
    scale = [e / r for e, r in zip(edges, (A, A, C))]
    return all(abs(x - 1) < 0.02 for x in scale) and max(scale) < 1.005 * min(scale)


def answer(folder, name, arguments):
    prefix = os.path.join(folder, "".join(c if c.isalnum() else "_" for c in name))
    code, seconds, megabytes = run(prefix, arguments)
    with open(prefix + ".out") as out:
        text = out.read()
    said = [what for what, words in (("held distance not determined", "does not determine the distance"),
                                     ("another distance asked for", "but the data fit"),
                                     ("a second lattice", "Warning: a second lattice"),
                                     ("intensities not to be used", "intensities are not to be used"),
                                     ("barely passed", "is barely passed")) if words in text]
    right = code == 0 and is_right(prefix)
    bad = (code == 0 and not right) or code not in (0, 1, 3) or seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES
    return "%d%s%s%s" % (code, ", the right cell" if right else "", "; " + ", ".join(said) if said else "",
                         " (WRONG)" if bad else ""), seconds, megabytes, bad


def main():
    folder, names = sys.argv[1], sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    failed, most = False, [0, 0]
    print("| start | orientation found | from the listed matrix |\n|---|---|---|")

    def row(name, *runs):
        nonlocal failed
        if names and name not in names:
            return
        cells = []
        for how, arguments in runs:
            text, seconds, megabytes, bad = answer(folder, name + " " + how, arguments)
            cells.append(text)
            failed |= bad
            most[0], most[1] = max(most[0], seconds), max(most[1], megabytes)
        print("| %s | %s |" % (name, " | ".join(cells + [""] * (2 - len(cells)))), flush=True)

    for name, edges, more in CELLS:
        row(name, ("found", [STILL, "--cell", cell_of(edges)] + more),
            ("matrix", [STILL, "--matrix", MATRIX, "model.cell=[%s]" % cell_of(edges)] + more))
    row("turned by 3 degrees", ("found", [STILL, "--cell", cell_of((A, A, C))] + TETRAGONAL),
        ("matrix", [STILL, "--matrix", MATRIX, "model.misset=[2, -1.5, 1.66]"] + TETRAGONAL))
    row("hexagonal", ("found", [STILL, "--cell", cell_of((A, A, C), (90, 90, 120)), "--symmetry", "hexagonal"]))
    blank = os.path.join(SHARED, "realdata", "thaumatin", "thau_3_2_0016.cbf")
    if os.path.exists(blank):
        row("blank frame", ("found", [blank, "--cell", cell_of((A, A, C))] + TETRAGONAL),
            ("matrix", [blank, "--matrix", blank.replace("0016.cbf", "0009.mat")] + TETRAGONAL))
    print("At most %.0f s of processor time and %.0f MB." % tuple(most))
    return failed


if __name__ == "__main__":
    sys.exit(main())
