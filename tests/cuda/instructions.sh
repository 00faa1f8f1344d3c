#!/bin/sh
# Instructions of the device's kernels, counted in what nvcc made for sm_90, are no more than the record says; kernels
# in mixed precision have no access to memory of unknown kind. It
# takes cuobjdump and nvdisasm, which come with CUDA's tools (CUOBJDUMP, NVDISASM: where they are). After a change that is
# worth its instructions, or with another nvcc:
#     sh tests/cuda/instructions.sh --renew BUILD
# writes the record anew from a build with DB_WITH_CUDA.
set -eu
. "$(dirname "$0")/../support/device_record"
count=$source_dir/tests/cuda/instructions.py

find_tool() {
    command -v "$1" || { [ -x "/usr/local/cuda/bin/$1" ] && echo "/usr/local/cuda/bin/$1"; } || true
}
cuobjdump=${CUOBJDUMP:-$(find_tool cuobjdump)}
nvdisasm=${NVDISASM:-$(find_tool nvdisasm)}
[ -d "$build/cuda/CMakeFiles" ] || skip "$build has no device code (nvcc, DB_WITH_CUDA)"
objects=$(find "$build/cuda/CMakeFiles" -name '*.cu.o')
[ -n "$objects" ] || skip "$build has no device code (nvcc, DB_WITH_CUDA)"
[ -n "$cuobjdump" ] && [ -n "$nvdisasm" ] || skip "no cuobjdump or nvdisasm (CUDA's tools)"
command -v python3 > /dev/null || skip "no python3"
nvcc_version

number=0
for object in $objects; do
    number=$((number + 1))
    mkdir "$work/$number"
    (cd "$work/$number" && "$cuobjdump" -xelf sm_90 "$object" > /dev/null)
done
find "$work" -name '*.cubin' | grep . > "$work/cubins" || skip "this build has no code for sm_90"
xargs python3 "$count" "$nvdisasm" < "$work/cubins" | LC_ALL=C sort > "$work/found"
renew
is_recorded || skip "the record is of nvcc $recorded, this build of nvcc $version"
python3 "$count" --compare "$record" "$work/found" || worse
