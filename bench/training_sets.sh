#!/bin/sh
# Throughput of training sets. usage: training_sets.sh PROGRAM [SHOTS [MOST_THREADS]]
# Prints a row for each size of image, model of spots, noise, and number of threads or processes of MPI (np): shots a second by
# the clock, and processor seconds a shot, which other work on the machine changes less.
set -u
program=$1
shots=${2:-8}
most=${3:-2}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
base="-cell 78 78 38 90 90 90 -default_F 100 -N 15 -lambda 1.3 -distance 100 -fluence 1e26 -seed 1 --quiet --random $shots"

# measure LABEL COMMAND...: all of it, start included
measure() {
    row=$1
    shift
    rm -f "$work"/set.h5
    /usr/bin/time -f "%e %U %S" -o "$work/time" "$@" > "$work/said" 2>&1 || { cat "$work/said"; exit 1; }
    awk -v row="$row" -v shots="$shots" -v bytes="$(wc -c < "$work/set.h5")" \
        '{ printf "| %s | %.3g | %.3g | %.0f |\n", row, shots / $1, ($2 + $3) / shots, bytes / shots / 1000 }' "$work/time"
}

echo "| image | spots | content | run | shots/s | processor s a shot | kB a shot |"
echo "|---|---|---|---|---:|---:|---:|"
for image in "1024 0.1" "2048 0.05"; do
    size="-detpixels ${image% *} -pixel ${image#* }"
    for spots in "closed:-spots closed -mosaic_rms 0.1 -bandwidth_rms 0.001" "sampled:-mosaic 0.3 -mosaic_domains 10" \
        "sampled without list:-mosaic 0.3 -mosaic_domains 10 -noreflections"; do
        for content in "photons:-hdf5file" "with noise:-noisefile"; do
            label="${image% *}² | ${spots%%:*} | ${content%%:*}"
            # shellcheck disable=SC2086 # words
            set -- sim $base $size ${spots#*:} ${content#*:} "$work/set.h5"
            threads=1
            while [ "$threads" -le "$most" ]; do
                measure "$label | $threads threads" "$program" "$@" --threads "$threads"
                threads=$((2 * threads))
            done
            case $("$program" --version) in *MPI*) ;; *) continue ;; esac
            command -v mpirun > /dev/null || continue
            OMPI_MCA_btl_vader_single_copy_mechanism=none measure "$label | np $most" mpirun --allow-run-as-root \
                --oversubscribe --quiet -n "$most" "$program" "$@" --threads 1
        done
    done
done
