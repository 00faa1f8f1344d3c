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
echo "$packed"
