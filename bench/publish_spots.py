#!/usr/bin/env python3
"""Measures spots in closed form and publishes the results: the section of bench/README.md and the
figure of error against time.

usage: bench/publish_spots.py BENCH [OPTIONS OF BENCH]     runs BENCH (dualbragg_bench), some minutes
       bench/publish_spots.py --from PREFIX                takes PREFIX.json, PREFIX.md of such a run
"""
import json
import math
import os
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
README = os.path.join(ROOT, "bench", "README.md")
FIGURE = os.path.join(ROOT, "docs", "images", "error-against-time.svg")
BEGIN, END = "### Measured: spots in closed form\n", "\n## "

STYLE = """<style>
  .page { fill: #ffffff }
  text { fill: #14202e }
  .grid { stroke: #d5dae0; stroke-width: 1; fill: none }
  .axis { stroke: #39444f; stroke-width: 1.5; fill: none }
  .own { stroke: #5b6570; stroke-width: 1.5; stroke-dasharray: 5 4; fill: none }
  .random { stroke: #94764a; fill: #94764a }
  .even { stroke: #4a6a94; fill: #4a6a94 }
  .closed { stroke: #b3261e; fill: #b3261e }
  polyline { fill: none !important; stroke-width: 2 }
  @media (prefers-color-scheme: dark) {
    .page { fill: #161b22 }
    text { fill: #f0f4f8 }
    .grid { stroke: #30363d }
    .axis { stroke: #c3ccd6 }
    .own { stroke: #9aa5b1 }
    .random { stroke: #d4b27f; fill: #d4b27f }
    .even { stroke: #7fa3d4; fill: #7fa3d4 }
    .closed { stroke: #ff8a80; fill: #ff8a80 }
  }
</style>"""


class Axes:
    """Logarithmic axes, of whole decades."""

    left, right, top, bottom = 90, 700, 30, 400

    def __init__(self, times, errors):
        self.x = self.decades(times)
        self.y = self.decades(errors)

    @staticmethod
    def decades(values):
        return math.floor(math.log10(min(values))), math.ceil(math.log10(max(values)))

    def across(self, time):
        return self.left + (self.right - self.left) * (math.log10(time) - self.x[0]) / (self.x[1] - self.x[0])

    def down(self, error):
        return self.bottom - (self.bottom - self.top) * (math.log10(error) - self.y[0]) / (self.y[1] - self.y[0])

    def lines(self):
        for exponent in range(self.x[0], self.x[1] + 1):
            x = self.across(10.0**exponent)
            yield f'<path class="grid" d="M{x:.1f} {self.top} V{self.bottom}"/>'
            yield f'<text x="{x:.1f}" y="{self.bottom + 20}" text-anchor="middle">{number(exponent)}</text>'
        for exponent in range(self.y[0], self.y[1] + 1):
            y = self.down(10.0**exponent)
            yield f'<path class="grid" d="M{self.left} {y:.1f} H{self.right}"/>'
            yield f'<text x="{self.left - 8}" y="{y + 5:.1f}" text-anchor="end">{number(exponent)}</text>'
        yield f'<path class="axis" d="M{self.left} {self.top} V{self.bottom} H{self.right}"/>'


def number(exponent):
    return f"{10.0 ** exponent:g}" if exponent > -3 else f'10<tspan dy="-6" font-size="10">{exponent}</tspan>'


def count(samples):
    exponent = round(math.log10(samples))
    return f'10<tspan dy="-5" font-size="9">{exponent}</tspan>'


def curve(axes, points, kind, name):
    places = [(axes.across(1e3 * p["seconds"]), axes.down(p["rms_error"])) for p in points]
    yield f'<polyline class="{kind}" points="' + " ".join(f"{x:.1f},{y:.1f}" for x, y in places) + '"/>'
    for (x, y), p in zip(places, points):
        yield f'<circle class="{kind}" cx="{x:.1f}" cy="{y:.1f}" r="4"/>'
        above = -10 if kind == "random" else 20
        yield (f'<text x="{x:.1f}" y="{y + above:.1f}" font-size="12" text-anchor="middle">'
               f'{count(p["domains"] * p["oversample"] ** 2)}</text>')
    x, y = places[len(places) // 2]
    shift = (14, -12, "start") if kind == "random" else (-14, 12, "end")
    yield f'<text x="{x + shift[0]:.1f}" y="{y + shift[1]:.1f}" text-anchor="{shift[2]}">{name}</text>'


def figure(convergence):
    points = convergence["points"]
    closed = next(p for p in points if p["method"] == "closed form")
    random = [p for p in points if p["method"] == "random samples"]
    even = [p for p in points if p["method"] == "low-discrepancy samples"]
    shown = [closed] + random + even
    own = convergence["reference_rms_error"]
    axes = Axes([1e3 * p["seconds"] for p in shown], [p["rms_error"] for p in shown] + [own])
    x, y = axes.across(1e3 * closed["seconds"]), axes.down(closed["rms_error"])
    crop = convergence["crop"]
    out = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 730 460" role="img" '
        'font-family="Helvetica, Arial, sans-serif" font-size="14">',
        "<title>Error against time</title>",
        "<desc>Error of an image against the time that it takes, by more and more samples and in closed form. The closed form is "
        "one point: it has no noise.</desc>",
        STYLE,
        '<rect class="page" x="0" y="0" width="730" height="460" rx="10"/>',
        *axes.lines(),
        f'<path class="own" d="M{axes.left} {axes.down(own):.1f} H{axes.right}"/>',
        f'<text x="{axes.right - 6}" y="{axes.down(own) + 16:.1f}" font-size="12" text-anchor="end">'
        "error of the very many samples themselves</text>",
        *curve(axes, random, "random", "random samples"),
        *curve(axes, even, "even", "evenly spread samples"),
        f'<path class="closed" d="M{x:.1f} {y - 9:.1f} l9 9 l-9 9 l-9 -9 z"/>',
        f'<text x="{x + 14:.1f}" y="{y + 5:.1f}" font-weight="bold">closed form</text>',
        f'<text x="{(axes.left + axes.right) / 2}" y="446" text-anchor="middle">time of an image of {crop} x {crop} pixels, '
        "update included (ms)</text>",
        f'<text transform="translate(24 {(axes.top + axes.bottom) / 2}) rotate(-90)" text-anchor="middle">'
        "rms error / brightest pixel</text>",
        "</svg>",
    ]
    return "\n".join(out) + "\n"


def section(report):
    """The conditions, targets and tables of the report that are of spots in closed form."""
    lines = report.splitlines()
    targets = lines.index("## Targets")
    spots = lines.index("## Spots in closed form")
    end = lines.index("## Rounding")
    head = [line for line in lines[targets:spots] if line.startswith("| | |") or line.startswith("|---|---|---:|---:|---|")]
    own = [line for line in lines[targets:spots] if "closed form" in line or "thaumatin" in line or "the same, aim" in line]
    text = lines[:targets] + ["Targets; times are minima.", ""] + head + own + [""] + lines[spots + 2 : end]
    text = ["#### Error against time" if line == "## Error against time" else line for line in text]
    return "\n".join(text).rstrip() + "\n\n"


def publish(prefix):
    with open(prefix + ".json", encoding="utf-8") as file:
        results = json.load(file)
    with open(prefix + ".md", encoding="utf-8") as file:
        report = file.read()
    with open(FIGURE, "w", encoding="utf-8") as file:
        file.write(figure(results["spots"]["convergence"]))
    with open(README, encoding="utf-8") as file:
        readme = file.read()
    begin = readme.index(BEGIN) + len(BEGIN)
    end = readme.index(END, begin) + 1
    with open(README, "w", encoding="utf-8") as file:
        file.write(readme[:begin] + "\n" + section(report) + readme[end:])


def main():
    if len(sys.argv) < 2 or sys.argv[1] in ("-h", "--help"):
        sys.exit(__doc__)
    if sys.argv[1] == "--from":
        publish(sys.argv[2])
        return
    with tempfile.TemporaryDirectory() as folder:
        prefix = os.path.join(folder, "spots")
        subprocess.run(sys.argv[1:] + ["--sizes", "none", "--loads", "spots", "--output", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        publish(prefix)


if __name__ == "__main__":
    main()
