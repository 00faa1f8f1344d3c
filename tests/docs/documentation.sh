#!/bin/sh
# The documentation says what is so, and what the sources say of it and of one another (docs_check.py).
set -eu
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
PYTHONPATH=$SOURCE_DIR/tests/docs PYTHONDONTWRITEBYTECODE=1 python3 - "$SOURCE_DIR" "${DUALBRAGG-}" << 'PYTHON'
import sys
import docs_check

root, path = sys.argv[1:]
tree = docs_check.Tree(root)
wrong = docs_check.all_of(tree, docs_check.Program(path) if path else None)
print("\n".join(wrong) or f"{len(tree.pages())} pages and {len(tree.sources())} sources name what exists")
sys.exit(bool(wrong))
PYTHON
