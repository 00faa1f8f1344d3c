"""The check of includes finds what it looks for, in made-up trees."""
import os
import sys
import tempfile

import includes


def check(files, exceptions=()):
    """What is said of a tree {path: included}; several are separated by blanks."""
    with tempfile.TemporaryDirectory() as tree:
        for path, included in files.items():
            os.makedirs(os.path.dirname(os.path.join(tree, path)), exist_ok=True)
            with open(os.path.join(tree, path), "w") as file:
                file.write("/* made up */\n" + "".join(f'#include "{name}"\n' for name in included.split()))
        return includes.check(tree, set(exceptions))


def expect(wanted, files, exceptions=()):
    found = check(files, exceptions)
    if len(found) != len(wanted) or any(not f.startswith(w) for f, w in zip(found, wanted)):
        sys.exit(f"self-check: {files}: expected {wanted}, found {found}")


HEADERS = {"ad/num.h": "", "src/base/text.h": "", "src/kernel/job.h": "ad/num.h", "src/io/hkl.h": "base/text.h",
           "src/cli/flags.h": "", "src/include/dualbragg/plan.h": "", "fit/include/dualbragg/fit.h": "dualbragg/plan.h",
           "fit/config/ties.h": "dualbragg/fit.h", "fit/pixels/boxes.h": "fit/config/ties.h",
           "fit/shots/store.h": "fit/pixels/boxes.h", "cuda/plan.h": "kernel/job.h", "tests/fit/rendered.h": ""}


def against(path, included):
    expect([f"{path}:2: includes "], {**HEADERS, path: included})


expect([], HEADERS)
expect([], {**HEADERS, "src/engine/plan.c": "kernel/job.h ad/num.h dualbragg/plan.h <stdio.h>",
            "fit/cli/command.c": "fit/shots/store.h cli/flags.h", "fit/run.c": "fit/shots/store.h base/text.h",
            "tests/fit/test_a.c": "fit/rendered.h fit/pixels/boxes.h io/hkl.h"})
against("fit/pixels/a.c", "fit/shots/store.h")
against("fit/config/a.h", "fit/pixels/boxes.h")
against("fit/shots/a.c", "cli/flags.h")
against("fit/pixels/a.c", "io/hkl.h")
against("fit/run.c", "cuda/plan.h")
against("src/kernel/a.h", "io/hkl.h")
against("src/io/a.c", "cli/flags.h")
against("src/io/a.c", "fit/config/ties.h")
against("src/engine/a.c", "cuda/plan.h")
against("src/engine/a.c", "dualbragg/fit.h")
against("ad/a.h", "dualbragg/plan.h")
against("cuda/a.c", "io/hkl.h")
against("src/include/dualbragg/a.h", "base/text.h")

CIRCLE = {"src/io/a.h": "", "src/io/b.h": "", "src/io/a.c": "io/a.h io/b.h", "src/io/b.c": "io/b.h io/a.h"}
expect(["circle of src/io/a, src/io/b:", "    src/io/a.c:3: includes src/io/b.h", "    src/io/b.c:3: includes src/io/a.h"],
       CIRCLE)
expect([], CIRCLE, ["circle src/io/a src/io/b"])
expect([], {"fit/pixels/a.c": "io/hkl.h", "src/io/hkl.h": ""}, ["fit/pixels/a.c src/io/hkl.h"])
expect(["exception not needed any more: fit/pixels/a.c src/io/hkl.h"], {"src/io/hkl.h": ""},
       ["fit/pixels/a.c src/io/hkl.h"])
