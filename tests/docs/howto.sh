#!/bin/sh
# The commands of docs/howto run as they stand, and print what the pages show.
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
"$DUALBRAGG" fit --help > /dev/null 2>&1 || { echo "skipped: this build has no refinement"; exit 77; }
exec python3 -B "$SOURCE_DIR/tests/docs/run_pages.py" "$SOURCE_DIR"/docs/howto/*.md
