#!/bin/sh
# Instructions of the device's kernels, counted in what nvcc made for sm_90, are no more than the record says; kernels
# of mixed precision have no access to memory of unknown kind. It takes cuobjdump and nvdisasm, which come with CUDA's
# tools (CUOBJDUMP, NVDISASM: where they are). After a change that is worth its instructions, or with another nvcc:
#     sh tests/cuda/instructions.sh --renew BUILD
# writes the record anew from a build with DB_WITH_CUDA.
set -eu
source_dir=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
record=$source_dir/tests/cuda/instructions.record
count=$source_dir/tests/cuda/instructions.py
build=${2:-${BINARY_DIR:-$source_dir/build/cuda}}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

skip() {
    echo "skipped: $*"
    exit 77
}
find_tool() {
    command -v "$1" || { [ -x "/usr/local/cuda/bin/$1" ] && echo "/usr/local/cuda/bin/$1"; } || true
}
cuobjdump=${CUOBJDUMP:-$(find_tool cuobjdump)}
nvdisasm=${NVDISASM:-$(find_tool nvdisasm)}
[ -d "$build/cuda/CMakeFiles" ] || skip "$build has no device code (nvcc, DB_WITH_CUDA)"
objects=$(find "$build/cuda/CMakeFiles" -name '*instance.cu.o')
[ -n "$objects" ] || skip "$build has no device code (nvcc, DB_WITH_CUDA)"
[ -n "$cuobjdump" ] && [ -n "$nvdisasm" ] || skip "no cuobjdump or nvdisasm (CUDA's tools)"
command -v python3 > /dev/null || skip "no python3"
compiler=$(sed -n 's/^CMAKE_CUDA_COMPILER:[^=]*=//p' "$build/CMakeCache.txt")
version=$("$compiler" --version | sed -n 's/.*release \([0-9.]*\),.*/\1/p')

number=0
for object in $objects; do
    number=$((number + 1))
    mkdir "$work/$number"
    (cd "$work/$number" && "$cuobjdump" -xelf sm_90 "$object" > /dev/null)
done
find "$work" -name '*.cubin' | grep . > "$work/cubins" || skip "this build has no code for sm_90"
xargs python3 "$count" "$nvdisasm" < "$work/cubins" | LC_ALL=C sort > "$work/found"

if [ "${1-}" = --renew ]; then
    {
        sed -n '/^#/p' "$record" 2> /dev/null || true
        echo "nvcc $version"
        cat "$work/found"
    } > "$work/record"
    cat "$work/record" > "$record"
    echo "renewed: $record"
    exit 0
fi
recorded=$(sed -n 's/^nvcc //p' "$record")
[ "$version" = "$recorded" ] || skip "the record is of nvcc $recorded, this build of nvcc $version"
python3 "$count" --compare "$record" "$work/found" || {
    echo "If the change is worth it: sh tests/cuda/instructions.sh --renew $build"
    exit 1
}
