"""Refines the stills of X-ray lasers in $SHARED_DIR/realdata (thermolysin 401, 601, 801; Rayonix) by `dualbragg fit` from
several starts, without a configuration, and prints a table (docs/results/measured-stills.md):

    python3 bench/fit/measured_stills.py [--check] FOLDER

DUALBRAGG: the program. FOLDER: for the results. --check: ends with 1 where a run takes more than 60 s of processor time or
1 GB, ends with 0 though cell or orientation are wrong, or explains less than was measured."""
import json
import os
import sys

DATA = os.path.join(os.environ.get("SHARED_DIR", "../shared"), "realdata")
PROGRAM = os.environ.get("DUALBRAGG", "dualbragg")
MOST_SECONDS, MOST_MEGABYTES = 60, 1000

# Shot: wavelength (A), edges a and c of the listed matrix.
SHOTS = {401: (1.272607, 93.3437, 131.1994), 601: (1.272444, 93.2257, 130.8016), 801: (1.270917, 93.3569, 131.0117)}
RAYONIX = (41.848, 76.037, 102.024)  # of another shot; edges of stills of one sample agree to 1 %
TURN = (0.12, -0.11, 0.12)  # 0.2 degrees

# Least part of the strong pixels that is explained, percent; None: to be refused.
LEAST = {
    ("401", "listed"): 27, ("401", "spoilt, +"): 27, ("401", "spoilt, -"): 27, ("401", "cell alone"): 27,
    ("601", "listed"): 15, ("601", "spoilt, +"): 15, ("601", "spoilt, -"): 15,
    ("801", "listed"): 36, ("801", "spoilt, +"): 36, ("801", "spoilt, -"): 36, ("801", "cell alone"): 36,
    ("Rayonix", "cell alone"): 33, ("Rayonix", "spoilt, +"): 33, ("Rayonix", "spoilt, -"): 33,
}


def spoilt(edges, angle, sign):
    cell = [e * (1 + 0.003 * sign) for e in edges] + [90, 90, angle]
    return ["model.cell=[%s]" % ",".join("%.5g" % x for x in cell),
            "model.misset=[%s]" % ",".join("%g" % (sign * t) for t in TURN)]


def free(parameters):
    """Spreads without bounds of our choice, all refined from the beginning."""
    return ["model.spots=closed"] + ["refine.%s={}" % p for p in parameters.split()]


def thermolysin(shot, folder):
    wavelength, a, c = SHOTS[shot]
    name = os.path.join(DATA, "thermolysin", "idx-20130301060858%d" % shot)
    matrix = os.path.join(folder, "%d.mat" % shot)
    with open(name + ".amatrix") as listed, open(matrix, "w") as out:
        for row in listed:
            out.write(" ".join("%.12g" % (float(x) * wavelength) for x in row.split()) + "\n")
    common = [name + ".cbf", "--expt", os.path.join(DATA, "thermolysin", "imported.expt"), "--symmetry", "P 61 2 2"]
    listed = common + ["--matrix", matrix]
    edges = (a, a, c)
    cell = ",".join(map(str, edges)) + ",90,90,120"
    yield "listed", listed, edges
    yield "spoilt, +", listed + spoilt(edges, 120, 1), edges
    yield "spoilt, -", listed + spoilt(edges, 120, -1), edges
    yield "listed, without bounds", listed + free(
        "misset_x misset_y misset_z cell_a cell_c beam_fast beam_slow mosaic_variance footprint_hh footprint_vv "
        "divergence_hh divergence_vv bandwidth_variance"), edges
    yield "cell alone", common + ["--cell", cell, "model.find_orientation=yes"], edges
    yield "another cell (119 A)", listed + ["model.cell=[118.8,118.8,131.2,90,90,120]"], edges


def rayonix(folder):
    common = [os.path.join(DATA, "rayonix", "hit-20181213155134902.cbf"), "--expt",
              os.path.join(DATA, "rayonix", "experiments_000.json"), "--symmetry", "P 21 21 21"]
    found = common + ["--matrix", os.path.join(folder, "Rayonix_cell_alone.mat")]
    edges = (41.90, 75.652, 101.743)
    yield "cell alone", common + ["model.find_orientation=yes"], RAYONIX
    yield "listed (another shot's)", common, RAYONIX
    yield "spoilt, +", found + spoilt(edges, 90, 1), RAYONIX
    yield "spoilt, -", found + spoilt(edges, 90, -1), RAYONIX
    yield "found, without bounds", found + free(
        "misset_x misset_y misset_z cell_a cell_b cell_c mosaic_variance footprint_hh footprint_vv divergence_hh "
        "divergence_vv bandwidth_variance"), RAYONIX


def run(prefix, arguments):
    pid = os.fork()
    if pid == 0:
        with open(prefix + ".out", "w") as out:
            os.dup2(out.fileno(), 1)
            os.dup2(out.fileno(), 2)
        os.execvp(PROGRAM, [PROGRAM, "fit"] + arguments + ["--output", prefix])
    _, status, used = os.wait4(pid, 0)
    return os.WEXITSTATUS(status) if os.WIFEXITED(status) else -1, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


def inverse(m):
    a, b, c, d, e, f, g, h, i = m
    adjugate = [e * i - f * h, c * h - b * i, b * f - c * e, f * g - d * i, a * i - c * g, c * d - a * f, d * h - e * g,
                b * g - a * h, a * e - b * d]
    determinant = a * adjugate[0] + b * adjugate[3] + c * adjugate[6]
    return [x / determinant for x in adjugate]


def same_lattice(one, other):
    """Whether each basis is one of whole numbers of the other, to 2 %: the columns of both span one lattice."""
    i = inverse(one)
    product = [sum(i[3 * r + k] * other[3 * k + c] for k in range(3)) for r in range(3) for c in range(3)]
    return all(abs(x - round(x)) < 0.02 for x in product)


def reciprocal(path):
    with open(path) as file:
        return json.load(file)["reciprocal_matrix"]


def look(shot, start, arguments, edges, folder, true_lattice, check):
    prefix = os.path.join(folder, ("%s_%s" % (shot, start)).translate(str.maketrans(" ,()'", "_____")))
    if os.path.exists(prefix + ".json"):
        os.remove(prefix + ".json")
    code, seconds, megabytes = run(prefix, arguments)
    wrong, explained, cell, light = [], None, "", ""
    if os.path.exists(prefix + ".json"):
        with open(prefix + ".json") as file:
            result = json.load(file)
        statistics = result["statistics"]
        explained = 100 * statistics["after"]["strong_explained"]
        text = {p["name"]: p["text"] for p in result["parameters"]}
        cell = ", ".join(text[n] for n in ("cell_a", "cell_b", "cell_c")
                         if n in text and not (n == "cell_b" and len(set(edges)) == 2))
        if result["verdict"]["light_part"] is not None:
            light = "%.2f" % result["verdict"]["light_part"]
        refined = result["experiment"]["cell"]
        if code == 0 and any(abs(r / e - 1) > 0.01 for r, e in zip(refined, edges)):
            wrong.append("ends with 0, cell %s instead of %s" % (refined[:3], edges))
        if code == 0 and true_lattice and not same_lattice(true_lattice, result["reciprocal_matrix"]):
            wrong.append("ends with 0 with another lattice than the listed one")
        shares = "%.1f → %.1f %%" % (100 * statistics["before"]["strong_explained"], explained)
    else:
        shares = ""
    least = LEAST.get((shot, start))
    if least and (code != 0 or explained < least):
        wrong.append("ends with %d, %s explained; expected 0 and %g %%" % (code, shares or "nothing", least))
    if seconds > MOST_SECONDS or megabytes > MOST_MEGABYTES:
        wrong.append("%.1f s, %.0f MB; expected at most %d s, %d MB" % (seconds, megabytes, MOST_SECONDS, MOST_MEGABYTES))
    answer = "used" if code == 0 else "refused" if code in (1, 3) else "code %d" % code
    print("| %s | %s | %s | %s | %s | %s | %.1f | %.0f |" % (shot, start, answer, shares, cell, light, seconds, megabytes),
          flush=True)
    for w in wrong:
        print("%s, %s: %s" % (shot, start, w), file=sys.stderr)
    return prefix + ".json", bool(wrong) and check


def main():
    check = "--check" in sys.argv
    folder = sys.argv[-1]
    os.makedirs(folder, exist_ok=True)
    failed = False
    print("| shot | start | answer | strong pixels explained | cell (A) | spots as bright | s | MB |\n|" + "---|" * 8)
    for shot in SHOTS:
        true_lattice = None
        for start, arguments, edges in thermolysin(shot, folder):
            path, bad = look(str(shot), start, arguments, edges, folder, true_lattice, check)
            failed |= bad
            if start == "listed" and os.path.exists(path):
                true_lattice = reciprocal(path)
    for start, arguments, edges in rayonix(folder):
        failed |= look("Rayonix", start, arguments, edges, folder, None, check)[1]
    return failed


if __name__ == "__main__":
    sys.exit(main())
