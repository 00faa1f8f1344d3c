"""Runs the commands of Markdown pages, and compares what they print with what the pages show.

    run_pages.py PAGE.md...

A block of the mark sh is run by sh -eu, in one empty folder for the whole page. A block ```text behind it shows lines that the
commands print, in their order; a line of three dots stands for any others. Numbers agree within 2 % or a unit of the last
digit shown. Numbers below 1e-9 are rounding errors of double precision: they all agree. Numbers below 1e-6 are rounding errors
of single precision: they agree within a factor of ten, since sets of instructions round differently. The folder has the files
of examples/data, as data/. Blocks ```sh measured need more images, which are linked into the folder where $SHARED_DIR has
them; without them these blocks are left out.
A block ```yaml is a configuration of `dualbragg fit`: it must be understood, although its images are not there.
"""
import os
import re
import subprocess
import sys
import tempfile

MARK = "=== end of block %d"
FENCE = re.compile(r"^```(sh measured|sh|text|yaml)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
MEASURED = ["thermolysin"]  # folders of $SHARED_DIR/realdata
EXAMPLE_DATA = os.path.abspath(os.path.join(os.path.dirname(__file__), "..", "..", "examples", "data"))
DOUBLE_ROUNDING, SINGLE_ROUNDING = 1e-9, 1e-6  # what rounding leaves of a difference relative to the largest value
NUMBER = re.compile(r"[-+]?\d[\d.]*(?:e[-+]?\d+)?")


def blocks_of(page):
    """(kind, text) of every block that is run or shown."""
    with open(page, encoding="utf-8") as file:
        return FENCE.findall(file.read())


def link_measured(folder):
    """Links the measured files into a folder. True where there are any."""
    found = False
    for name in MEASURED:
        source = os.path.join(os.environ.get("SHARED_DIR", ""), "realdata", name)
        for file in os.listdir(source) if os.path.isdir(source) else []:
            os.symlink(os.path.abspath(os.path.join(source, file)), os.path.join(folder, file))
            found = True
    return found


def words(line):
    return " ".join(NUMBER.sub("#", line).split())


def last_digit(number):
    """The worth of a unit of the last digit of a text."""
    digits, _, exponent = number.partition("e")
    return 10.0 ** (int(exponent or 0) - len(digits.partition(".")[2]))


def agree(shown, printed):
    """Whether two lines have the same words, and numbers that agree."""
    if words(shown) != words(printed):
        return False
    for one, other in zip(NUMBER.findall(shown), NUMBER.findall(printed)):
        try:
            a, b = float(one), float(other)
        except ValueError:  # a version, a date
            continue
        small, large = sorted((abs(a), abs(b)))
        if large < SINGLE_ROUNDING and large < 10 * small:
            continue
        if abs(a - b) > max(0.02 * large, 1.001 * last_digit(one), DOUBLE_ROUNDING):
            return False
    return True


def missing_line(shown, printed):
    """The first line of a ```text block that the output has not, in this order."""
    lines = iter(printed.splitlines())
    for line in shown.splitlines():
        if line.strip() not in ("", "...") and not any(agree(line, p) for p in lines):
            return line
    return None


def configuration_fault(text):
    """What is wrong with a configuration: any exit status but 3, which says that a file is not there."""
    with tempfile.TemporaryDirectory() as work:
        with open(os.path.join(work, "page.yaml"), "w", encoding="utf-8") as file:
            file.write(text)
        result = subprocess.run([os.environ["DUALBRAGG"], "fit", "page.yaml"], cwd=work, text=True, check=False,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    return None if result.returncode == 3 else "a configuration is refused: %s\n%s" % (result.stderr, text)


def check(page):
    """Faults of a page; None where nothing could be run."""
    blocks = blocks_of(page)
    faults = list(filter(None, (configuration_fault(text) for kind, text in blocks if kind == "yaml")))
    with tempfile.TemporaryDirectory() as work:
        run = os.path.join(work, "run")
        os.mkdir(run)
        os.mkdir(os.path.join(work, "bin"))
        os.symlink(EXAMPLE_DATA, os.path.join(run, "data"))
        os.symlink(os.environ["DUALBRAGG"], os.path.join(work, "bin", "dualbragg"))
        runnable = ["sh"]
        if any(kind == "sh measured" for kind, _ in blocks) and link_measured(run):
            runnable.append("sh measured")
        script = "".join("%s\necho '%s'\n" % (text, MARK % i) for i, (kind, text) in enumerate(blocks) if kind in runnable)
        if not script:
            return faults if any(kind == "yaml" for kind, _ in blocks) else None
        environment = dict(os.environ, PATH=os.path.join(work, "bin") + os.pathsep + os.environ["PATH"])
        result = subprocess.run(["sh", "-eu"], input=script, cwd=run, env=environment, text=True, check=False,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if result.returncode != 0:
        return faults + ["exit status %d; the last lines printed:\n%s" % (result.returncode, result.stdout[-3000:])]
    outputs = {}
    rest = result.stdout
    for i, (kind, text) in enumerate(blocks):
        if kind in runnable:
            outputs[i], rest = rest.split(MARK % i + "\n", 1)
        elif kind == "text" and i - 1 in outputs:
            line = missing_line(text, outputs[i - 1])
            if line is not None:
                faults.append("shows a line that is not printed, or not there: %s\nprinted:\n%s" % (line, outputs[i - 1]))
    return faults


def main(pages):
    results = {page: check(page) for page in pages if any(kind != "text" for kind, _ in blocks_of(page))}
    for page, faults in results.items():
        print("%s: %s" % (page, "skipped, no measured images" if faults is None else "; ".join(faults) or "ok"))
    if any(results.values()):
        return 1
    return 0 if any(faults is not None for faults in results.values()) else 77


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
