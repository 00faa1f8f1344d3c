#!/bin/sh
# What asks for optional libraries is compiled without any of them, with headers of theirs that cannot be included, and
# linked with the rest of this build: the program works. (optional_libraries_slow.sh builds everything, without each alone, too.)
set -eu
commands=$BINARY_DIR/compile_commands.json
library=$(find "$BINARY_DIR/src" -maxdepth 1 -name 'libdualbragg_internal.a' -o -maxdepth 1 -name 'libdualbragg.a' |
    sort -r | head -n 1)
program=$BINARY_DIR/CMakeFiles/dualbragg_program.dir
if [ ! -f "$commands" ] || [ -z "$library" ] || [ ! -d "$program" ]; then
    echo "skipped: no $commands, no static library or no program"
    exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$SOURCE_DIR"

# compile_without NAME DEFINITIONS HEADERS SOURCES: compiles the sources of the library and the program that a pattern is
# in, without the definitions (a pattern, too), and with headers that cannot be included, to $work/NAME.
compile_without() {
    folder=$work/$1
    mkdir -p "$folder/absent/Random123"
    for header in $3; do
        echo "#error this build has no $header" > "$folder/absent/$header"
    done
    grep -lE "$4" src/*/*.c src/*/*/*.c "$BINARY_DIR/commands.c" > "$folder/files"
    awk -v folder="$folder" -v definitions=" -DDB_HAVE_($2)=1" -v root="$SOURCE_DIR" -v openmp="$2" '
        BEGIN { while ((getline file < (folder "/files")) > 0) wanted[(file ~ /^\// ? "" : root "/") file] = 1 }
        /"directory":/ { split($0, part, "\""); directory = part[4] }
        /"command":/ {
            command = $0
            sub(/^ *"command": "/, "", command)
            sub(/",? *$/, "", command)
            gsub(/\\"/, "\"", command)
        }
        /"file":/ {
            split($0, part, "\"")
            source = part[4]
            if (!(source in wanted) || command ~ /DB_INSTANCE_KIND/) next
            delete wanted[source]
            gsub(definitions, "", command)
            if (openmp ~ /OPENMP/) gsub(/ -fopenmp(=[a-z]*)?/, "", command)
            gsub(/ -O[123s]/, " -O0", command)
            sub(/ -o .*/, "", command)
            name = source
            gsub("/", "-", name)
            if (index(source, root "/src/") == 1) name = substr(name, length(root) + 2)
            print "(cd " directory " && " command " -I" folder "/absent -o " folder "/" name ".o -c " source ")"
        }' "$commands" > "$folder/compile.sh"
    [ "$(wc -l < "$folder/compile.sh")" -ge 2 ] || { echo "expected sources that ask for $1"; exit 1; }
    sh -e "$folder/compile.sh" || { echo "without $1"; exit 1; }
}
random="Random123/philox.h Random123/threefry.h"
hdf5="hdf5.h lz4.h zstd.h zlib.h"
compile_without all 'OPENMP|RANDOM123|PNG|ZLIB|JANSSON|MSGPACK|GEMMI|HDF5|TIFF|FIT|MPI|CUDA' \
    "omp.h png.h jansson.h msgpack.h mpi.h yaml.h nlopt.h tiffio.h $hdf5 $random" 'DB_HAVE_|_OPENMP|pragma omp|base/threads\.h|"cli/command\.h"'

# The program: its own objects, unless they are new.
for object in "$program"/src/cli/*.o "$program"/help_*.o; do
    name=$(basename "$object" .o)
    case $name in help_*) ;; *) [ -f "src/cli/$name" ] || continue ;; esac # of a source that is there
    [ -f "$work/all/src-cli-$name.o" ] || set -- "$@" "$object"
done
# shellcheck disable=SC2086 # flags are to be split
${CC:-cc} ${CFLAGS:-} "$work"/all/*.o "$@" "$library" -lm -o "$work/dualbragg"

"$work/dualbragg" --version > "$work/version"
grep -q '^threads: one, since this build has no OpenMP' "$work/version"
if grep -E '^components:.*(OpenMP|PNG|zlib|JSON|Random123|gemmi|fit)' "$work/version"; then
    echo "expected no library in the version"
    exit 1
fi
"$work/dualbragg" help | grep -q '^  fit .*this build has no refinement'
code=0
"$work/dualbragg" fit > "$work/log" 2>&1 || code=$?
grep -q 'dualbragg fit: this build has no refinement' "$work/log" && [ $code -eq 2 ]
set -- sim -cell 40 50 60 90 90 90 -N 4 -default_F 100 -lambda 1 -distance 70 -detpixels 20 -pixel 1
"$work/dualbragg" "$@" -floatfile "$work/image.f32" > "$work/log"
[ "$(wc -c < "$work/image.f32")" -eq 1600 ]
code=0
"$work/dualbragg" "$@" -expt "$SOURCE_DIR/tests/fuzz/corpus/list.expt" -floatfile "$work/other.f32" > "$work/log" 2>&1 || code=$?
grep -q 'jansson' "$work/log" && [ $code -ne 0 ] && [ ! -e "$work/other.f32" ]
code=0
"$work/dualbragg" "$@" -hkl "$SOURCE_DIR/tests/fuzz/corpus/ok.mtz" -floatfile "$work/other.f32" > "$work/log" 2>&1 || code=$?
grep -q 'gemmi-dev' "$work/log" && [ $code -ne 0 ] && [ ! -e "$work/other.f32" ]
echo "$(find "$work" -name "*.o" | wc -l) sources compiled"
