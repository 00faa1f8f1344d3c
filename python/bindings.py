"""Makes the C source of the extension module from the public headers.

usage: bindings.py COMPILER INCLUDE_DIRECTORY OUTPUT.c

All structs, enums and functions of the headers are bound as they stand; nothing is listed here.
"""

import pathlib
import subprocess
import sys

import cffi

MODULE = "dualbragg._dualbragg"
HEADERS = "dualbragg/"
# Lines of the library's notices, and of the progress of long work.
CALLBACKS = """
extern "Python" void take_notice(void *user, const char *line);
extern "Python" int take_progress(void *user, double fraction);
"""


def declarations(compiler, include, source):
    """What the public headers declare, without what they include from elsewhere."""
    text = subprocess.run([compiler, "-E", f"-I{include}", "-D__attribute__(x)=", "-xc", "-"],
                          input=source, capture_output=True, text=True, check=True).stdout
    own, kept = False, []
    for line in text.splitlines():
        if line.startswith("# "):
            own = HEADERS in line.split('"')[1]
        elif own and line.strip():
            kept.append(line)
    return "\n".join(kept)


def main(compiler, include, output):
    headers = sorted(pathlib.Path(include, HEADERS).glob("*.h"))
    source = "".join(f"#include <{HEADERS}{h.name}>\n" for h in headers)
    ffi = cffi.FFI()
    ffi.set_source(MODULE, source)
    ffi.cdef(declarations(compiler, include, source) + CALLBACKS)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
