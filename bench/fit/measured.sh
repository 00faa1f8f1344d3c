#!/bin/sh
# Writes a configuration of each measured still in $SHARED_DIR/realdata (see docs/results/measured-stills.md) into a folder:
#     sh bench/fit/measured.sh FOLDER ["data KEY: VALUE, ..."]
#     dualbragg_fit_bench centroids 5 FOLDER/*.yaml
set -eu
folder=$1 more=${2:+, $2}
data=$(cd "${SHARED_DIR:-../shared}/realdata" && pwd)
mkdir -p "$folder"

# Frame, beam centre that indexing refined (orientations.json, pixels).
thaumatin() {
    cat > "$folder/thaumatin_$1.yaml" <<END
image: $data/thaumatin/thau_3_2_000$1.cbf
model: {matrix: $data/thaumatin/thau_3_2_000$1.mat, symmetry: tetragonal, beam_centre_px: [$2, $3], distance: 351, cells: [15, 15, 6],
    mosaic_spread: 0.1, mosaic_domains: 50, oversample: 1}
data: {dmin: 2.2$more}
refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_c: {}, beam_fast: {}, beam_slow: {}, Na: {}, Nb: {follows: Na},
    Nc: {}, mosaic_spread: {}}
END
}

# Shot, wavelength (A).
thermolysin() {
    list=$data/thermolysin/idx-20130301060858$1
    awk -v w="$2" '{ for (i = 1; i <= NF; i++) printf "%.12g ", $i * w; print "" }' "$list.amatrix" > "$folder/thermolysin_$1.mat"
    cat > "$folder/thermolysin_$1.yaml" <<END
image: $list.cbf
model: {expt: $data/thermolysin/imported.expt, matrix: thermolysin_$1.mat, symmetry: P 61 2 2, cells: [14, 14, 10], mosaic_spread: 0.1,
    mosaic_domains: 50}
data: {gain: 7, readout_noise: 4, dmin: 2.5$more}
refine: {misset_x: {}, misset_y: {}, misset_z: {}, cell_a: {}, cell_c: {}, beam_fast: {}, beam_slow: {}, Na: {}, Nb: {follows: Na},
    Nc: {}, mosaic_spread: {}}
END
}

thaumatin 3 1261.828705 1307.509631
thaumatin 5 1261.963777 1307.407475
thaumatin 9 1261.928605 1307.444098
thermolysin 401 1.272607
thermolysin 601 1.272444
thermolysin 801 1.270917
