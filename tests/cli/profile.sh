#!/bin/sh
# --profile: a trace that tools can load, and a table.
command -v python3 > /dev/null || { echo "SKIPPED: no python3"; exit 77; }
. "$SOURCE_DIR/tests/cli/expectations"

# check_trace FILE NAMES...: these stages are there, and events of a thread lie inside one another.
check_trace() {
    python3 - "$@" << 'END' || complain "$1: not the trace that was expected"
import json, sys

events = json.load(open(sys.argv[1]))["traceEvents"]
stages = [e for e in events if e["ph"] == "X"]
names = {e["name"] for e in stages}
missing = [n for n in sys.argv[2:] if n not in names]
if missing:
    sys.exit(f"stages missing: {missing}, found {sorted(names)}")
for thread in {e["tid"] for e in stages}:
    open_until = []
    for e in sorted((e for e in stages if e["tid"] == thread), key=lambda e: (e["ts"], -e["dur"])):
        if e["dur"] < 0 or e["ts"] < 0:
            sys.exit(f"negative time: {e}")
        while open_until and open_until[-1] <= e["ts"] + 0.0015:  # times are rounded to 0.001
            open_until.pop()
        if open_until and e["ts"] + e["dur"] > open_until[-1] + 0.0015:
            sys.exit(f"ends after the stage around it: {e}")
        open_until.append(e["ts"] + e["dur"])
    if not any(e["ph"] == "M" and e["tid"] == thread and e["name"] == "thread_name" for e in events):
        sys.exit(f"thread {thread} has no name")
kernel = [e for e in stages if e["name"] == "kernel"]
render = [e for e in stages if e["name"] == "render"]
for what in ("pixels", "samples"):
    parts, whole = (sum(e["args"][what] for e in group) for group in (kernel, render))
    if parts != whole:
        sys.exit(f"{what}: {parts} by threads, {whole} in all")
END
}

# shellcheck disable=SC2086 # $small is to be split
{
    succeed sim $small -floatfile plain.f32
    if grep -q "^stage" ../err; then complain "a table without --profile"; fi
    succeed sim $small -floatfile image.f32 -intfile image.img --profile sim.json --threads 2
    same plain.f32 image.f32 "with and without --profile"
    check_trace sim.json start "read flags" set-up report plan model render kernel statistics "write files"
    grep -q '"pixels":1200,"samples":1200' sim.json || complain "the rendering of 1200 pixels is not in the trace"
    grep -q "^stage  *time (ms)  *percent  *Mpixel/s  *Msample/s$" ../err || complain "no table: $(cat ../err)"
    grep -q "^kernel  *[0-9.]*  *[0-9.]*  *[0-9.]*  *[0-9.]*$" ../err || complain "no rates of the kernel: $(cat ../err)"
    # own times, and what is left, add up to the total
    awk '/^total/ { total = $2 } /^stage/ { found = 1; next } found && !/^total/ {
             for (i = 1; i <= NF && $i !~ /^-?[0-9.]+$/; i++); sum += $i }
         END { exit !(total > 0 && sum > total - 0.02 && sum < total + 0.02) }' ../err ||
        complain "times do not add up: $(cat ../err)"

    printf '%s\n' '0 0 0 60' '1 0 0 70' > few.hkl
    succeed sim $small -hkl few.hkl -mosaic 1 -mosaic_domains 5 -roi 0 9 0 9 -floatfile image.f32 --profile hkl.json -q
    [ ! -s ../err ] || complain "--quiet prints the table: $(cat ../err)"
    check_trace hkl.json "read files" kernel
    grep -q '"pixels":100,"samples":500' hkl.json || complain "100 pixels of 5 samples are not in the trace"
    succeed grad $small -params cell_a --profile grad.json
    check_trace grad.json slopes kernel "write files"
    succeed check $small -params cell_a -roi 0 9 0 9 --profile check.json
    check_trace check.json slopes oracle kernel
    printf '%s\n' '0 3' '0.5 2' > few.stol
    succeed amorphous -stol few.stol -detpixels 20 -floatfile image.f32 --profile amorphous.json
    check_trace amorphous.json "read files" kernel
    if "$DUALBRAGG" --version | grep -q Random123; then
        succeed noise -floatfile image.f32 -detpixels 20 -noisefile noise.img --profile noise.json
        check_trace noise.json "read files" noise "write files"
    fi
}
rm -f ./*
expect 3 "--profile" sim $small -floatfile image.f32 --profile missing/run.json
expect 2 "--profile" add a.f32 -o b.f32 --profile run.json
expect 3 "" sim $small -hkl missing.hkl -floatfile image.f32 --profile run.json
finish
