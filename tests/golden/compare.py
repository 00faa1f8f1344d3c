"""Compare `dualbragg sim` with the golden images of tests/golden/data. Standard library only.

usage: compare.py EXECUTABLE default|compat [CASE ...]

For each instruction set and case: the image lies within 1e-6 |value| + 1e-9 max of the golden one, has the same bits
with 1, 2 and 4 threads, and geometry and statistics that are printed are those of the reference. compat: -compat is
given, and every case is compared with the reference's image. default: cases where the reference has an oddity are
compared with the recommended image instead, and what is printed is not looked at. Exit status 0 if all of this holds.
"""
import array
import hashlib
import json
import math
import os
import subprocess
import sys
import tempfile

DATA = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data")
INSTRUCTION_SETS = os.environ.get("INSTRUCTION_SETS", "sse2 neon generic avx2 avx512").split()
THREADS = [int(count) for count in os.environ.get("THREAD_COUNTS", "1 2 4").split()]
DEVICE_MISSING = 4


def floats(data):
    values = array.array("f")
    values.frombytes(data)
    if sys.byteorder == "big":
        values.byteswap()
    return values


def read(path):
    with open(path, "rb") as file:
        return file.read()


class Run:
    """One run of the program in an empty folder beside the inputs: -compat writes more than it is asked for."""

    def __init__(self, executable, arguments, isa, threads):
        with tempfile.TemporaryDirectory() as scratch:
            os.symlink(os.path.join(DATA, "inputs"), os.path.join(scratch, "inputs"))
            path = os.path.join(scratch, "image.f32")
            command = [executable, "sim"] + arguments + [
                "-floatfile", path, "-nonoise", "-nopgm", "-noprogress", "--isa", isa, "--threads", str(threads),
                "--digits", "17"]
            done = subprocess.run(command, cwd=scratch, capture_output=True, text=True)
            self.status = done.returncode
            self.message = (done.stderr.strip().splitlines() or ["exit %d without a message" % done.returncode])[-1]
            self.report = [line.strip() for line in done.stdout.splitlines()]
            self.image = read(path) if os.path.exists(path) else b""


def has_instruction_set(executable, isa):
    command = [executable, "sim", "-cell", "50", "-default_F", "1", "-detpixels", "2", "-floatfile", os.devnull,
               "--isa", isa]
    return subprocess.run(command, capture_output=True).returncode != DEVICE_MISSING


def image_fault(found, golden):
    found, golden = floats(found), floats(golden)
    if len(found) != len(golden):
        return "%d pixels, expected %d" % (len(found), len(golden))
    peak = max(map(abs, golden)) or 1.0
    worst = 0.0
    for a, b in zip(found, golden):
        ratio = abs(a - b) / (1e-6 * abs(b) + 1e-9 * peak)
        if not ratio <= worst:
            worst = ratio
    return None if worst <= 1 else "image off by %.3g times the bound" % worst


def numbers(report, label):
    """The numbers of the line that begins with a label, words between them left out."""
    for line in report:
        if line.startswith(label):
            found = []
            for word in line[len(label):].replace("=", "= ").split():
                try:
                    found.append(float(word))
                except ValueError:
                    pass
            return found
    return None


def columns(report, title):
    """The three-line table X: Y: Z: below a title, as three vectors."""
    start = next((i for i, line in enumerate(report) if line.startswith(title)), None)
    if start is None:
        return [None] * 3
    rows = [next(line for line in report[start:] if line.startswith(axis)) for axis in ("X:", "Y:", "Z:")]
    rows = [[float(word) for word in row.split()[1:]] for row in rows]
    return [[rows[r][c] for r in range(3)] for c in range(3)]


def apart(found, expected, relative, absolute):
    return found is None or len(found) < len(expected) or any(
        not math.isclose(a, b, rel_tol=relative, abs_tol=absolute) for a, b in zip(found, expected))


def report_fault(case, report, compat):
    """The reference's log against what is printed."""
    log = case["log"]
    lines = [("pix0_vector=", log["pix0_vector_m"]), ("DIRECTION_OF_DETECTOR_X-AXIS=", log["fdet_vector"]),
             ("DIRECTION_OF_DETECTOR_Y-AXIS=", log["sdet_vector"]),
             ("DIRECTION_OF_DETECTOR_Z-AXIS=", log["odet_vector"]),
             ("Fclose=", [log["Fclose_m"], log["Sclose_m"]]), ("close_distance=", [log["close_distance_m"]])]
    if compat or "-twotheta" not in case["args"]:  # the reference's distance leaves two-theta out
        lines += [("Fbeam=", [log["Fbeam_m"], log["Sbeam_m"]]), ("distance=", [log["distance_m"]])]
    for label, expected in lines:
        found = numbers(report, label)
        if apart(found, expected, 1e-12, 1e-12):
            return "%s %s, the reference has %s" % (label, found, expected)
    if "misset_deg" in log:
        found = numbers(report, "random orientation misset angles:")
        if apart(found, log["misset_deg"], 0, 2e-6):  # six decimals
            return "misset angles %s, the reference has %s" % (found, log["misset_deg"])
    if log["convention"] + " convention selected." not in report:
        return "convention %s is not named" % log["convention"]
    if any("around sample" in line for line in report) != (log["pivot"] == "sample"):
        return "pivot %s is not named" % log["pivot"]
    tables = [("real-space cell vectors", "a_A", "b_A", "c_A")]
    if compat:
        tables.append(("reciprocal-space cell vectors", "a_star_invA", "b_star_invA", "c_star_invA"))
    for title, *keys in tables:
        for found, key in zip(columns(report, title), keys):
            if apart(found, log[key], 0, 6e-9):  # eight decimals
                return "cell vector %s %s, the reference has %s" % (key, found, log[key])
    # printed with six digits by the reference
    for label, keys in [("max_I =", ["max_I"]), ("mean=", ["mean", "rms", "rmsd"])]:
        found = numbers(report, label)
        expected = [log[key] for key in keys]
        if apart(found, expected, 6e-6, 0):
            return "%s %s, the reference has %s" % (label, found, expected)
    found = numbers(report, "max_I =")
    if apart(found[1:], log["max_I_at_m"], 6e-6, 0):
        return "maximum at %s, the reference has it at %s" % (found[1:], log["max_I_at_m"])
    return None


def case_fault(executable, case, isa, compat):
    arguments = case["args"] + (["-compat"] if compat else [])
    golden = case["image"] if compat else case.get("recommended_image", case["image"])
    run = Run(executable, arguments, isa, THREADS[0])
    if run.status != 0:
        return run.message
    fault = image_fault(run.image, read(os.path.join(DATA, golden)))
    if fault is None and (compat or "quirk" not in case):
        fault = report_fault(case, run.report, compat)
    for threads in THREADS[1:]:
        if fault is None and Run(executable, arguments, isa, threads).image != run.image:
            fault = "other bits with %d threads than with %d" % (threads, THREADS[0])
    return fault


def damaged(cases):
    return [case["id"] for case in cases
            if hashlib.sha256(read(os.path.join(DATA, case["image"]))).hexdigest() != case["sha256"]]


def main():
    executable, mode, wanted = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3:]
    with open(os.path.join(DATA, "cases.json")) as file:
        cases = [case for case in json.load(file) if not wanted or case["id"] in wanted]
    broken = damaged(cases)
    if broken or not cases or mode not in ("default", "compat"):
        sys.exit("golden data: %d cases, damaged: %s; mode %s" % (len(cases), broken, mode))
    faults = 0
    tried = [isa for isa in INSTRUCTION_SETS if has_instruction_set(executable, isa)]
    if not tried:
        sys.exit("this machine has none of the instruction sets " + " ".join(INSTRUCTION_SETS))
    for isa in tried:
        bad = 0
        for case in cases:
            fault = case_fault(executable, case, isa, mode == "compat")
            if fault:
                print("FAIL %s %s: %s" % (isa, case["id"], fault))
                bad += 1
        print("%s: %d cases, %d faults" % (isa, len(cases), bad))
        faults += bad
    sys.exit(1 if faults else 0)


main()
