"""Refinement by pixels beside least squares on the centroids of spots, judged on spots that were held out.

usage: centroids.py DUALBRAGG SPLITS FOLDER CONFIG.yaml...

Each CONFIG is refined on one half of its spots, SPLITS times, and judged on the other half. The yardstick moves what moves
spots (orientation, cell, beam centre, distance, two tilts of the detector) by least squares on their places and on the turns
to the Ewald sphere, each weighted by its own spread, without outliers; then the spreads that a fit chooses by itself are
refined by pixels on the same half. Spots and their indices are those of a fit to all of them. A configuration has its
sections image, model, data and refine in one line each. Prints a table; results are in docs/results/pixels-or-centroids.md."""
import json
import os
import re
import subprocess
import sys

import numpy as np

STRONG = 32  # flag of DIALS
SPREADS = "mosaic_variance footprint_hh footprint_vv divergence_hh divergence_vv bandwidth_variance".split()
FIGURES = ("position, rms of the best 90 % (pixels)", "position, median (pixels)", "chi2/dof", "correlation",
           "strong pixels explained (%)", "ranking")
PROGRAM, FOLDER = sys.argv[1], sys.argv[3]


def unpacked(data, at=0):
    """The value in MessagePack at a place, and the place behind it."""
    code = data[at]
    sized = {0xc4: ("bin", 1), 0xc5: ("bin", 2), 0xc6: ("bin", 4), 0xd9: ("str", 1), 0xda: ("str", 2), 0xdb: ("str", 4),
             0xdc: ("list", 2), 0xdd: ("list", 4), 0xde: ("map", 2), 0xdf: ("map", 4), 0xcc: ("int", 1), 0xcd: ("int", 2),
             0xce: ("int", 4), 0xcf: ("int", 8)}
    if code < 0x80:
        return code, at + 1
    if code in sized:
        kind, width = sized[code]
        size, at = int.from_bytes(data[at + 1:at + 1 + width], "big"), at + 1 + width
    else:
        kind, size, at = ("map" if code < 0x90 else "list" if code < 0xa0 else "str"), code & (15 if code < 0xa0 else 31), at + 1
    if kind == "int":
        return size, at
    if kind in ("bin", "str"):
        return data[at:at + size] if kind == "bin" else data[at:at + size].decode(), at + size
    values = []
    for _ in range(size * (2 if kind == "map" else 1)):
        value, at = unpacked(data, at)
        values.append(value)
    return (dict(zip(values[::2], values[1::2])) if kind == "map" else values), at


def table_of(path):
    """Columns of a reflection table, by their names."""
    types = {"int": ("<i4", 1), "double": ("<f8", 1), "std::size_t": ("<u8", 1), "vec3<double>": ("<f8", 3),
             "cctbx::miller::index<>": ("<i4", 3)}
    with open(path, "rb") as file:
        columns = unpacked(file.read())[0][2]["data"]
    table = {}
    for name, (kind, (count, values)) in columns.items():
        if kind in types:
            dtype, width = types[kind]
            table[name] = np.frombuffer(values, dtype).reshape(count, width).squeeze()
    return table


def run(name, sections, *overrides):
    """Prefix of the results of a fit."""
    prefix = os.path.join(FOLDER, name)
    with open(prefix + "_start.yaml", "w") as out:
        out.writelines("%s: %s\n" % item for item in sections.items())
    done = subprocess.run([PROGRAM, "fit", prefix + "_start.yaml", "--output", prefix, "--no-report", *overrides],
                          capture_output=True, text=True)
    if done.returncode > 1:
        sys.exit("%s: %s" % (name, done.stderr.strip()))
    return prefix


class Model:
    """What of an experiment moves spots."""

    def __init__(self, path):
        with open(path) as file:
            self.lists = json.load(file)
        crystal, panel = self.lists["crystal"][0], self.lists["detector"][0]["panels"]
        self.real = np.array([crystal["real_space_" + axis] for axis in "abc"])
        self.beam = -np.array(self.lists["beam"][0]["direction"])
        self.wavelength = self.lists["beam"][0]["wavelength"]
        self.axes = np.array([[p["fast_axis"], p["slow_axis"], p["origin"]] for p in panel])
        self.pixel = np.array([p["pixel_size"] for p in panel])

    def cell_ties(self):
        """Which stretches of edges go together, as columns."""
        edge = np.linalg.norm(self.real, axis=1)
        leader = [next(j for j in range(3) if abs(edge[j] / edge[i] - 1) < 1e-6) for i in range(3)]
        return np.array([[float(leader[i] == j) for i in range(3)] for j in sorted(set(leader))]).T

    def moved(self, x):
        """By three turns of the crystal and two of the detector (radian), shifts of it (mm), stretches of edges."""
        model = object.__new__(Model)
        model.__dict__.update(self.__dict__)
        ties = self.cell_ties()
        model.real = (self.real * (1 + ties @ x[8:])[:, None]) @ rotation(x[:3]).T
        fast, slow = self.axes[0, 0], self.axes[0, 1]
        normal = np.cross(fast, slow)
        model.axes = self.axes @ rotation(x[6] * fast + x[7] * slow).T
        model.axes[:, 2] += x[3] * fast + x[4] * slow + x[5] * normal
        return model

    def predicted(self, hkl, panel):
        """Places in pixels, and turns to the Ewald sphere in degrees."""
        q, direction = hkl @ np.linalg.inv(self.real).T, self.beam / np.linalg.norm(self.beam)
        length, along = np.linalg.norm(q, axis=1), q @ direction
        across = np.sqrt(np.maximum(length**2 - along**2, 1e-30))
        cosine = -0.5 * self.wavelength * length
        sine = np.sqrt(np.maximum(1 - cosine**2, 0))
        turn = np.arctan2(across * cosine - along * sine, along * cosine + across * sine)
        aside = (q - along[:, None] * direction) / across[:, None]
        s1 = direction / self.wavelength + length[:, None] * (cosine[:, None] * direction + sine[:, None] * aside)
        f = np.linalg.solve(self.axes[panel].transpose(0, 2, 1), s1[:, :, None])[:, :, 0]
        return f[:, :2] / f[:, 2:] / self.pixel[panel], np.degrees(turn)

    def write(self, path):
        lists = json.loads(json.dumps(self.lists))
        for axis, row in zip("abc", self.real):
            lists["crystal"][0]["real_space_" + axis] = list(row)
        for p, axes in zip(lists["detector"][0]["panels"], self.axes):
            p["fast_axis"], p["slow_axis"], p["origin"] = map(list, axes)
        with open(path, "w") as out:
            json.dump(lists, out)


def rotation(axis):
    angle = np.linalg.norm(axis)
    k = np.cross(np.eye(3), -axis / angle if angle else axis)
    return np.eye(3) + np.sin(angle) * k + (1 - np.cos(angle)) * k @ k


def by_centroids(model, hkl, panel, observed, parallax):
    """The model where the centroids want it; parallax: what a sensor's depth adds to places."""
    x = np.zeros(8 + model.cell_ties().shape[1])
    step = np.array([1e-5] * 3 + [1e-3] * 3 + [1e-5] * 2 + [1e-6] * (len(x) - 8))

    def residual(x):
        place, turn = model.moved(x).predicted(hkl, panel)
        return np.column_stack([observed - place - parallax, turn])

    for _ in range(30):
        r = residual(x)
        spread = 1.4826 * np.array([np.median(abs(r[:, :2]))] * 2 + [np.median(abs(r[:, 2]))])
        good = (abs(r) < 4 * spread).all(axis=1)
        slopes = np.array([(residual(x + d) - residual(x - d))[good] / spread / (2 * s)
                           for d, s in zip(np.diag(step), step)]).reshape(len(x), -1)
        unit = np.linalg.norm(slopes, axis=1)
        change = np.linalg.lstsq((slopes / unit[:, None]).T, -(r[good] / spread).ravel(), rcond=1e-8)[0] / unit
        x = x + change
        if (abs(change) < 1e-3 * step).all():
            break
    return model.moved(x)


def ranking(score, found):
    """The chance that one that was found has the higher score than one that was not."""
    order, rank = np.argsort(score, kind="stable"), np.empty(len(score))
    rank[order] = np.arange(1, len(score) + 1)
    n = found.sum()
    return (rank[found].sum() - n * (n + 1) / 2) / (n * (len(score) - n))


def judged(prefix, spots, held):
    """Figures of a refined model on spots that it does not know."""
    look = prefix + "_judged"
    subprocess.run([PROGRAM, "fit", prefix + ".yaml", "--output", look, "--no-report", "data.spots=" + spots,
                    "stages=[{name: look, refine: all, max_evaluations: 1}]"], capture_output=True, check=False)
    with open(look + ".json") as file:
        before = json.load(file)["statistics"]["before"]
    table = table_of(prefix + ".refl")
    strong = (table["flags"] & STRONG) != 0
    held_out = np.array([held(h) for h in table["miller_index"]])
    off = np.sort(np.hypot(*(table["xyzobs.px.value"] - table["xyzcal.px"])[strong & held_out, :2].T))
    best = off[:len(off) * 9 // 10]
    return (np.sqrt((best**2).mean()), np.median(off), before["chi2_reduced"], before["correlation"],
            100 * before["strong_explained"], ranking(table["partiality"][held_out], strong[held_out]))


def write_spots(path, observed, panel):
    with open(path, "w") as out:
        out.writelines("%.3f %.3f %d\n" % (f, s, p) for (f, s), p in zip(observed, panel))
    return path


def compare(configuration, splits):
    with open(configuration) as file:
        sections = dict(re.findall(r"^(\w+): *(.+)$", file.read(), re.M))
    where = os.path.dirname(os.path.abspath(configuration))
    sections["image"] = os.path.join(where, sections["image"])
    for key in ("matrix", "expt"):
        sections["model"] = re.sub(key + r": *([^,}]+)", lambda m: key + ": " + os.path.join(where, m[1]), sections["model"])
    everything = run("all", sections)
    table, model = table_of(everything + ".refl"), Model(everything + ".expt")
    strong = (table["flags"] & STRONG) != 0
    hkl, panel = table["miller_index"][strong], table["panel"][strong].astype(int)
    observed, placed = table["xyzobs.px.value"][strong, :2], table["xyzcal.px"][strong, :2]
    parallax = placed - model.predicted(hkl, panel)[0]
    figures = np.empty((splits, 2, len(FIGURES)))
    symmetry = re.search(r"symmetry: *[^,}]+", sections["model"])
    for split in range(splits):
        def held(h):
            return np.random.default_rng([split, *(h + 512)]).random() < 0.5
        out = np.array([held(h) for h in hkl])
        half = write_spots(os.path.join(FOLDER, "half.txt"), observed[~out], panel[~out])
        rest = write_spots(os.path.join(FOLDER, "rest.txt"), observed[out], panel[out])
        by_centroids(model, hkl[~out], panel[~out], observed[~out], parallax[~out]).write(os.path.join(FOLDER, "centroids.expt"))
        start = {"image": sections["image"], "data": sections.get("data", "{}"),
                 "model": "{expt: centroids.expt, spots: closed%s}" % (", " + symmetry[0] if symmetry else ""),
                 "refine": "{%s}" % ", ".join(s + ": {}" for s in SPREADS)}
        for m, prefix in enumerate((run("shaped", start, "data.spots=" + half), run("pixels", sections, "data.spots=" + half))):
            figures[split, m] = judged(prefix, rest, held)
    print("\n%s: %d spots\n\n| held-out half | centroids, then spreads by pixels | pixels | difference |\n|---|---:|---:|---:|" %
          (configuration, len(hkl)))
    for name, values in zip(FIGURES, figures.transpose(2, 1, 0)):
        columns = [*values, values[1] - values[0]]
        print("| %s | %s |" % (name, " | ".join("%.4g (%.2g)" % (c.mean(), c.std(ddof=1) if splits > 1 else 0) for c in columns)),
              flush=True)


os.makedirs(FOLDER, exist_ok=True)
for path in sys.argv[4:]:
    compare(path, int(sys.argv[2]))
