#!/bin/sh
# What runs on a GPU is the same in tests of the label gpu and in the bundle for machines without a compiler.
set -eu
source_dir=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
cd "$source_dir"
labelled=$(sed -n 's/^ *set(programs \(..*\))$/\1/p' tests/cuda/CMakeLists.txt | grep -v '"')
packed=$(sed -n 's/^tests="\(.*\)"$/\1/p' tests/gpu_bundle.sh)
[ "$labelled" = "$packed" ] || {
    echo "label gpu (tests/cuda/CMakeLists.txt): $labelled"
    echo "bundle (tests/gpu_bundle.sh):          $packed"
    exit 1
}
for source in tests/cuda/test_*.c; do
    name=${source#tests/cuda/test_}
    case " $packed " in *" ${name%.c} "*) continue ;; esac
    ! grep -q 'defined(DB_ON_GPU)' "$source" || {
        echo "$source: written for GPUs, too, and not among: $packed"
        exit 1
    }
done
# files that its scripts name are in it
data=$(sed -n 's/^data="\(.*\)"$/\1/p' tests/gpu_bundle.sh)
for script in $(grep -o 'on_gpu [0-9]* [a-z]* [a-z_/.]*' tests/gpu_lease.sh | cut -d' ' -f4); do
    for file in $(grep -o 'SOURCE_DIR/[A-Za-z0-9_./-]*' "$script" | cut -d/ -f2-); do
        for path in $data; do
            case $file in "$path" | "$path"/*) continue 2 ;; esac
        done
        echo "$script needs $file, which is not among: $data"
        exit 1
    done
done
# the table of what the bundle measures: works that it finds, and those that it does not
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cat > "$folder/gpu-bench.json" << 'JSON'
{ "run": { "date": "today", "threads": 16 },
  "rows": [ { "load": "still", "size": 4096, "precision": "double", "forward_kernel": { "min": 1 } },
            { "load": "still", "size": 4096, "precision": "mixed", "forward_kernel": { "min": 1e-4 } } ],
  "spots": { "rows": [ { "scene": "thaumatin, 4096²", "call": "normal_40", "precision": "mixed", "time": { "min": 0.006 } } ] } }
JSON
PYTHONDONTWRITEBYTECODE=1 python3 tests/gpu_table.py "$folder" "A GPU" > "$folder/table"
for line in '^A GPU, today, 16 threads' '^| image 4096², kernel | 0.1 | 0.08 | 1.25 |$' \
    '^| closed thaumatin, normal equations of 40 | 6 | 3 | 2.00 |$' '^| image 1024², kernel | - | 0.02 | - |$'; do
    grep -q "$line" "$folder/table" || { echo "no '$line' in:"; cat "$folder/table"; exit 1; }
done
# names of loads, calls and times are the benchmark's
for name in still mosaic list sampled_1000 normal_16 normal_40 forward_kernel gradient_kernel normal_kernel \
    forward_to_locked_memory forward_warm gradient_warm 'small crystal, 1024²' 'thaumatin, 4096²'; do
    grep -q "\"$name\"" bench/*.c || { echo "the benchmark knows no '$name'"; exit 1; }
done
echo "$packed"
