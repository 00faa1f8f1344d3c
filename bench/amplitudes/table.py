"""Amplitudes from N stills by each way, beside the truth: what docs/results/structure-factors.md shows.

usage: table.py DUALBRAGG FOLDER [--shots 100 200 500 1000 2000] [--ways boxes dials merged joint mean] [--limit 3600] [--threads 2]
                [--pixels 1024] [--d-min 2] [--passes 16] [--model MODEL.pdb --energy 9034]

FOLDER/set is made by make_set.py if it is not there (the largest N). Each result is a file: a run that was stopped goes on when
the command is given again. A run that takes longer than the limit (seconds) is left out. Prints a table, and writes
FOLDER/table.json, where rows of earlier runs are kept, and, with matplotlib, FOLDER/table.png.

boxes    sums in boxes, scaled and averaged (monte_carlo.py), at the true orientations, geometry and mean wavelengths
dials    DIALS (dials_stills.sh, dials.scale), at the true orientations, geometry and mean wavelengths
merged   dualbragg fit: intensities of each shot by themselves, scaled and merged by merge_shots.py; from spots alone, displaced
         panels refined
joint    the same, then one intensity for all shots (intensity: joint; programs that have it)
mean     as joint, but of the spectrum only the mean wavelength of each shot is known, and the common width
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
JOINT = "intensity: joint\nintensities: {dmin: %g, passes: %d}"
FIT = {
    "merged": [],
    "joint": [("intensity: free", JOINT)],
    "mean": [("intensity: free", JOINT), ("bandwidth_rms: 0.0006 ", "bandwidth_rms: 0.0042 ")],
}


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
            self.run(".", PYTHON, os.path.join(HERE, "make_set.py"), self.a.program, "set", "--shots", max(self.a.shots), "--threads", self.a.threads,
                     "--pixels", self.a.pixels, "--d-min", self.a.d_min, *(("--model", self.a.model, "--energy", self.a.energy) if self.a.model else ()))

    def boxes(self, n, out):
        return self.run(".", PYTHON, os.path.join(HERE, "monte_carlo.py"), "set", out, "--shots", n, "--radius", 4, "--band", 0.006,
                        "--d-min", self.a.d_min)

    def dials(self, n, out):
        if not os.path.exists("dials/idx-0000_integrated.refl"):
            self.run(".", "sh", os.path.join(HERE, "dials_stills.sh"), "set", "dials", max(self.a.shots))
        folder = "dials_%d" % n
        self.run(folder, PYTHON, os.path.join(HERE, "dials_part.py"), "../set", n, "../dials/idx-0000_integrated.expt", "part.expt",
                 "../dials/idx-0000_integrated.refl", "part.refl")
        return self.run(folder, "dials.scale", "part.expt", "part.refl", "model=KB", "anomalous=True", "d_min=2", "full_matrix=False",
                        "reflection_selection.method=random", "output.merged_mtz=" + os.path.abspath(out), "output.html=None")

    def fit(self, way, n, out):
        name = os.path.splitext(out)[0]
        with open("set/free.yaml") as file:
            configuration = file.read()
        for before, after in FIT[way]:
            assert before in configuration, before
            configuration = configuration.replace(before, after % (self.a.d_min, self.a.passes) if after == JOINT else after)
        shots = "mean.txt" if way == "mean" else "shots.txt"
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


NAMES = {"boxes": "boxes", "dials": "DIALS", "merged": "ours, shot by shot", "joint": "ours, jointly", "mean": "ours, mean wavelengths"}


def draw(rows):
    try:
        import matplotlib
        matplotlib.use("Agg")
        from matplotlib import pyplot, ticker
    except ImportError:
        return
    ticks = [max(r["shots"] for r in rows)]
    for shots in sorted({r["shots"] for r in rows}, reverse=True):
        if 1.5 * shots < ticks[-1]:
            ticks.append(shots)
    figure, axes = pyplot.subplots(1, 2, figsize=(9, 3.6))
    for axis, key, label in zip(axes, ("CC_ano", "R"), ("correlation of F(+) \u2212 F(\u2212) with the truth", "R of amplitudes to the truth")):
        for number, way in enumerate(way for way in NAMES if way in {r["way"] for r in rows}):
            own = [r for r in rows if r["way"] == way]
            axis.plot([r["shots"] for r in own], [r["all"][key] for r in own], marker="o", color="C%d" % number, label=NAMES[way])
            own = [r for r in own if way == "joint"]
            if [r for r in own if "sure" in r]:
                axis.plot([r["shots"] for r in own if "sure" in r], [r["sure"][key] for r in own if "sure" in r], marker="s", mfc="none", ls=":",
                          color="C%d" % number, label="the same, errors below a tenth of the mean")
            own = [r for r in own if "common" in r]
            if own:
                axis.plot([r["shots"] for r in own], [r["common"][key] for r in own], marker="o", mfc="none", ls="--", color="C%d" % number,
                          label="the same, on reflections of boxes")
        axis.set_xscale("log")
        axis.xaxis.set_minor_locator(ticker.NullLocator())
        axis.xaxis.set_major_locator(ticker.FixedLocator(ticks))
        axis.xaxis.set_major_formatter(ticker.ScalarFormatter())
        axis.tick_params(labelsize=8)
        axis.set_xlabel("shots")
        axis.set_title(label, fontsize=9)
        axis.grid(alpha=0.3)
    axes[0].set_ylim(0, 1)
    axes[1].set_ylim(bottom=0)
    figure.legend(*axes[1].get_legend_handles_labels(), loc="lower center", ncol=4, fontsize=7, frameon=False)
    figure.tight_layout(rect=(0, 0.06, 1, 1))
    figure.savefig("table.png", dpi=90)


def earlier(done):
    """Rows of runs before this one."""
    if not os.path.exists("table.json"):
        return []
    with open("table.json") as file:
        return [r for r in json.load(file) if (r["way"], r["shots"]) not in done]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--shots", type=int, nargs="+", default=[100, 200, 500, 1000, 2000])
    parser.add_argument("--ways", nargs="+", default=["boxes", "dials", "merged", "joint", "mean"])
    parser.add_argument("--limit", type=float, default=3600)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--pixels", type=int, default=1024)
    parser.add_argument("--d-min", type=float, default=2)
    parser.add_argument("--passes", type=int, default=16, help="most passes of joint intensities over the shots; few shots need more")
    parser.add_argument("--model")
    parser.add_argument("--energy", type=float, default=9034)
    a = parser.parse_args()
    a.program, a.model = os.path.abspath(a.program), a.model and os.path.abspath(a.model)
    os.makedirs(a.folder, exist_ok=True)
    os.chdir(a.folder)
    table, rows = Table(a), []
    table.set()
    truth = read_truth("set/truth.hkl")
    for way in a.ways:
        for n in a.shots:
            path = table.make(way, n)
            if path:
                found = read(path)
                shells = judge(truth, found)
                rows.append({"way": way, "shots": n, "seconds": table.seconds.get(path), "all": shells[-1], "shells": shells[:-1],
                             "sure": judge(truth, found, sure=0.1)[-1]})
                if os.path.exists("boxes_%d.npz" % n):
                    boxes = read("boxes_%d.npz" % n)
                    common = np.isin(found[0], boxes[0][np.isfinite(boxes[1])])
                    rows[-1]["common"] = judge(truth, [np.asarray(x)[common] for x in found])[-1]
    rows = sorted(rows + earlier({(r["way"], r["shots"]) for r in rows}), key=lambda r: (list(NAMES).index(r["way"]), r["shots"]))
    print("| way | shots | multiplicity | complete | R | CC | CC½ | CC ano | pairs | CC ano, last shell | pull "
          "| CC ano of errors below a tenth of the mean | pairs | CC ano of reflections of boxes | pairs |\n|---" + "|---:" * 14 + "|")
    for r in rows:
        s = r["all"]
        parts = [r.get(name, {}) for name in ("sure", "common")]
        print("| %s | %d | %.1f | %.1f %% | %.4f | %.4f | %.4f | %.3f | %d | %.3f | %.2f | %.3f | %d | %.3f | %d |" % (
            r["way"], r["shots"], s["multiplicity"], 100 * s["complete"], s["R"], s["CC"], s["CC1/2"], s["CC_ano"], s.get("pairs", 0),
            r["shells"][-1]["CC_ano"], s["pull"] or np.nan, *(x for p in parts for x in (p.get("CC_ano", np.nan), p.get("pairs", 0)))))
    with open("table.json", "w") as out:
        json.dump(rows, out, indent=1)
    draw(rows)


if __name__ == "__main__":
    main()
