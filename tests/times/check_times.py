#!/usr/bin/env python3
"""Have quick tests become slow? Compares the times of a run of ctest with the record of the twenty slowest tests.

    check_times.py RESULTS.xml           names each test that takes longer than its limit; ctest --output-junit RESULTS.xml
                                         writes the results
    check_times.py RESULTS.xml --renew   writes the record from these results

Machines differ, so recorded times are multiplied by the run's pace, the median of measured over recorded times. A test's
limit is FACTOR times its recorded time and SLACK seconds more, which other tests beside it can cost; a test that is not in
the record has the limit of the fastest one there. The sum of all tests' times may be TOTAL_FACTOR times the recorded one: many
small tests make a suite slow, too. Exit status 1: a test, or all of them, take longer.
"""
import argparse
import os
import statistics
import sys
import xml.etree.ElementTree as xml

RECORD = os.path.join(os.path.dirname(os.path.abspath(__file__)), "slowest")
COUNT = 20
FACTOR = 2
SLACK = 8  # seconds
TOTAL = "total"
TOTAL_FACTOR = 1.3  # in a sum of hundreds of tests their noise cancels; the pace of the slowest twenty is not that of all


def read_results(path):
    """Seconds of each test that ran."""
    cases = xml.parse(path).getroot().iter("testcase")
    return {case.get("name"): float(case.get("time")) for case in cases if case.get("status") != "notrun"}


def read_record(path):
    with open(path) as record:
        lines = [line.split() for line in record if line.strip() and not line.startswith("#")]
    return {name: float(seconds) for name, seconds in lines}


def complaints(times, record):
    """One line for each test that takes longer than its limit, and one if all of them do."""
    record = dict(record)
    total = record.pop(TOTAL, None)
    paces = [times[name] / record[name] for name in record if name in times]
    if not paces:
        return ["no recorded test has run"]
    shortest = min(record.values())
    pace = statistics.median(paces)
    limits = {name: pace * (FACTOR * record.get(name, shortest) + SLACK) for name in times}
    found = [f"{name}: expected at most {limits[name]:.1f} s, found {seconds:.1f} s"
             for name, seconds in sorted(times.items()) if seconds > limits[name]]
    if total is not None and sum(times.values()) > TOTAL_FACTOR * pace * total:
        found.append(f"all tests: expected at most {TOTAL_FACTOR * pace * total:.0f} s, found {sum(times.values()):.0f} s")
    return found


def slowest(times):
    return sorted(times.items(), key=lambda entry: -entry[1])[:COUNT]


def write_record(times, path):
    with open(path, "w") as out:
        out.write("# The slowest quick tests, and their seconds beside one other test; total: those of all tests (check_times.py\n"
                  "# --renew writes this).\n")
        out.write(f"{TOTAL} {sum(times.values()):.1f}\n")
        out.writelines(f"{name} {seconds:.1f}\n" for name, seconds in slowest(times))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("results")
    parser.add_argument("--renew", action="store_true")
    options = parser.parse_args()
    times = read_results(options.results)
    if options.renew:
        write_record(times, RECORD)
        return 0
    found = complaints(times, read_record(RECORD))
    print("\n".join(found) or f"{len(times)} tests, {sum(times.values()):.0f} s; none takes longer than the record allows")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
