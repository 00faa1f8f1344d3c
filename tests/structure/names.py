"""Names that a search finds, and functions that somebody calls. Usage: names.py TREE

In ROOMS a static function whose name is one word has it alone in the tree, and one in a header begins with db_. What a
private header of fit declares is called in fit, outside of its own declaration and definition.
"""
import collections
import os
import re
import sys

import includes

ROOMS = [room for room in includes.LIBRARY if room.startswith("src/")] + ["cuda"] + includes.REFINEMENT
STATIC = re.compile(r"^static (inline )?[^=;(){]*?(\w+)\((?!\*)", re.M)


def check(texts):
    """Messages about files {path: text}; none if all is well."""
    homes, wrong = {}, []
    for path, text in texts.items():
        for inline, name in STATIC.findall(text):
            if path.startswith("fit/") and path.endswith(".h") and inline and not name.startswith("db_"):
                wrong.append(f"{path}: {name}: expected a name that begins with db_, as of a header")
            if "_" not in name and name != "TABLE":
                homes.setdefault(name, set()).add(path)
    return wrong + [f"{name}: a static function of {', '.join(sorted(paths))}: expected a name of its own, of two words"
                    for name, paths in sorted(homes.items())
                    if len(paths) > 1 and any(includes.room_of(path) in ROOMS for path in paths)]


def uncalled(texts):
    """Messages about functions of private headers of fit that only stand there."""
    told = [text for path, text in texts.items() if "/include/" in path]
    count = collections.Counter(name for path, text in texts.items() if path.startswith("fit/")
                                for name in re.findall(r"\bdb_\w+", text))
    return [f"{path}: {name} is called nowhere in fit" for path, text in texts.items()
            if path.startswith("fit/") and path.endswith(".h") and "/include/" not in path
            for name in set(re.findall(r"^(?!static|typedef)\w[^;{}()=]*?\b(db_\w+)\(", text, re.M))
            if count[name] < 3 and not any(name in other for other in told)]


def self_check():
    alone = {"fit/pixels/a.h": "int db_use(int a);", "fit/pixels/a.c": "int db_use(int a) {"}
    assert len(uncalled(alone)) == 1 and not uncalled({**alone, "fit/run.c": "return db_use(1);"})
    twice = {"src/io/a.c": "static int take(void) {", "fit/verdict/b.c": "static void\ntake(int a) {"}
    assert len(check(twice)) == 1 and not check({"bench/a.c": "static int put(int a) {", "bench/b.c": "static int put(void) {"})
    assert len(check({"fit/pixels/a.h": "static inline int use(int a) {"})) == 1
    assert not check({"fit/pixels/a.h": "static inline int db_use(int a) {", "src/io/a.c": "static const int use[] = {"})


if __name__ == "__main__":
    self_check()
    whole = {}
    for path in includes.sources(sys.argv[1]):
        if path.startswith(("src/", "fit/", "cuda/")):
            with open(os.path.join(sys.argv[1], path), encoding="utf-8") as file:
                whole[path] = file.read()
    messages = check(whole) + uncalled(whole)
    print("\n".join(messages) or f"static functions of {len(whole)} files have names of their own")
    sys.exit(bool(messages))
