#!/bin/sh
# One command from a bare Debian 12 or 13 to a result: installs what is missing, builds, runs.
set -eu
cd "$(dirname "$0")"
root=$PWD
jobs=$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN 2> /dev/null || echo 2)
if [ "$(uname)" = Darwin ] && command -v brew > /dev/null; then # its clang has no OpenMP
    OpenMP_ROOT=$(brew --prefix libomp)
    export OpenMP_ROOT
fi

usage() {
    cat << 'TEXT'
usage: ./setup.sh demo      install what is missing, build, run examples/thaumatin.sh
       ./setup.sh test      install what is missing, build with warnings as errors, check the format, run the quick tests
       ./setup.sh slow      the same with the slow tests alone
       ./setup.sh tidy      clang-tidy on all C files of src and fit
       ./setup.sh cuda      where nvcc is: builds the device code too (for sm_90), runs the tests of the backend; those of
                            a GPU are skipped without one
       ./setup.sh arm       builds for 64-bit Arm with Debian's cross compiler; tests of the pixel loop, and one program of
                            each other group, run by qemu
       ./setup.sh macos     compiles all C files with the headers of macOS (of zig); links and runs nothing
       ./setup.sh python    the Python package: builds and installs it in a virtual environment, tests it there
                            (./setup.sh python torch jax matplotlib mypy basedpyright: with these packages from the index,
                            their tests, the notebooks and the types)
       ./setup.sh wheel     on Debian 12: a source distribution, and wheels for x86-64 and 64-bit Arm with glibc 2.28 or
                            later, with the libraries that they need and their licences; every Python at hand tests the x86-64 wheel
       ./setup.sh try-wheel FILE     every Python at hand tests this wheel
       ./setup.sh deb       a package for this release of Debian or Ubuntu, checked by lintian
       ./setup.sh container an image dualbragg, by podman, docker or buildah, whichever is installed
       ./setup.sh clang     the tests, built by clang
       ./setup.sh asan      the tests under the address and undefined-behaviour sanitizers
       ./setup.sh tsan      the tests under the thread sanitizer (clang)
       ./setup.sh mutants   which tests see each of the listed mistakes; takes an hour or two
       ./setup.sh fuzz 600  damaged files for every reader, for that number of seconds each (default 60)
       ./setup.sh bench     times of images and derivatives, in build/bench; each run adds them to build/bench-series.csv
       ./setup.sh coverage  the tests, and which lines of each folder they ran (gcov)
       ./setup.sh release   whether version, dates and tag of this commit are those of a release, and how to publish it
TEXT
}

fail() {
    echo "setup.sh: $*" >&2
    exit 1
}

# step TEXT COMMAND...: runs a command with its output in the log, and says what it does and how long it took.
step() {
    text=$1
    shift
    printf '%s ... ' "$text"
    start=$(date +%s)
    if "$@" > "$log" 2>&1; then
        echo "$(($(date +%s) - start)) s"
    else
        echo "failed after $(($(date +%s) - start)) s:"
        tail -n 100 "$log"
        fail "'$*' failed; all it printed is in $log"
    fi
}

# Says which release this is, unless it is one of those that tests/build/releases_slow.sh builds on.
name_release() {
    release=$(
        ID=unknown VERSION_ID='' PRETTY_NAME='an unknown system'
        # shellcheck disable=SC1091 # not ours
        [ ! -r /etc/os-release ] || . /etc/os-release
        echo "$ID $VERSION_ID: $PRETTY_NAME"
    )
    case $release in
    "debian 12: "* | "debian 13: "*) ;;
    *) echo "This is ${release#*: }. setup.sh is tested on Debian 12 and 13; docs/howto/install.md tells what to install elsewhere." ;;
    esac
}

# name_of PACKAGE|OTHER_NAME...: the name that this release has for a package; none where it has none.
name_of() {
    for name in $(echo "$1" | tr '|' ' '); do
        if [ -n "$(version_of "$name")" ]; then
            echo "$name"
            return
        fi
    done
}

version_of() {
    apt-cache policy "$1" 2> /dev/null | sed -n 's/^ *Candidate: \([0-9].*\)/\1/p'
}

is_installed() {
    if [ "$1" = cmake ]; then # of the release or the user's own
        dpkg --compare-versions "$(cmake --version 2> /dev/null | sed -n '1s/^[^0-9]*//p')" ge 3.25
        return
    fi
    for name in $(echo "$1" | tr '|' ' '); do
        case $(dpkg-query -W -f '${Status}' "$name" 2> /dev/null || true) in
        "install ok installed") return 0 ;;
        esac
    done
    return 1
}

# Installs those of the given Debian packages that are missing. Where a package has other names in other releases they are
# given as NAME|OTHER_NAME. What a release does not have, or not new enough, is said before anything is installed.
install_packages() {
    if ! command -v apt-get > /dev/null || ! command -v dpkg-query > /dev/null; then
        echo "No apt here: relying on what is installed; docs/howto/install.md tells what can be used"
        return
    fi
    missing=
    for package; do
        is_installed "$package" || missing="$missing $package"
    done
    [ -n "$missing" ] || return 0
    name_release
    sudo=
    if [ "$(id -u)" -ne 0 ]; then
        command -v sudo > /dev/null ||
            fail "these packages are missing, and installing them takes root or sudo: as root, run
    apt-get update && apt-get install$(echo "$missing" | sed 's/|[^ ]*//g')"
        sudo=sudo
    fi
    step "Updating the package lists" $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -o DPkg::Lock::Timeout=300 update
    found=
    for package in $missing; do
        name=$(name_of "$package")
        case " $tools " in
        *" $package "*) [ -n "$name" ] || fail "this release has no package $package, which the build needs" ;;
        *) [ -n "$name" ] || echo "This release has no package $package: left out" ;;
        esac
        if [ "$package" = cmake ] && dpkg --compare-versions "$(version_of cmake)" lt 3.25; then
            fail "the build needs CMake 3.25 or later, and this release has $(version_of cmake): install a newer one
    (for example by 'pip install cmake') so that 'cmake --version' tells it, and run this again"
        fi
        found="$found${name:+ $name}"
    done
    [ -n "$found" ] || return 0
    # shellcheck disable=SC2086 # a list of packages
    step "Installing$found" $sudo env DEBIAN_FRONTEND=noninteractive \
        apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 install $found < /dev/null
}

# Of the instruction sets that this machine runs the baseline and the best one: the demo needs no others.
find_instruction_sets() {
    sets=baseline
    has() { grep -qw "$1" /proc/cpuinfo 2> /dev/null; }
    if has avx512f && has avx512dq && has avx512vl && has avx512bw && has avx512cd; then
        sets="baseline;avx512"
    elif has avx2 && has fma; then
        sets="baseline;avx2"
    fi
    configure_with="-DDB_INSTRUCTION_SETS=$sets"
}

# build_preset PRESET [TARGET...]
build_preset() {
    preset=$1
    shift
    generator= # Ninja, where it is and no other was chosen before: it keeps all processors at work
    if [ ! -f "build/$preset/CMakeCache.txt" ] && command -v ninja > /dev/null; then generator="-G Ninja"; fi
    # shellcheck disable=SC2086 # lists of arguments
    step "Configuring build/$preset" cmake --preset "$preset" $generator $configure_with
    sed -n 's/^-- Left out: /    without /p' "$log"
    step "Building build/$preset ($jobs jobs)" \
        cmake --build --preset "$preset" -j "$jobs" ${1:+--target} "$@"
}

# The device code is built for one architecture.
find_nvcc() {
    nvcc=$(command -v nvcc || ls /usr/local/cuda/bin/nvcc 2> /dev/null) ||
        fail "nvcc is neither in PATH nor in /usr/local/cuda/bin; ./setup.sh test compiles the device code for the processor"
    configure_with="-DCMAKE_CUDA_COMPILER=$nvcc -DCMAKE_CUDA_ARCHITECTURES=90"
}

# Libraries for 64-bit Arm in build/arm64, from the packages of this release: unpacked there, not installed.
unpack_arm_libraries() {
    [ ! -e build/arm64/complete ] || return 0
    command -v mmdebstrap > /dev/null || fail "the libraries for Arm are unpacked by mmdebstrap, which is missing"
    names=libc6-dev,libcmocka-dev
    for package in $libraries; do
        case $package in
        g++) names=$names,libstdc++-$(aarch64-linux-gnu-gcc -dumpversion | cut -d. -f1)-dev ;;
        *) names=$names,$(name_of "$package") ;;
        esac
    done
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release)
    rm -rf build/arm64
    step "Unpacking libraries for Arm in build/arm64" mmdebstrap --variant=extract --architectures=arm64 \
        --include="$names" "$codename" build/arm64
    # links from the root of a system lead into the folder
    find build/arm64/usr build/arm64/lib -lname '/*' | while read -r link; do
        ln -sfnr "build/arm64$(readlink "$link")" "$link"
    done
    touch build/arm64/complete
}

check_format() {
    if ! clang-format --version 2> /dev/null | grep -q 'version 14\.'; then
        echo "Format check: skipped, it needs clang-format 14"
        return
    fi
    step "Checking the format" sh -c 'find src ad fit cuda tests bench examples \
        \( -name "*.[ch]" -o -name "*.cpp" -o -name "*.cu" -o -name "*.cuh" \) -print |
        xargs clang-format --dry-run -Werror --ferror-limit=1'
}

check_tidy() {
    step "Checking with clang-tidy" sh -c "find src fit -name '*.c' ! -name '*instance.c' -print |
        xargs -P $jobs -n 4 clang-tidy --quiet -p build/dev"
}

# run_tests PRESET [OPTION...]: prints the summary, which names the skipped ones, and everything on failure.
run_tests() {
    preset=$1
    shift
    printf 'Running the tests of build/%s ... ' "$preset"
    start=$(date +%s)
    # Idle OpenMP threads must not take the processor from the other tests.
    if OMP_WAIT_POLICY=passive ctest "$@" --preset "$preset" -j "$jobs" > "$log" 2>&1; then
        echo "$(($(date +%s) - start)) s"
        sed -n '/tests passed/,$p' "$log"
    else
        echo "failed after $(($(date +%s) - start)) s:"
        cat "$log"
        exit 1
    fi
}

# install_python [PACKAGE...]: makes a virtual environment with the Python package in it, and further packages of the index,
# and runs its tests there.
install_python() {
    venv=build/python
    [ -x "$venv/bin/python" ] || step "Making the virtual environment $venv" python3 -m venv "$venv"
    step "Building the package and installing it there" env CMAKE_BUILD_PARALLEL_LEVEL="$jobs" "$venv/bin/pip" install .
    for extra; do
        step "Installing $extra" "$venv/bin/pip" install "$extra"
    done
    for program in python/tests/test_*.py; do
        # status 77: all of it was skipped
        step "Running $program" sh -c 'SOURCE_DIR=$1 "$2" -W error "$3" || [ $? -eq 77 ]' sh "$root" "$venv/bin/python" "$program"
        sed -n 's/^OK (skipped=\(.*\))$/    skipped: \1/p' "$log"
    done
    cat << TEXT
The package is in the virtual environment $root/$venv:
    . $venv/bin/activate
    python -c 'import dualbragg; help(dualbragg)'
TEXT
}

# The Pythons of this machine that the package allows, one of each version: not older, and not free-threaded.
find_pythons() {
    folders=$(echo "$PATH" | tr ":" " ")
    for folder in $folders ~/.pyenv/versions/*/bin; do
        ls "$folder"/python3.[0-9] "$folder"/python3.[0-9][0-9] 2> /dev/null || true
    done | while read -r python; do
        "$python" -c 'import sys, sysconfig, venv, ensurepip
assert sys.version_info >= (3, 9) and not sysconfig.get_config_var("Py_GIL_DISABLED")
print("%d.%d" % sys.version_info[:2], sys.executable)' 2> /dev/null || true
    done | sort -t . -k 2n -s -u -k 1,1
}

# make_wheel PROCESSOR [OPTION...]: of the source distribution in build/wheels.
make_wheel() {
    processor=$1
    folder=$root/build/wheel/$processor
    shift
    export WHEEL_ZIG="$tools/python-zig" WHEEL_PROCESSOR="$processor"
    step "Making the libraries for $processor" packaging/wheel/libraries.sh "$processor"
    rm -rf "$folder/plain"
    step "Making the wheel for $processor" env CMAKE_BUILD_PARALLEL_LEVEL="$jobs" "$tools/pip" wheel "$made"/*.tar.gz \
        --no-index --no-deps --no-build-isolation -w "$folder/plain" --config-settings build-dir="$folder/package" \
        --config-settings cmake.define.CMAKE_TOOLCHAIN_FILE="$root/packaging/wheel/toolchain.cmake" "$@"
    step "Checking it, and putting licences into it" "$tools/python" packaging/wheel/finish.py "$folder"/plain/*.whl \
        "$processor" "$folder/licences" "$made"
}

# try_wheel FILE: each Python of this machine tests a wheel in a virtual environment that has nothing else.
try_wheel() {
    wheel=$(realpath "$1")
    find_instruction_sets
    baseline=sse2
    [ "$(uname -m)" != aarch64 ] || baseline=neon
    best=$(echo "${sets##*;}" | sed "s/baseline/$baseline/")
    pythons=$(find_pythons)
    [ -n "$pythons" ] || fail "there is no Python from 3.9 on, with venv, that could test $wheel"
    echo "$pythons" | while read -r version python; do
        clean=$root/build/wheel/clean-$version
        rm -rf "$clean"
        mkdir -p build/wheel
        step "Installing the wheel for Python $version" sh -c "'$python' -m venv '$clean' && '$clean/bin/pip' install '$wheel'"
        for name in experiment plan fit; do
            # status 77: all of it was skipped, as that of fit where the wheel has no refinement
            step "Running test_$name.py there" sh -c 'cd / && SOURCE_DIR=$1 "$2" -W error "$3" || [ $? -eq 77 ]' sh "$root" \
                "$clean/bin/python" "$root/python/tests/test_$name.py" < /dev/null
        done
        step "Looking what the program there has" "$clean/bin/dualbragg" --version
        # shellcheck disable=SC2086 # a list
        check_components "$log" $components
        grep -q "instruction set: $best" "$log" || fail "expected the instruction set $best, found $(cat "$log")"
    done
}

# check_components FILE COMPONENT...: all of them are in what dualbragg --version printed.
check_components() {
    said=$1
    shift
    for part; do
        grep -q "[ ,]$part\(,\|\$\)" "$said" || fail "expected the component $part, found $(cat "$said")"
    done
}

# Makes a source distribution, and wheels of it for both kinds of processor that run with glibc 2.28 or later and hold all
# libraries; tests that for this processor, and starts the program of that for Arm.
build_wheels() {
    tools=$root/build/wheel/tools/bin
    made=$root/build/wheels
    rm -rf "$made"
    mkdir -p "$made" build/wheel
    [ -x "$tools/python" ] || step "Making the virtual environment $tools" python3 -m venv "${tools%/bin}"
    # shellcheck disable=SC2086 # a list of packages
    step "Installing zig and what makes wheels" "$tools/pip" install $wheel_tools
    step "Making the source distribution" "$tools/python" -m build --sdist --no-isolation -o "$made" .
    make_wheel x86_64 "$@"
    case "$*" in *DB_WITH_FIT=OFF*) components=$(echo "$components" | sed 's/ fit//') ;; esac
    try_wheel "$made"/*_x86_64.whl
    make_wheel aarch64 "$@"
    try_arm_program "$made"/*_aarch64.whl
    # for those who get a wheel: the GPL and the MPL ask for the sources
    step "Packing the sources of the bundled libraries" sh -c 'cd build/wheel/sources &&
        tar -cf "$1" *.dsc *.tar.* -C "$2" gemmi Random123' sh "$made/sources-of-libraries.tar" \
        "$root/build/wheel/x86_64/include"
    ls -l "$made"
}

# try_arm_program WHEEL: the program of a wheel for Arm says what it has, and makes an image, under qemu.
try_arm_program() {
    there=$root/build/wheel/aarch64/tried
    rm -rf "$there"
    step "Unpacking the wheel for Arm" "$tools/python" -m zipfile -e "$1" "$there"
    chmod +x "$there/dualbragg/bin/dualbragg"
    arm="qemu-aarch64-static -L /usr/aarch64-linux-gnu $there/dualbragg/bin/dualbragg"
    # shellcheck disable=SC2086 # a command
    step "Starting its program under qemu" $arm --version
    # shellcheck disable=SC2086 # a list
    check_components "$log" $components
    # shellcheck disable=SC2086 # a command
    step "Making an image with it" $arm sim -cell 40 40 40 90 90 90 -N 5 -default_F 100 -lambda 1 -distance 100 \
        -detpixels 64 -floatfile "$there/image.bin"
    [ "$(wc -c < "$there/image.bin")" -eq 16384 ] || fail "expected 64 x 64 floats in $there/image.bin"
}

# Compiles all C files by clang with the headers of macOS, which zig has, and this system's headers of the libraries, by links:
# nothing else of it may be seen. Pixel loops are compiled for one precision and one kind of result.
check_macos() {
    venv=$root/build/macos/zig
    headers=$root/build/macos/include
    [ -x "$venv/bin/python" ] || step "Making the virtual environment build/macos/zig" python3 -m venv "$venv"
    step "Installing zig" "$venv/bin/pip" install "$zig_version"
    rm -rf "$headers"
    mkdir -p "$headers"
    for name in png.h pngconf.h pnglibconf.h zlib.h zconf.h jansson.h jansson_config.h msgpack msgpack.h lz4.h zstd.h \
        zstd_errors.h tiff.h tiffio.h tiffvers.h tiffconf.h nlopt.h gsl yaml.h Random123 hdf5/serial/*.h; do
        for file in /usr/include/$name /usr/include/"$(gcc -dumpmachine)"/$name; do
            [ ! -e "$file" ] || ln -sf "$file" "$headers/"
        done
    done
    : > "$headers/features.h" # of glibc; this system's HDF5 includes it
    # clang 14 takes any environment that it does not know for that of this target
    compile="clang -target arm64-apple-macos14 -D__is_target_environment(x)=0 -Wno-builtin-macro-redefined
        -nostdlibinc -std=c17 -fsyntax-only -fopenmp -Wall -Wextra -Werror
        -isystem $(echo "$venv"/lib/python3*/site-packages/ziglang/lib/libc/include)/any-darwin-any -isystem $headers
        -I src/include -I src -I . -I fit/include
        $(sed -n '/^if(APPLE)/,/^endif/s/.*definitions(\(.*\))/\1/p' CMakeLists.txt | sed 's/[^ ]*/-D&/g')"
    for part in OPENMP RANDOM123 PNG ZLIB JANSSON MSGPACK GEMMI HDF5 TIFF FIT; do compile="$compile -DDB_HAVE_$part=1"; done
    loop="-DDB_INSTANCE_ISA_BASELINE=1 -DDB_INSTANCE_PRECISION_DOUBLE=1 -DDB_INSTANCE_TAG=baseline"
    amplitudes="-DDB_INSTANCE_KIND=0 -DDB_INSTANCE_GENERAL=1 -DDB_INSTANCE_AMPLITUDES=1"
    # shellcheck disable=SC2086 # lists of arguments
    find src fit ad -name '*.c' ! -name '*instance.c' -print | step "Compiling for macOS" xargs -P "$jobs" -n 8 $compile
    # shellcheck disable=SC2086 # lists of arguments
    find src fit ad -name '*instance.c' ! -name 'amplitude*' -print |
        step "Compiling the pixel loops" xargs -P "$jobs" -n 1 $compile $loop -DDB_INSTANCE_KIND=1 -DDB_INSTANCE_GENERAL=0
    # shellcheck disable=SC2086 # lists of arguments
    step "Compiling that of amplitudes" $compile $loop $amplitudes src/kernel/amplitude_instance.c
}

# Whether this commit is a release's: version, dates, tag, nothing left over. Prints what publishes it (docs/howto/release.md).
check_release() {
    version=$(sed -n 's/^#define DB_VERSION_STRING "\(.*\)"$/\1/p' src/include/dualbragg/version.h)
    date=$(sed -n "s/^## \[$version\] - \([0-9-]*\)$/\1/p" CHANGELOG.md)
    [ -n "$date" ] || fail "CHANGELOG.md: expected a line '## [$version] - YEAR-MONTH-DAY'"
    grep -qx "date-released: $date" CITATION.cff || fail "CITATION.cff: expected 'date-released: $date', as in CHANGELOG.md"
    [ -z "$(git status --porcelain)" ] || fail "the folder has changes that are in no commit: $(git status --short | head -n 3)"
    tag=$(git tag --points-at HEAD 'v*')
    case $tag in
    "" | "v$version") ;;
    *) fail "expected the tag v$version, found $tag" ;;
    esac
    cat << TEXT
This commit can be dualbragg $version of $date. Commands that publish it (docs/howto/release.md):
    git tag -s v$version -m "dualbragg $version"
    git push origin v$version
    run=\$(gh run list --workflow release --branch v$version --json databaseId --jq '.[0].databaseId')
    gh run watch --exit-status \$run
    gh run download \$run --dir build/v$version
    sum=\$(sha256sum build/v$version/wheel/dualbragg-$version.tar.gz | cut -d " " -f 1)
    sed -i "0,/0\{64\}/s//\$sum/" packaging/conda-forge/recipe.yaml packaging/easybuild/dualbragg-$version-*.eb
    gh release create v$version build/v$version/*/*
    ./setup.sh container && podman push dualbragg example.org/dualbragg:$version
    twine check build/v$version/wheel/dualbragg-$version*
    twine upload build/v$version/wheel/dualbragg-$version*
TEXT
}

# The lines of each folder that the tests ran, and pages with every line.
report_coverage() {
    pages=build/coverage/lines
    mkdir -p "$pages"
    step "Counting lines" gcovr -r . --filter ad/ --filter src/ --filter fit/ --filter cuda/ \
        --csv "$pages/files.csv" --html-details "$pages/index.html" build/coverage
    awk -F, 'NR > 1 {
                 folder = $1
                 sub(/\/[^\/]*$/, "", folder)
                 lines[folder] += $2; run[folder] += $3; lines["total"] += $2; run["total"] += $3
             }
             END { for (f in lines) printf "%-28s %6d of %6d lines  %5.1f %%\n", f, run[f], lines[f], 100 * run[f] / lines[f] }' \
        "$pages/files.csv" | LC_ALL=C sort
    echo "Every line: $root/$pages/index.html"
}

mkdir -p build
log=$root/build/setup.log
configure_with=

tools="gcc libc6-dev make cmake pkg-config"
libraries="g++ gemmi-dev librandom123-dev libpng-dev libjansson-dev libnlopt-dev libgsl-dev libyaml-dev libmsgpack-c-dev|libmsgpack-dev
    libhdf5-dev liblz4-dev libzstd-dev zlib1g-dev libtiff-dev"
test_packages="ninja-build libcmocka-dev valgrind libopenmpi-dev openmpi-bin python3-dev python3-cffi python3-numpy
    python3-h5py python3-hdf5plugin bitshuffle hdf5-filter-plugin"
# what dualbragg --version lists
components="OpenMP Random123 PNG zlib JSON msgpack gemmi HDF5 TIFF fit"
# the newest of November 2026, and their repairs
zig_version="ziglang~=0.17.1"
wheel_tools="build~=1.6 cffi~=2.1 scikit-build-core~=1.1 wheel~=0.48 $zig_version"
docs_packages="python3-sphinx python3-myst-parser python3-breathe doxygen furo libjs-katex"

# shellcheck disable=SC2086 # lists of packages
case ${1-} in
demo)
    install_packages $tools $libraries
    find_instruction_sets
    build_preset demo dualbragg_program
    echo "Running examples/thaumatin.sh"
    start=$(date +%s)
    DUALBRAGG=$root/build/demo/dualbragg sh examples/thaumatin.sh "$root/build/demo/results"
    echo "Done in $(($(date +%s) - start)) s. The results are in $root/build/demo/results:"
    ls "$root/build/demo/results"
    cat << TEXT

The program, made for this machine, is $root/build/demo/dualbragg:
    export PATH="$root/build/demo:\$PATH"
    dualbragg help
For a program that is installed and runs on other machines, too, see README.md.
TEXT
    ;;
test)
    install_packages $tools $libraries $test_packages clang-format
    check_format
    # without lines for debuggers, which take a tenth of the time
    configure_with="-DCMAKE_C_FLAGS_RELWITHDEBINFO=-O3 -DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O0"
    # valgrind, which counts instructions, knows no wider one
    [ "$(uname -m)" != x86_64 ] || configure_with="$configure_with -DDB_INSTRUCTION_SETS=baseline;avx2"
    build_preset dev
    run_tests dev --output-junit "$root/build/dev/tests.xml"
    step "Comparing the tests' times with tests/times/slowest" python3 tests/times/check_times.py build/dev/tests.xml
    ;;
slow)
    install_packages $tools $libraries $test_packages $docs_packages debootstrap
    configure_with=-UDB_INSTRUCTION_SETS # all of them
    build_preset dev
    run_tests slow
    ;;
tidy)
    install_packages $tools $libraries $test_packages clang-tidy libomp-dev # omp.h where clang looks for it
    build_preset dev
    check_tidy
    ;;
arm)
    install_packages $tools $libraries ninja-build gcc-aarch64-linux-gnu g++-aarch64-linux-gnu qemu-user-static \
        mmdebstrap python3
    unpack_arm_libraries
    # groups of which all tests run, and one cheap program of each other group
    groups="ad spots surroundings"
    others="base/shown_text model/setup_fields engine/row_reach gradient/contraction io/smv_read noise/psf fit/cholesky"
    programs=$(
        for group in $groups; do ls tests/"$group"/test_*.c; done | sed 's/.*\///; s/\.c$//' |
            grep -v _avx # instruction sets of another processor
        echo "$others" | tr ' ' '\n' | sed 's/.*\//test_/'
    )
    # shellcheck disable=SC2086 # a list of targets
    build_preset arm dualbragg_program $programs
    # long double has 128 bits there and is made by library calls: under emulation its rules take an hour
    run_tests arm -R "^(($(echo "golden $groups" | tr ' ' '|'))/.*|$(echo "quirks/orientation $others" | tr ' ' '|'))$" \
        -E "^ad/rules_longdouble$"
    ;;
cuda)
    install_packages $tools $libraries $test_packages
    find_nvcc
    build_preset cuda
    run_tests cuda -L "cuda|gpu"
    ;;
macos)
    install_packages $tools $libraries clang libomp-dev python3-venv
    check_macos
    ;;
python)
    install_packages $tools $libraries python3-venv python3-dev
    shift
    install_python "$@"
    ;;
wheel)
    grep -qsx VERSION_CODENAME=bookworm /etc/os-release ||
        fail "wheel: the libraries of wheels are made of the sources of Debian 12; use a machine or a container that has it"
    install_packages $tools gemmi-dev librandom123-dev ninja-build python3-venv python3-dev dpkg-dev \
        gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static
    shift
    build_wheels "$@"
    ;;
try-wheel)
    [ -f "${2-}" ] || fail "try-wheel: expected the file of a wheel, found '${2-}'"
    try_wheel "$2"
    ;;
clang)
    install_packages $tools $libraries $test_packages clang libomp-dev
    build_preset clang
    run_tests clang
    ;;
mutants)
    install_packages $tools $libraries $test_packages
    step "Trying every mutant" tests/mutants/kill.py
    tail -n 3 "$log"
    ;;
fuzz)
    install_packages $tools $libraries clang libclang-rt-dev
    tests/fuzz.sh "${2:-60}"
    ;;
bench)
    install_packages $tools $libraries python3
    build_preset release dualbragg_bench
    step "Measuring" build/release/bench/dualbragg_bench --output build/bench
    step "Adding the times to build/bench-series.csv" python3 bench/append_times.py build/bench.json build/bench-series.csv \
        "${GITHUB_SHA:-$(git rev-parse HEAD 2> /dev/null || echo unknown)}"
    ls build/bench*
    ;;
deb)
    install_packages $tools $libraries ninja-build dpkg-dev lintian
    build_preset package
    rm -rf build/packages
    step "Packing it" cpack --config build/package/CPackConfig.cmake -B build/packages
    rm -rf build/packages/_CPack_Packages
    step "Checking the package" lintian --allow-root --fail-on error,warning build/packages/*.deb
    ls -l build/packages/*.deb
    ;;
asan)
    install_packages $tools $libraries $test_packages
    build_preset asan
    run_tests asan
    ;;
coverage)
    install_packages $tools $libraries $test_packages gcovr
    build_preset coverage
    run_tests coverage
    report_coverage
    ;;
tsan)
    install_packages $tools $libraries $test_packages clang libclang-rt-dev libomp-dev
    build_preset tsan
    run_tests tsan
    ;;
container)
    for builder in podman docker buildah ""; do
        if "$builder" info > /dev/null 2>&1; then break; fi # docker: and its server runs
    done
    [ -n "$builder" ] || fail "container: expected podman, docker or buildah, found none of them that runs"
    step "Building the image dualbragg with $builder" "$builder" build -f packaging/container/Containerfile -t dualbragg .
    grep '^dualbragg ' "$log" | tail -n 1
    ;;
release)
    check_release
    ;;
*)
    usage
    [ "${1-}" = -h ] || [ "${1-}" = --help ] || exit 2
    ;;
esac
