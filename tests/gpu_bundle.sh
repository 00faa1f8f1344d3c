#!/bin/sh
# Builds, on a machine with nvcc and all libraries, what a bare GPU machine needs to test and measure the CUDA backend:
# programs, the libraries that they use (HDF5 and MPI are left out: they bring thirty others, and serve nothing here), data
# and scripts, in one file of at most 40 MB. The other machine needs a driver, a shell, python3 to unpack it and for the
# golden images, and a C library at least as new as the one here; no compiler.
#
#     sh tests/gpu_bundle.sh [FILE]     default build/gpu-bundle/bundle.txz
#     there: python3 -m tarfile -e FILE && sh bundle/run.sh FOLDER     (tests/gpu_lease.sh)
#
# GPU_ARCHITECTURES (default 90) is what nvcc compiles for; newer GPUs translate the code of the last one.
set -eu
cd "$(dirname "$0")/.."
build=build/gpu-bundle/tree
file=${1:-build/gpu-bundle/bundle.txz}
most=40000000 # bytes; each program has all kernels in it, which xz finds again in what it has packed before
tests="same_as_processor kernels boxes measured_boxes memory closed streams products noise fit_on_device shots_on_device"
programs="dualbragg stand_in bench/dualbragg_bench bench/dualbragg_fit_bench"
targets="dualbragg_program stand_in dualbragg_bench dualbragg_fit_bench"
for test in $tests; do
    programs="$programs tests/cuda/gpu_$test"
    targets="$targets gpu_$test"
done
data="examples/data tests/golden tests/cuda tests/gpu_table.py tests/support/scratch tests/fit/comes_back.sh tests/fit/spoilt_still.yaml"

command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
generator=
! command -v ninja > /dev/null || generator="-G Ninja"
# shellcheck disable=SC2086 # words
cmake -S . -B "$build" $generator -DCMAKE_BUILD_TYPE=Release -DDB_WITH_CUDA=ON -DDB_WITH_MPI=OFF -DDB_WITH_HDF5=OFF \
    -DDB_WITH_PYTHON=OFF -DDB_INSTRUCTION_SETS="avx2;avx512" \
    -DCMAKE_CUDA_ARCHITECTURES="${GPU_ARCHITECTURES:-90}"
# shellcheck disable=SC2086
cmake --build "$build" -j "$(nproc)" --target $targets

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
bundle=$work/bundle
mkdir -p "$bundle/lib" "$bundle/source"
for program in $programs; do
    strip -o "$bundle/${program##*/}" "$build/$program" # device code is data: it stays
    chmod +x "$bundle/${program##*/}"
    ldd "$build/$program"
done | awk '/not found/ { print > "/dev/stderr"; exit 1 }
    $3 ~ /^\// && $3 !~ /\/(libc|libm|libpthread|libdl|librt)\.so/ { print $3 }' | sort -u > "$work/libraries"
while read -r library; do cp -L "$library" "$bundle/lib/"; done < "$work/libraries"
for path in $data; do
    mkdir -p "$bundle/source/$(dirname "$path")"
    cp -R "$path" "$bundle/source/$(dirname "$path")/"
done
cp tests/gpu_lease.sh "$bundle/run.sh"
echo "$tests" > "$bundle/tests"
git log -1 --format='%h %s' > "$bundle/commit" 2> /dev/null || echo unknown > "$bundle/commit"
mkdir -p "$(dirname "$file")"
tar cf - -C "$work" bundle | xz -c --lzma2=preset=2,dict=64MiB > "$file"
size=$(wc -c < "$file")
echo "$file: $size bytes, $(wc -l < "$work/libraries") libraries"
[ "$size" -le $most ] || {
    echo "FAILED: larger than $most bytes"
    exit 1
}
