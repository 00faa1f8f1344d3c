#!/bin/sh
# Runs, on a machine with a GPU and nothing else, what tests/gpu_bundle.sh packed, the most important parts first. Each
# part has a limit of its own, in seconds, and its log is kept if others fail; parts without time within 8 minutes are left
# out, and fail. In the unpacked bundle:
#
#     sh run.sh FOLDER      summary.txt, gpu-table.md, gpu-bench.md, gpu-bench.json, gpu-fit.md and logs.tgz in FOLDER
#
# Exit status: 0 all parts passed; 1 one failed or was cut short, or is missing; 77 there is no GPU that can be used.
set -u
out=${1:?expected the folder for results}
here=$(cd "$(dirname "$0")" && pwd)
start=$(date +%s)
failed=0
most=470 # seconds for all
mkdir -p "$out" && out=$(cd "$out" && pwd) || exit 2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$here" || exit 2
export LD_LIBRARY_PATH="$here/lib" DUALBRAGG="$here/dualbragg" SOURCE_DIR="$here/source" BINARY_DIR="$here" \
    SHARED_DIR=/nonexistent INSTRUCTION_SETS=auto THREAD_COUNTS=1
PATH=$PATH:/usr/local/cuda/bin

since() { echo $(($(date +%s) - start)); }
say() { echo "[$(since) s] $*" | tee -a "$out/summary.txt"; }
part() { # LIMIT NAME COMMAND...
    limit=$1 name=$2 status=0 begun=$(date +%s)
    shift 2
    left=$((most - $(since)))
    [ $limit -le $left ] || limit=$left
    [ $limit -gt 0 ] || {
        echo "no time left" > "$work/$name.log"
        say "$name: FAILED: no time left"
        return 1
    }
    timeout -k 5 "$limit" "$@" > "$work/$name.log" 2>&1 || status=$?
    case $status in
    0) result=passed ;;
    77) result=$(tail -n 1 "$work/$name.log") ;; # skipped, and why
    4) result="no device: $(tail -n 1 "$work/$name.log")" ;;
    124 | 137) result="FAILED: cut short after $limit s" ;;
    *) result="FAILED: exit status $status" ;;
    esac
    say "$name: $result ($(($(date +%s) - begun)) s)"
    case $status in
    0 | 4 | 77) ;;
    *) tail -n 25 "$work/$name.log" ;;
    esac
    return $status
}
keep_logs() {
    cp "$out/summary.txt" "$work/summary.txt"
    tar czf "$out/logs.tgz" -C "$work" .
}
on_gpu() { part "$1" "$2" sh source/tests/cuda/on_gpu "source/$3"; }

: > "$out/summary.txt"
say "commit $(cat commit)"
if command -v nvidia-smi > /dev/null; then
    say "$(nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm --format=csv,noheader 2>&1 | head -n 1)"
else
    say "no nvidia-smi"
fi
say "$(./dualbragg --version | head -n 1)"
tests=$(cat tests) || exit 2
missing=0
for program in dualbragg stand_in dualbragg_bench dualbragg_fit_bench $(echo "$tests" | sed 's/[^ ]*/gpu_&/g'); do
    [ -x "$program" ] && continue
    say "FAILED: $program is missing"
    missing=1
done
if ! part 40 first_image ./dualbragg sim -cell 40 -N 2 -default_F 1 -detpixels 64 -floatfile "$work/first.bin" --device cuda
then
    # what each program says where there is no GPU
    for test in $tests; do part 20 "$test" "./gpu_$test"; done
    part 20 bench ./dualbragg_bench --device cuda --once still,mixed,image --sizes 64
    part 20 fit_bench ./dualbragg_fit_bench devices cuda 1
    keep_logs
    [ $missing = 0 ] || exit 1
    grep -q 'expected an NVIDIA GPU' "$work/first_image.log" && exit 77
    exit 1
fi

processes=
for test in $tests; do
    part 90 "$test" "./gpu_$test" &
    processes="$processes $!"
done
on_gpu 90 check tests/cuda/derivatives_on_gpu &
processes="$processes $!"
on_gpu 90 fit tests/fit/comes_back.sh &
processes="$processes $!"
for process in $processes; do wait "$process" || failed=1; done

# how much of a refinement is left on the host (Amdahl), single calls for shoeboxes, shots by many threads
part 90 fit_bench ./dualbragg_fit_bench devices cuda 2 32 || failed=1
cp "$work/fit_bench.log" "$out/gpu-fit.md"
cat "$out/gpu-fit.md"

part 90 bench ./dualbragg_bench --device cuda --threads 0 --loads domains,list,boxes,block,spots --sizes 1024,4096 \
    --repeats 2 --output "$out/gpu-bench" || failed=1
gpu=$(nvidia-smi --query-gpu=name --format=csv,noheader 2> /dev/null | head -n 1)
part 10 table python3 source/tests/gpu_table.py "$out" "${gpu:-GPU}" || failed=1
cp "$work/table.log" "$out/gpu-table.md"
cat "$out/gpu-table.md"

if command -v ncu > /dev/null; then
    metrics=gpu__time_duration.sum,sm__inst_executed.avg.per_cycle_active
    metrics=$metrics,sm__warps_active.avg.pct_of_peak_sustained_active,smsp__inst_executed.sum
    metrics=$metrics,l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum,l1tex__data_pipe_lsu_wavefronts_mem_shared.sum
    metrics=$metrics,sm__inst_executed_pipe_fp64.sum,dram__bytes_write.sum,dram__bytes_read.sum
    for once in still,mixed,image still,mixed,derivatives still,mixed,normal mosaic,mixed,image mosaic,mixed,derivatives; do
        size=1024
        case $once in still*) size=4096 ;; esac
        name=ncu-$(echo "$once" | tr , -)
        part 12 "$name" ncu --clock-control none --metrics $metrics ./dualbragg_bench --device cuda --once "$once" \
            --sizes $size || failed=1
        grep -E 'db_cuda|duration|per_cycle|conflicts|wavefronts' "$work/$name.log"
    done
else
    say "ncu: not installed; kernels are not looked at one by one"
fi

on_gpu 80 golden tests/golden/default.sh &
one=$!
if command -v compute-sanitizer > /dev/null; then
    for tool in memcheck racecheck; do
        for test in kernels memory; do
            part 20 $tool-$test compute-sanitizer --tool $tool --error-exitcode 1 ./gpu_$test || failed=1
        done
    done
else
    say "compute-sanitizer: not installed"
fi
wait $one || failed=1
[ $missing = 0 ] || failed=1
if [ $failed = 0 ]; then say "all parts passed"; else say "FAILED"; fi
keep_logs
exit $failed
