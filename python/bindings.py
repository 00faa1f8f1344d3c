"""Makes the C source of the extension module from the public headers.

usage: bindings.py COMPILER OUTPUT.c INCLUDE_DIRECTORY...

All structs, enums and functions of the headers are bound as they stand; nothing is listed here.
DB_PYTHON_FIT tells whether the refinement is among them.
"""

import pathlib
import re
import subprocess
import sys

import cffi

MODULE = "dualbragg._dualbragg"
HEADERS = "dualbragg/"
# Lines of the library's notices, and of the progress of long work. Python handles signals (Ctrl-C) only while its own
# code runs, so long work that tells nobody comes back to it now and then: pass_progress, pass_question.
CALLBACKS = """
extern "Python" void take_notice(void *user, const char *line);
extern "Python" int take_progress(void *user, double fraction);
int pass_progress(void *user, double fraction);
"""
CODE = """
#include <time.h>
static int take_progress(void *user, double fraction);
/* Whether 50 ms are over since it last said so to this thread. */
static int it_is_time(void) {
    static _Thread_local double last;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (now - last < 0.05) return 0;
    last = now;
    return 1;
}
static int pass_progress(void *user, double fraction) {
    return it_is_time() ? take_progress(user, fraction) : 0;
}
"""
FIT_CALLBACKS = """
extern "Python" int take_evaluation(void *user, const db_fit_history *entry);
extern "Python" void take_event(void *user, const db_fit_shots_event *event);
extern "Python" int ask_cancelled(void *user);
int pass_question(void *user);
"""
FIT_CODE = """
static int ask_cancelled(void *user);
static int pass_question(void *user) {
    return it_is_time() ? ask_cancelled(user) : 0;
}
"""


def declarations(compiler, folders, source):
    """What the public headers declare, without what they include from elsewhere."""
    includes = [f"-I{folder}" for folder in folders]
    text = subprocess.run([compiler, "-E", *includes, "-D__attribute__(x)=", "-xc", "-"],
                          input=source, capture_output=True, text=True, check=True).stdout
    own, kept = False, []
    for line in text.splitlines():
        if line.startswith("# "):
            own = HEADERS in line.split('"')[1]
        elif own and line.strip():
            kept.append(line)
    # inline functions of these headers hold no braces of their own
    return re.sub(r"static inline ([^{;]*?)\s*\{[^{}]*\}", r"\1;", "\n".join(kept))


def main(compiler, output, *folders):
    headers = [h.name for f in folders for h in sorted(pathlib.Path(f, HEADERS).glob("*.h"))]
    source = "".join(f"#include <{HEADERS}{name}>\n" for name in headers)
    fit = "fit.h" in headers
    ffi = cffi.FFI()
    ffi.set_source(MODULE, f"#define DB_PYTHON_FIT {int(fit)}\n#define _POSIX_C_SOURCE 199309L\n" + source +
                   CODE + FIT_CODE * fit)
    ffi.cdef(declarations(compiler, folders, source) + "\n#define DB_PYTHON_FIT ...\n" + CALLBACKS +
             FIT_CALLBACKS * fit)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
