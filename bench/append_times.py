"""Appends the median times of a run of dualbragg_bench to a table of all runs: date, commit, processor, figure, seconds.

usage: append_times.py REPORT.json TABLE.csv COMMIT
"""
import csv
import json
import os
import sys

NAMES = ("load", "size", "scene", "call", "precision", "domains")  # which tell rows of the report apart


def medians(node, name=()):
    """Name and seconds of each time in a report."""
    if isinstance(node, list):
        for part in node:
            yield from medians(part, name)
    elif isinstance(node, dict) and "median" in node:
        yield " ".join(name), node["median"]
    elif isinstance(node, dict):
        own = name + tuple(str(node[key]) for key in NAMES if key in node)
        for key, part in node.items():
            yield from medians(part, (*own, key))


def main(report, table, commit):
    with open(report) as file:
        report = json.load(file)
    new = not os.path.exists(table)
    with open(table, "a", newline="") as file:
        out = csv.writer(file)
        if new:
            out.writerow(["date", "commit", "processor", "figure", "seconds"])
        for figure, seconds in medians(report):
            out.writerow([report["run"]["date"], commit, report["machine"]["processor"], figure, seconds])


if __name__ == "__main__":
    main(*sys.argv[1:])
