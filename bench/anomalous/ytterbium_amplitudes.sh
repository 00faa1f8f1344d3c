#!/bin/sh
# Anomalous differences of 4bs7 above ytterbium's edge beside the true ones, by the number of stills: joint intensities by pixels, and
# sums in boxes of the same stills (docs/results/anomalous.md).
#
# usage: sh bench/anomalous/ytterbium_amplitudes.sh DUALBRAGG FOLDER 4bs7.pdb [SHOTS ...]
#
# FOLDER gets the stills, table.json and table.png; a run that was stopped goes on.
set -eu
program=$1 folder=$2 model=$3
shift 3
exec python3 "$(dirname "$0")/../amplitudes/table.py" "$program" "$folder" --model "$model" --energy 9034 --pixels 768 --d-min 2.5 --passes 40 \
    --ways boxes joint --shots ${*:-4 8 16 32 64 128}
