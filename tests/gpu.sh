#!/bin/sh
# Everything that a GPU is needed for: builds with CUDA, runs the tests of the label gpu and those of the backend on the
# processor, and benchmarks. From a bare checkout with nvcc, a C compiler and CMake >= 3.25; libraries that are missing
# (cmocka, jansson, Random123, libpng, GSL, NLopt, libyaml) leave out what needs them, and it is said what. Where tests of
# the GPU or the benchmark are left out, this script fails. On 16 cores and one GPU it takes less than 8 minutes. A machine
# without these libraries takes what another one has built: tests/gpu_bundle.sh.
#
#     sh tests/gpu.sh [FOLDER]       results: gpu.log, gpu-table.md, gpu-bench.md, gpu-bench.json, gpu-fit.md in FOLDER (default build/gpu)
#
# GPU_ARCHITECTURES (default: that of the first GPU, else 90) is what nvcc compiles for.
set -eu
cd "$(dirname "$0")/.."
results=${1:-build/gpu}
build=build/gpu/tree
jobs=$(nproc 2> /dev/null || echo 4)
mkdir -p "$results" "$build"
results=$(cd "$results" && pwd)
log=$results/gpu.log
start=$(date +%s)
: > "$log"

say() { echo "[$(($(date +%s) - start)) s] $*" | tee -a "$log"; }
fail() {
    say "FAILED: $*"
    tail -n 60 "$log"
    exit 1
}
run() { "$@" >> "$log" 2>&1; }

command -v nvcc > /dev/null || PATH=$PATH:/usr/local/cuda/bin
command -v nvcc > /dev/null || fail "nvcc is neither in PATH nor in /usr/local/cuda/bin"
command -v cmake > /dev/null || fail "cmake is not installed"
gpu=
if command -v nvidia-smi > /dev/null; then
    gpu=$(nvidia-smi --query-gpu=name,driver_version,compute_cap --format=csv,noheader 2> /dev/null | head -n 1 || true)
fi
say "GPU: ${gpu:-none found}; $(nvcc --version | sed -n 's/.*release \([0-9.]*\),.*/nvcc \1/p')"
architectures=${GPU_ARCHITECTURES:-$(echo "$gpu" | sed -n 's/.*, \([0-9]*\)\.\([0-9]*\)$/\1\2/p')}
architectures=${architectures:-90}

say "Configuring for sm_$architectures"
generator=
command -v make > /dev/null || generator="-G Ninja"
# shellcheck disable=SC2086 # two words or none
run cmake -S . -B "$build" $generator -DCMAKE_BUILD_TYPE=Release -DDB_WITH_CUDA=ON \
    -DCMAKE_CUDA_COMPILER="$(command -v nvcc)" -DCMAKE_CUDA_ARCHITECTURES="$architectures" || fail "configuring"
grep -q DB_HAVE_CUDA=1 "$log" || fail "CMake found no working nvcc with its runtime library"
sed -n 's/^-- dualbragg/dualbragg/p; s/^-- \(.*left out.*\)/\1/p' "$log"
say "Building with $jobs jobs"
run cmake --build "$build" -j "$jobs" || fail "building"

program=$build/dualbragg
"$program" --version | tee -a "$log"
device=0
"$program" sim -cell 40 -N 2 -default_F 1 -detpixels 8 -floatfile /dev/null --device cuda >> "$log" 2>&1 || device=$?

failures=
# the programs, golden images, check, a fit and the sanitizer
expected=$(($(sed -n 's/^tests="\(.*\)"$/\1/p' tests/gpu_bundle.sh | wc -w) + 4))
[ "$(ctest --test-dir "$build" -N -L '^gpu$' | sed -n 's/^Total Tests: //p')" -ge $expected ] ||
    failures="$failures; tests of the GPU are missing (they need cmocka, GSL, NLopt and libyaml)"
say "Tests of the backend, on the processor and on the GPU"
run ctest --test-dir "$build" -L '^(cuda|gpu)$' --no-tests=error --output-on-failure -j 4 || failures="$failures; tests"
grep -E 'tests passed|\(Skipped\)|\(Failed\)|Total Test time' "$log" || true
[ $device = 0 ] || {
    say "No GPU that can be used: what needs one was skipped, and nothing is benchmarked"
    [ -z "$failures" ] || fail "${failures#; }"
    exit 77
}

bench=$build/bench/dualbragg_bench
if [ -x "$bench" ]; then
    say "Benchmark"
    "$bench" --device cuda --threads 0 --loads domains,phi,list,boxes,block,spots --sizes 1024,4096 --repeats 3 \
        --output "$results/gpu-bench" > "$results/gpu-bench.out" 2>> "$log" || failures="$failures; benchmark"
    python3 tests/gpu_table.py "$results" "${gpu%%,*}" | tee "$results/gpu-table.md"
else
    failures="$failures; the benchmark is missing (it needs jansson)"
fi
fit_bench=$build/bench/dualbragg_fit_bench
if [ -x "$fit_bench" ]; then
    say "Refinements beside the processor"
    "$fit_bench" devices cuda 3 64 > "$results/gpu-fit.md" 2>> "$log" || failures="$failures; benchmark of refinements"
    cat "$results/gpu-fit.md"
else
    failures="$failures; the benchmark of refinements is missing (it needs GSL, NLopt and libyaml)"
fi
say "Results in $results"
[ -z "$failures" ] || fail "${failures#; }"
say "Done"
