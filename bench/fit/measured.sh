#!/bin/sh
# Writes a configuration of each measured still in $SHARED_DIR/realdata (see docs/results/measured-stills.md) into a folder:
#     sh bench/fit/measured.sh FOLDER ["data KEY: VALUE, ..."]
#     python3 bench/fit/centroids.py dualbragg 5 FOLDER/results FOLDER/*.yaml
# Nothing is named but the start: the listed orientation, or where stills_dials.sh has left dials_NAME.expt in FOLDER, that.
set -eu
folder=$1 more=${2:+, $2}
data=$(cd "${SHARED_DIR:-../shared}/realdata" && pwd)
mkdir -p "$folder"

# Frame, beam centre that indexing refined (orientations.json, pixels).
thaumatin() {
    start="matrix: $data/thaumatin/thau_3_2_000$1.mat, beam_centre_px: [$2, $3], distance: 351"
    [ ! -f "$folder/dials_$1.expt" ] || start="expt: dials_$1.expt"
    cat > "$folder/thaumatin_$1.yaml" <<END
image: $data/thaumatin/thau_3_2_000$1.cbf
model: {$start, symmetry: tetragonal}
data: {dmin: 2.2$more}
END
}

# Shot, wavelength (A).
thermolysin() {
    list=$data/thermolysin/idx-20130301060858$1
    awk -v w="$2" '{ for (i = 1; i <= NF; i++) printf "%.12g ", $i * w; print "" }' "$list.amatrix" > "$folder/thermolysin_$1.mat"
    start="expt: $data/thermolysin/imported.expt, matrix: thermolysin_$1.mat"
    [ ! -f "$folder/dials_$1.expt" ] || start="expt: dials_$1.expt"
    cat > "$folder/thermolysin_$1.yaml" <<END
image: $list.cbf
model: {$start, symmetry: P 61 2 2}
data: {gain: 7, readout_noise: 4, dmin: 2.5$more}
END
}

thaumatin 3 1261.828705 1307.509631
thaumatin 5 1261.963777 1307.407475
thaumatin 9 1261.928605 1307.444098
thermolysin 401 1.272607
thermolysin 601 1.272444
thermolysin 801 1.270917
