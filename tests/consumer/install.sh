#!/bin/sh
# Installs into a temporary prefix, then builds and runs a user's project by find_package and by pkg-config.
set -eu
case ${CFLAGS-} in
*sanitize=thread*)
    echo "skipped: installed programs do not find the tool beside clang's OpenMP that tells the sanitizer of its barriers"
    exit 77
    ;;
esac
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
prefix=$work/prefix
cmake --install "$BINARY_DIR" --prefix "$prefix" > "$work/install.log"
for file in README.md docs/index.md docs/tutorials/first-image.md docs/images/still.png examples/thaumatin.yaml; do
    [ -s "$prefix/share/doc/dualbragg/$file" ] || { echo "not installed: $file"; exit 1; }
done

cmake -S "$SOURCE_DIR/tests/consumer" -B "$work/build" -DCMAKE_PREFIX_PATH="$prefix" > "$work/configure.log"
cmake --build "$work/build"
"$work/build/render"
if [ -f "$prefix/include/dualbragg/fit.h" ]; then "$work/build/settings"; fi
if [ -f "$prefix/include/dualbragg/cuda.h" ]; then "$work/build/device"; fi
# without the language C the libraries of a static library are not found: the message says what is expected
if [ ! -f "$(dirname "$(find "$prefix" -name dualbragg.pc)")/../libdualbragg.so" ]; then
    mkdir "$work/plus"
    printf 'cmake_minimum_required(VERSION 3.21)\nproject(plus LANGUAGES CXX)\nfind_package(dualbragg REQUIRED)\n' > "$work/plus/CMakeLists.txt"
    ! cmake -S "$work/plus" -B "$work/plus/build" -DCMAKE_PREFIX_PATH="$prefix" > "$work/plus.log" 2>&1 || { echo "FAILED: found without C"; exit 1; }
    tr -s ' \n' ' ' < "$work/plus.log" | grep -q 'expected project(NAME LANGUAGES C CXX)' || { cat "$work/plus.log"; exit 1; }
fi

if command -v pkg-config > /dev/null; then
    pc=$(dirname "$(find "$prefix" -name dualbragg.pc)")
    export PKG_CONFIG_PATH="$pc" LD_LIBRARY_PATH="$pc/.."
    sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$SOURCE_DIR/README.md" > "$work/readme.c"
    for module in dualbragg dualbragg_fit; do
        [ -f "$pc/$module.pc" ] || continue
        source=render
        [ $module = dualbragg ] || source=settings
        # shellcheck disable=SC2046,SC2086 # flags are to be split
        "${CC:-cc}" ${CFLAGS:-} "$SOURCE_DIR/tests/consumer/$source.c" -o "$work/$source" \
            $(pkg-config --cflags --libs $module)
        "$work/$source"
    done
    # the program in README.md
    # shellcheck disable=SC2046,SC2086 # flags are to be split
    "${CC:-cc}" ${CFLAGS:-} -Wall -Wextra -Werror "$work/readme.c" -o "$work/readme" $(pkg-config --cflags --libs dualbragg)
    "$work/readme"
else
    echo "without pkg-config: only find_package was tried"
fi

# The installed program runs from where it is, and the installed examples with it, in a folder of the user's.
if [ -n "${DUALBRAGG:-}" ]; then
    "$prefix/bin/dualbragg" --version
    for file in man/man1/dualbragg.1 man/man1/dualbragg-sim.1 bash-completion/completions/dualbragg \
        zsh/site-functions/_dualbragg; do
        [ -s "$prefix/share/$file" ] || { echo "FAILED: share/$file is not installed"; exit 1; }
    done
    mkdir "$work/user" && cd "$work/user"
    for example in "$prefix"/share/doc/dualbragg/examples/*.sh; do
        status=0
        PATH=$prefix/bin:$PATH DUALBRAGG='' SHARED_DIR='' sh "$example" > "$work/example.log" 2>&1 || status=$?
        [ $status -eq 0 ] || [ $status -eq 77 ] || {
            cat "$work/example.log"
            exit 1
        }
    done
fi
