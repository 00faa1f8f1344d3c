#!/bin/sh
# The device's sources are HIP as well (AMD GPUs): clang takes all kernels, without ROCm, and what it makes of some of
# them calls no function that the device does not have. Nothing is run.
set -eu
source_dir=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

compiler=
for name in ${HIP_COMPILER:-amdclang++ clang++ clang++-18 clang++-17 clang++-16 clang++-15 clang++-14}; do
    "$name" -print-targets 2> /dev/null | grep -q amdgcn || continue
    compiler=$name
    break
done
[ "$compiler" ] || {
    echo "skipped: no clang that knows AMD's GPUs"
    exit 77
}
random=
! echo '#include <Random123/philox.h>' | "$compiler" -x c++ -fsyntax-only - 2> /dev/null || random=noise_pixels

cd "$source_dir"
compile() {
    "$compiler" -x hip --offload-arch=gfx90a --cuda-device-only -nogpuinc -nogpulib -std=c++17 -Wall -Wextra -Werror \
        -Wno-constant-logical-operand -Wno-pass-failed -Wno-unused-function -I. -Isrc -Isrc/include "$@"
}
instance() { # source, kind, general, tag, options ...
    source=$1 kind=$2 general=$3 tag=$4
    shift 4
    echo "$tag"
    compile "-DDB_INSTANCE_KIND=$kind" "-DDB_INSTANCE_GENERAL=$general" "-DDB_INSTANCE_TAG=$tag" "$@" "cuda/$source"
}
for precision in MIXED DOUBLE; do
    set -- "-DDB_INSTANCE_PRECISION_$precision=1" -fsyntax-only
    instance instance.cu 0 0 forward "$@"
    instance instance.cu 1 0 gradient "$@"
    instance instance.cu 2 0 gradient_cells "$@"
    instance instance.cu 0 1 general_forward "$@"
    instance instance.cu 2 1 general_gradient "$@"
    instance instance.cu 0 1 flat_forward "$@" -DDB_INSTANCE_FLAT=1
    instance instance.cu 2 1 flat_gradient "$@" -DDB_INSTANCE_FLAT=1
    instance spot_instance.cu 0 1 spots_forward "$@"
    instance spot_instance.cu 1 1 spots_gradient "$@"
done
for source in add_slots add_images box_sums copy_parts measure_boxes surroundings_rows $random; do
    echo "$source"
    compile -O1 -S -o "$work/$source.s" "cuda/$source.cu"
done
instance instance.cu 0 1 flat_forward -DDB_INSTANCE_PRECISION_MIXED=1 -DDB_INSTANCE_FLAT=1 -O1 -S -o "$work/forward.s"
# where a function is called that is not there its address is taken
if grep -hE '@(rel32|gotpcrel32)@' "$work"/*.s | grep -oE '[A-Za-z_0-9.]+@(rel32|gotpcrel32)' | sort -u |
    while read -r name; do
        grep -q "^${name%%@*}:" "$work"/*.s || echo "not there: ${name%%@*}"
    done | grep .; then
    exit 1
fi
echo "compiled as HIP by $("$compiler" --version | head -n 1)"
