"""Compare `dualbragg sim` with the golden images. Standard library only.

usage: compare.py EXECUTABLE CASES.JSON EXPECTED_TO_FAIL.TXT [CASE ...]

For each instruction set and case: the image lies within 1e-6 |value| + 1e-9 max of the golden one (the recommended one
where the reference is known to be wrong), has the same bits with 1, 2 and 4 threads, and the geometry that is printed
is that of the reference. Exit status 0 if all of this holds.
"""
import array
import json
import math
import os
import subprocess
import sys
import tempfile

INSTRUCTION_SETS = ["sse2", "avx2", "avx512"]
THREADS = [1, 2, 4]
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
    """One run of the program in the folder of the golden inputs."""

    def __init__(self, executable, folder, arguments, isa, threads):
        with tempfile.TemporaryDirectory() as scratch:
            path = os.path.join(scratch, "image.f32")
            command = [executable, "sim"] + arguments + [
                "-floatfile", path, "-nonoise", "-nopgm", "-noprogress", "--isa", isa, "--threads", str(threads),
                "--digits", "17"]
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
            self.status = done.returncode
            self.message = (done.stderr.strip().splitlines() or ["exit %d without a message" % done.returncode])[-1]
            self.report = done.stdout
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


def numbers_after(report, label):
    for line in report.splitlines():
        if line.startswith(label):
            return [float(word) for word in line[len(label):].replace("Sbeam=", "").replace("Sclose=", "").split()]
    return None


def columns(report, title):
    """The three-line table X: Y: Z: below a title, as three vectors."""
    lines = report.splitlines()
    start = next((i for i, line in enumerate(lines) if line.startswith(title)), None)
    if start is None:
        return None
    rows = [[float(word) for word in lines[start + 1 + r].split()[1:]] for r in range(3)]
    return [[rows[r][c] for r in range(3)] for c in range(3)]


def apart(found, expected):
    return found is None or len(found) != len(expected) or any(
        not abs(a - b) <= 1e-9 * max(1.0, abs(b)) for a, b in zip(found, expected))


def report_fault(case, report):
    """The reference's log against what is printed, where the two mean the same."""
    log = case["log"]
    axes = [("pix0_vector=", log["pix0_vector_m"]), ("DIRECTION_OF_DETECTOR_X-AXIS=", log["fdet_vector"]),
            ("DIRECTION_OF_DETECTOR_Y-AXIS=", log["sdet_vector"]),
            ("DIRECTION_OF_DETECTOR_Z-AXIS=", log["odet_vector"]),
            ("Fclose=", [log["Fclose_m"], log["Sclose_m"]]), ("close_distance=", [log["close_distance_m"]])]
    untilted = "-twotheta" not in case["args"]  # the reference's distance leaves two-theta out
    if untilted:
        axes.append(("Fbeam=", [log["Fbeam_m"], log["Sbeam_m"]]))
    for label, expected in axes:
        found = numbers_after(report, label)
        if apart(found, expected):
            return "%s %s, the reference has %s" % (label, found, expected)
    if log["convention"] + " convention selected." not in report:
        return "convention %s is not named" % log["convention"]
    if ("around sample" in report) != (log["pivot"] == "sample"):
        return "pivot %s is not named" % log["pivot"]
    vectors = columns(report, "real-space cell vectors")
    for found, expected in zip(vectors or [None] * 3, [log["a_A"], log["b_A"], log["c_A"]]):
        if found is None or any(not abs(a - b) <= 6e-9 for a, b in zip(found, expected)):  # eight decimals
            return "cell vector %s, the reference has %s" % (found, expected)
    if not math.isclose(numbers_after(report, "max_I =")[0] if " at " not in report else float(
            next(line for line in report.splitlines() if line.startswith("max_I =")).split()[2]),
            log["max_I"], rel_tol=1e-5):
        return "max_I is not %g" % log["max_I"]
    return None


def expected_failures(path):
    with open(path) as file:
        lines = [line.strip() for line in file if line.strip() and not line.startswith("#")]
    return {name: text.strip() for name, text in (line.split(None, 1) for line in lines)}


def case_fault(executable, folder, case, isa, refusal):
    run = Run(executable, folder, case["args"], isa, THREADS[0])
    if refusal is not None:
        if run.status == 0:
            return "passes: remove it from the list of expected failures"
        return None if refusal in run.message else "refused with '%s', expected '%s'" % (run.message, refusal)
    if run.status != 0:
        return run.message
    fault = image_fault(run.image, read(os.path.join(folder, case.get("recommended_image", case["image"]))))
    if fault is None and "quirk" not in case:
        fault = report_fault(case, run.report)
    for threads in THREADS[1:]:
        if fault is None and Run(executable, folder, case["args"], isa, threads).image != run.image:
            fault = "other bits with %d threads than with %d" % (threads, THREADS[0])
    return fault


def main():
    executable, cases_path, failures_path = os.path.abspath(sys.argv[1]), sys.argv[2], sys.argv[3]
    wanted = sys.argv[4:]
    folder = os.path.dirname(cases_path)
    with open(cases_path) as file:
        cases = [case for case in json.load(file) if not wanted or case["id"] in wanted]
    refusals = expected_failures(failures_path)
    faults = 0
    for name in sorted(set(refusals) - {case["id"] for case in cases}) if not wanted else []:
        print("FAIL %s: in the list of expected failures, but there is no such case" % name)
        faults += 1
    for isa in INSTRUCTION_SETS:
        if not has_instruction_set(executable, isa):
            print("%s: not on this machine" % isa)
            continue
        bad = 0
        for case in cases:
            fault = case_fault(executable, folder, case, isa, refusals.get(case["id"]))
            if fault:
                print("FAIL %s %s: %s" % (isa, case["id"], fault))
                bad += 1
        refused = sum(case["id"] in refusals for case in cases)
        print("%s: %d cases, %d refused as expected, %d faults" % (isa, len(cases), refused, bad))
        faults += bad
    sys.exit(1 if faults else 0)


main()
