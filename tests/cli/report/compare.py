"""What dualbragg sim prints against stored expectations. Standard library only.

usage: compare.py EXECUTABLE FOLDER          compares; exit status 0 if everything agrees
       compare.py EXECUTABLE FOLDER renew    writes the expectations anew

FOLDER holds NAME.args, arguments of dualbragg sim, and NAME.expected, what it is to print: the labels, order and
numbers that scripts read. Numbers agree if they do so to a unit of the sixth digit, which is what is printed.
"""
import os
import re
import shlex
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"(?<![A-Za-z_])[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?|\binf\b|-?\bnan\b")
CHANGING = re.compile(r"^rendered in |^dualbragg \d") # times, version
# in the order in which one run needs what another one writes
ORDER = ["sweep", "region", "still", "shapes", "sources", "printout", "all_pixels", "compat"]


def write_inputs(folder):
    """A list of structure factors and others that need no more than a formula."""
    with open(os.path.join(folder, "list.hkl"), "w") as file:
        for h in range(-5, 6):
            for k in range(-4, 5):
                for l in range(-6, 7):
                    file.write("%d %d %d %d\n" % (h, k, l, (h * 31 + k * 17 + l * 7) % 97))
    with open(os.path.join(folder, "crystal.mat"), "w") as file:
        file.write("0.02 0.001 0.003\n-0.002 0.018 0.001\n0.001 -0.003 0.015\n")
    with open(os.path.join(folder, "sources.txt"), "w") as file:
        file.write("-10 0 0 1 1e-10\n-1000 1 1 2 1.01e-10\n")


def run(executable, arguments, folder):
    done = subprocess.run([executable, "sim"] + arguments, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        sys.exit("dualbragg sim %s: exit status %d: %s" % (" ".join(arguments), done.returncode, done.stderr))
    return [line.rstrip() for line in done.stdout.splitlines() if not CHANGING.match(line)]


def labels(line):
    return NUMBER.sub("#", line)


def numbers(line):
    return [float(word) for word in NUMBER.findall(line)]


def differ(found, expected):
    if labels(found) != labels(expected):
        return True
    return any(not abs(a - b) <= 1.01e-5 * max(abs(a), abs(b)) for a, b in zip(numbers(found), numbers(expected)))


def compare(name, found, expected):
    faults = 0
    for number, (a, b) in enumerate(zip(found, expected), 1):
        if differ(a, b) and faults < 10:
            print("FAIL %s, line %d:\n  found    %s\n  expected %s" % (name, number, a, b))
            faults += 1
    if len(found) != len(expected):
        print("FAIL %s: %d lines, expected %d" % (name, len(found), len(expected)))
        faults += 1
    return faults


def main():
    executable, folder = os.path.abspath(sys.argv[1]), sys.argv[2]
    renew = sys.argv[3:] == ["renew"]
    names = sorted(name[:-5] for name in os.listdir(folder) if name.endswith(".args"))
    if names != sorted(ORDER):
        sys.exit("cases %s, expected %s" % (names, sorted(ORDER)))
    faults = 0
    with tempfile.TemporaryDirectory() as scratch:
        write_inputs(scratch)
        for name in ORDER:
            with open(os.path.join(folder, name + ".args")) as file:
                found = run(executable, shlex.split(file.read()), scratch)
            path = os.path.join(folder, name + ".expected")
            if renew:
                with open(path, "w") as file:
                    file.write("\n".join(found) + "\n")
                continue
            with open(path) as file:
                faults += compare(name, found, file.read().splitlines())
    sys.exit(1 if faults else 0)


main()
