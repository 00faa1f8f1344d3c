"""Names that a search finds. Usage: names.py TREE

In ROOMS a static function whose name is one word has it alone in the tree, and one in a header begins with db_.
"""
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


def self_check():
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
    messages = check(whole)
    print("\n".join(messages) or f"static functions of {len(whole)} files have names of their own")
    sys.exit(bool(messages))
