#!/usr/bin/env python3
"""Which test sees each mutant of mutants.list?

Copies the tree to a folder, makes each listed place a choice at run time (by the environment variable
DB_MUTANT, read once), and builds once. Without a mutant all tests must pass; with each, one must fail: those
that are expected to see it are run first, then the other quick ones. Exit status 0: all mutants were seen.

Several mutants are tried side by side, but no test runs twice at a time: tests write files of fixed names.
"""
import argparse
import concurrent.futures
import os
import re
import shutil
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True
import mutants

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

# Of sources, builds and speed rather than results, or slow beyond their worth here.
LEFT_OUT = ("ad/lanes_call_nothing|bench/.*|consumer/.*|cuda/registers|docs/.*|examples/.*|fit/docs_current|"
            "fit/report_browser|headers/.*|instructions/.*|mutants/.*")

CHOICE = """/* Which mutant is on: the environment's DB_MUTANT; 0: none. */
__attribute__((weak, visibility("hidden"))) int db_mutant;
#ifdef __cplusplus
#include <cstdlib>
using std::atoi;
using std::getenv;
#else
extern char *getenv(const char *name);
extern int atoi(const char *text);
#endif
static __attribute__((constructor, unused)) void choose_mutant(void) {
    const char *text = getenv("DB_MUTANT");
    db_mutant = text ? atoi(text) : 0;
}
"""


def write(path, text):
    """Leaves files alone that have the text already, so that little is compiled again."""
    if os.path.exists(path) and open(path, "rb").read() == text:
        return
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "wb") as out:
        out.write(text)


def files_of_tree():
    """Paths in the tree: what git knows or would add; without git, or where it refuses the folder, all but what is made."""
    try:
        return subprocess.run(["git", "ls-files", "-co", "--exclude-standard"], cwd=ROOT, check=True,
                              capture_output=True, text=True).stdout.splitlines()
    except (OSError, subprocess.CalledProcessError):
        names = []
        for folder, folders, files in os.walk(ROOT):
            folders[:] = [f for f in folders if f not in (".git", ".cache", "__pycache__") and
                          os.path.join(folder, f) != os.path.join(ROOT, "build")]
            names += [os.path.relpath(os.path.join(folder, name), ROOT) for name in files]
        return names


def copy_tree(entries, source):
    names = files_of_tree()
    spans = {}
    for m in entries:
        text = open(os.path.join(ROOT, m.file)).read()
        begin, end = m.places(text)[0]
        spans.setdefault(m.file, []).append((begin, end, m))
    for name in names:
        path = os.path.join(ROOT, name)
        if not os.path.isfile(path):
            continue
        text = open(path, "rb").read()
        if name in spans:
            text = mutants.mutated(text.decode(), spans[name]).encode()
        write(os.path.join(source, name), text)
        shutil.copymode(path, os.path.join(source, name))
    shared = os.path.join(os.path.dirname(ROOT), "shared")
    link = os.path.join(os.path.dirname(source), "shared")
    if os.path.isdir(shared) and not os.path.lexists(link):
        os.symlink(shared, link)


def targets(tests):
    """What has to be built for tests: their programs; the program, and that which makes an image, for scripts."""
    scripts = [t for t in tests if not mutants.has_source(ROOT, t, "test_%s.c")]
    return (["test_" + t.partition("/")[2] for t in tests if t not in scripts] +
            ["dualbragg_program"] * bool(scripts) + ["stand_in"] * any(t.startswith("fit/") for t in scripts))


def build(source, folder, options, tests):
    choice = os.path.join(folder, "choice.h")
    write(choice, CHOICE.encode())
    cache = ["-DCMAKE_C_COMPILER_LAUNCHER=ccache"] if shutil.which("ccache") else []
    if shutil.which("ninja"):
        cache.append("-GNinja")
    tree = os.path.join(folder, "build")
    if not os.path.exists(os.path.join(tree, "CMakeCache.txt")):
        subprocess.run(["cmake", "-S", source, "-B", tree, "-DCMAKE_BUILD_TYPE=Release",
                        "-DCMAKE_C_FLAGS_RELEASE=-O1", f"-DCMAKE_C_FLAGS=-include {choice}",
                        f"-DCMAKE_CXX_FLAGS=-include {choice}",
                        "-DDB_BUILD_BENCH=OFF", f"-DDB_INSTRUCTION_SETS={options.isa}", *cache],
                       check=True, stdout=subprocess.DEVNULL)
    only = ["--target", *sorted(set(targets(tests)))] if options.expected else []
    subprocess.run(["cmake", "--build", tree, "-j", str(options.jobs), *only], check=True,
                   stdout=None if options.verbose else subprocess.DEVNULL)
    return tree


def first_failure(tree, number, options, jobs, *which):
    """Name of a test that fails with this mutant; None if all pass."""
    environment = dict(os.environ, DB_MUTANT=str(number))
    run = subprocess.run(["ctest", "--test-dir", tree, "-j", str(jobs), "--stop-on-failure",
                          "--timeout", str(options.timeout), *which],
                         env=environment, capture_output=True, text=True)
    if run.returncode == 0:
        return None
    failed = re.findall(r"^\s+\d+ - (\S+) \(", run.stdout.partition("tests FAILED:")[2], re.M)
    return failed[0] if failed else "ctest itself: " + run.stdout[-300:] + run.stderr[-300:]


class Trial:
    """Tries mutants side by side. Tests that run now are `busy`."""

    def __init__(self, mutants, tree, options):
        self.waiting, self.tree, self.options = list(mutants), tree, options
        self.busy, self.change = set(), threading.Condition()
        self.unseen = []

    def take(self):
        """The first mutant that waits and whose expected tests are free; None if none waits."""
        with self.change:
            while self.waiting:
                for m in self.waiting:
                    if not self.busy & set(m.tests):
                        self.waiting.remove(m)
                        self.busy |= set(m.tests)
                        return m
                self.change.wait()
        return None

    def by_expected_tests(self):
        """Takes mutants until none waits."""
        while (m := self.take()):
            begin = time.monotonic()
            try:
                seen = first_failure(self.tree, m.number, self.options, 1, "-R", one_of(m.tests))
            finally:
                with self.change:
                    self.busy -= set(m.tests)
                    self.change.notify_all()
            if seen:
                show(m, seen, begin)
            else:
                self.unseen.append(m)

    def run(self):
        """Tries all; returns how many no test saw."""
        with concurrent.futures.ThreadPoolExecutor(self.options.jobs) as pool:
            for worker in [pool.submit(self.by_expected_tests) for _ in range(self.options.jobs)]:
                worker.result()
        return sum(not self.by_others(m) for m in self.unseen)

    def by_others(self, m):
        begin = time.monotonic()
        seen = None if self.options.expected else first_failure(
            self.tree, m.number, self.options, self.options.jobs, "-LE", "^slow$", "-E", f"^({LEFT_OUT})$|{one_of(m.tests)}")
        show(m, seen, begin)
        return seen


def one_of(tests):
    return "^(" + "|".join(map(re.escape, tests)) + ")$"


def show(m, seen, begin):
    print(f"{m.name:32} {seen or 'NOT SEEN':32} {time.monotonic() - begin:6.1f} s  {m.meaning}", flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", help="mutants; default: all")
    parser.add_argument("--folder", default="/tmp/dualbragg-mutants",
                        help="for the copy and its build; kept, so that the next run compiles little")
    parser.add_argument("--isa", default="avx2", help="instruction set that is built and run")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--timeout", type=int, default=300, help="seconds a test may take")
    parser.add_argument("--expected", action="store_true", help="run only the tests that the list names")
    parser.add_argument("--verbose", action="store_true", help="show the build")
    return parser.parse_args()


def main():
    options = arguments()
    entries = mutants.read()
    wrong = mutants.check(entries, ROOT)
    unknown = set(options.names) - {m.name for m in entries}
    wrong += [f"no mutant is named {name}" for name in sorted(unknown)]
    if wrong:
        sys.exit("\n".join(wrong))
    source = os.path.join(options.folder, "tree", "source")
    copy_tree(entries, source)
    chosen = [m for m in entries if not options.names or m.name in options.names]
    named = sorted({t for m in chosen for t in m.tests})
    tree = build(source, options.folder, options, named)
    failed = first_failure(tree, 0, options, options.jobs, "-R", one_of(named))
    if not failed and not options.expected:
        failed = first_failure(tree, 0, options, options.jobs, "-LE", "^slow$", "-E", f"^({LEFT_OUT})$|{one_of(named)}")
    if failed:
        sys.exit(f"without a mutant a test fails: {failed}")
    survivors = Trial(chosen, tree, options).run()
    print(f"{len(chosen) - survivors} of {len(chosen)} mutants were seen")
    return bool(survivors)


if __name__ == "__main__":
    sys.exit(main())
