#!/bin/sh
# Sources with OpenMP's pragmas are compiled with OpenMP: where it is missing the compiler ignores them without a word, and
# threads do nothing.
set -eu
commands=$BINARY_DIR/compile_commands.json
if [ ! -f "$commands" ] || ! grep -q 'DB_HAVE_OPENMP=1' "$commands"; then
    echo "skipped: no $commands, or a build without OpenMP"
    exit 77
fi
awk '
    /"command":/ { with = /openmp( |=|")/ }
    /"file":/ {
        split($0, part, "\"")
        if (with || part[4] !~ /\/(src|fit|bench)\//) next
        while ((getline line < part[4]) > 0)
            if (line ~ /^ *#pragma omp/) {
                print part[4] ": OpenMP pragmas, compiled without OpenMP"
                bad = 1
                break
            }
        close(part[4])
    }
    END { exit bad }' "$commands"
