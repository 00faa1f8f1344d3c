"""Amplitudes from N stills by each way, beside the truth: what docs/results/structure-factors.md shows.

usage: table.py DUALBRAGG FOLDER [--shots 100 200 500 1000 2000] [--ways boxes dials merged joint mean] [--limit 3600] [--threads 2]

FOLDER/set is made by make_set.py if it is not there (the largest N). Each result is a file: a run that was stopped goes on when
the command is given again. A run that takes longer than the limit (seconds) is left out. Prints a table, and writes
FOLDER/table.json and, with matplotlib, FOLDER/table.png.

boxes    sums in boxes, scaled and averaged (monte_carlo.py), at the true orientations, geometry and mean wavelengths
dials    DIALS (dials_stills.sh, dials.scale), at the true orientations, geometry and mean wavelengths
merged   dualbragg fit: intensities of each shot by themselves, scaled and merged by merge_shots.py; from spots alone, displaced
         panels refined
joint    the same, then one intensity for all shots (intensity: joint; programs that have it)
mean     as joint, but of the spectrum only the mean wavelength of each shot is known, and the common width
sampled  as joint, with sampled spots (ten domains, five wavelengths) instead of spots in closed form
"""
import argparse
import glob
import json
import os
import subprocess
import sys
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from truth import judge, read, read_truth  # noqa: E402

PYTHON = sys.executable
FIT = {
    "merged": [],
    "joint": [("intensity: free", "intensity: joint\namplitudes: {d_min: 2}")],
    "mean": [("intensity: free", "intensity: joint\namplitudes: {d_min: 2}"), ("bandwidth_rms: 0.0006 ", "bandwidth_rms: 0.0042 ")],
    "sampled": [("intensity: free", "intensity: joint\namplitudes: {d_min: 2}"), ("spots: closed", "spots: sampled"),
                ("mosaic_tensor: [0.005, 0.005, 0.005, 0, 0, 0]", "mosaic_spread: 0.14\n  mosaic_domains: 10\n  dispersion: 1\n  dispersion_steps: 5"),
                ("  strain_rms: 0.0005\n", ""), ("  divergence_rms: [0.5, 0.3]\n", ""), ("bandwidth_rms: 0.0006 ", "# ")],
}
SLICE = """import sys
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentList, ExperimentListFactory
all_of_them = ExperimentListFactory.from_json_file("../dials/idx-0000_integrated.expt", check_format=False)
table = flex.reflection_table.from_file("../dials/idx-0000_integrated.refl")
chosen = [i for i, e in enumerate(all_of_them) if e.imageset.indices()[0] < int(sys.argv[1])]
kept = flex.bool(len(table), False)
for i in chosen:
    kept |= table["id"] == i
table = table.select(kept)
table.reset_ids()
table.as_file("part.refl")
ExperimentList([all_of_them[i] for i in chosen]).as_json("part.expt")
"""


class Table:
    def __init__(self, arguments):
        self.a, self.seconds = arguments, {}

    def run(self, folder, *command):
        """1: done."""
        begin = time.time()
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "said"), "a") as out:
            try:
                done = subprocess.run([str(c) for c in command], cwd=folder, stdout=out, stderr=subprocess.STDOUT, timeout=self.a.limit).returncode
            except subprocess.TimeoutExpired:
                done = "more than %g s" % self.a.limit
        print("# %s: %.0f s%s" % (" ".join(os.path.basename(str(c)) for c in command[:4]), time.time() - begin, "" if done == 0 else ", ended with %s" % done), flush=True)
        return done == 0, time.time() - begin

    def set(self):
        if not os.path.exists("set/free.yaml"):
            self.run(".", PYTHON, os.path.join(HERE, "make_set.py"), self.a.program, "set", "--shots", max(self.a.shots), "--threads", self.a.threads)

    def boxes(self, n, out):
        return self.run(".", PYTHON, os.path.join(HERE, "monte_carlo.py"), "set", out, "--shots", n, "--radius", 4, "--band", 0.006)

    def dials(self, n, out):
        if not os.path.exists("dials/idx-0000_integrated.refl"):
            self.run(".", "sh", os.path.join(HERE, "dials_stills.sh"), "set", "dials")
        folder = "dials_%d" % n
        self.run(folder, PYTHON, "-c", SLICE, n)
        return self.run(folder, "dials.scale", "part.expt", "part.refl", "model=KB", "anomalous=True", "d_min=2", "full_matrix=False",
                        "reflection_selection.method=random", "output.merged_mtz=" + os.path.abspath(out), "output.html=None")

    def fit(self, way, n, out):
        name = os.path.splitext(out)[0]
        with open("set/free.yaml") as file:
            configuration = file.read()
        for before, after in FIT[way]:
            assert before in configuration, before
            configuration = configuration.replace(before, after)
        shots = "mean.txt" if way in ("mean", "sampled") else "shots.txt"
        with open(os.path.join("set", shots)) as file:
            lines = file.readlines()[:n]
        with open("set/%s.txt" % name, "w") as file:
            file.writelines(lines)
        with open("set/%s.yaml" % name, "w") as file:
            file.write(configuration.replace("list: shots.txt", "list: %s.txt" % name))
        command = [self.a.program, "fit", "set/%s.yaml" % name, "--output", name, "--threads", self.a.threads, "--no-report"]
        if way != "merged":
            return self.run(".", *command, "--resume")
        done, seconds = self.run(".", *command, "--resume", "--model-image")
        return self.run(".", PYTHON, os.path.join(HERE, "merge_shots.py"), 0.04, out, *sorted(glob.glob(name + "_shots/*.hkl")))[0], seconds

    def make(self, way, n):
        out = "%s_%d.%s" % (way, n, {"boxes": "npz", "merged": "npz", "dials": "mtz"}.get(way, "hkl"))
        if not os.path.exists(out):
            done, seconds = getattr(self, way)(n, out) if way in ("boxes", "dials") else self.fit(way, n, out)
            if done and os.path.exists(out):
                self.seconds[out] = seconds
        return out if os.path.exists(out) else None


def draw(rows):
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        return
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    for axis, key, label in zip(axes, ("CC_ano", "R"), ("correlation of anomalous differences with the truth", "R of amplitudes to the truth")):
        for way in dict.fromkeys(r["way"] for r in rows):
            points = [(r["shots"], r["all"][key]) for r in rows if r["way"] == way]
            axis.plot(*zip(*points), marker="o", label=way)
        axis.set_xscale("log")
        axis.set_xlabel("shots")
        axis.set_title(label, fontsize=9)
        axis.grid(alpha=0.3)
    axes[0].set_ylim(0, 1)
    axes[1].set_ylim(bottom=0)
    axes[1].legend(fontsize=8)
    figure.tight_layout()
    figure.savefig("table.png", dpi=110)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--shots", type=int, nargs="+", default=[100, 200, 500, 1000, 2000])
    parser.add_argument("--ways", nargs="+", default=["boxes", "dials", "merged", "joint", "mean"])
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--threads", type=int, default=2)
    a = parser.parse_args()
    a.program = os.path.abspath(a.program)
    os.makedirs(a.folder, exist_ok=True)
    os.chdir(a.folder)
    table, rows = Table(a), []
    table.set()
    truth = read_truth("set/truth.hkl")
    for way in a.ways:
        for n in a.shots:
            path = table.make(way, n)
            if path:
                shells = judge(truth, read(path))
                rows.append({"way": way, "shots": n, "seconds": table.seconds.get(path), "all": shells[-1], "shells": shells[:-1]})
    print("| way | shots | multiplicity | complete | R | CC | CC½ | CC ano | CC ano, 2.1 to 2 Å | pull |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|")
    for r in rows:
        s = r["all"]
        print("| %s | %d | %.1f | %.1f %% | %.4f | %.4f | %.4f | %.3f | %.3f | %.2f |" % (
            r["way"], r["shots"], s["multiplicity"], 100 * s["complete"], s["R"], s["CC"], s["CC1/2"], s["CC_ano"], r["shells"][-1]["CC_ano"], s["pull"] or np.nan))
    with open("table.json", "w") as out:
        json.dump(rows, out, indent=1)
    draw(rows)


if __name__ == "__main__":
    main()
