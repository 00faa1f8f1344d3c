#!/bin/sh
# A set of make_set.py by DIALS (3.12): spots, stills_process with the true orientations, geometry and wavelengths, dials.scale.
#     sh bench/amplitudes/dials_stills.sh SET FOLDER [SHOTS]
# leaves FOLDER/dials.mtz. stills_process refines and integrates each shot (sums, its own estimate of mosaicity). Of DIALS' own
# ways dials.ssx_integrate cannot do a detector of several panels: its ellipsoid takes all spots to be on the first one. Nothing
# in Debian's packages models partiality of stills after integration (cctbx.xfel.merge is not packaged): dials.scale gives each
# shot a scale and a B, rejects outliers, and merges.
set -eu
set=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd) shots=${3:-1000000}
mkdir -p "$2" && cd "$2"
step() { echo "== $*" >> log; "$@" >> log 2>&1; }
: > log
if [ ! -s imported.expt ]; then
    step dials.import "$set"/counts*.h5 convert_sequences_to_stills=true output.experiments=all.expt
    step /usr/bin/python3 "$here/dials_part.py" "$set" "$shots" all.expt imported.expt
fi
[ -s strong.refl ] || step dials.find_spots imported.expt nproc=1 output.reflections=strong.refl
[ -s known.expt ] || step /usr/bin/python3 "$here/dials_index.py" imported.expt strong.refl known.expt known.refl
if [ ! -s idx-0000_integrated.refl ]; then
    step dials.stills_process imported.expt mp.nproc=1 output.composite_output=True output.shoeboxes=False prediction.d_min=2 \
        indexing.stills.known_orientations=known.expt indexing.stills.require_known_orientation=True \
        indexing.known_symmetry.space_group=P43212 indexing.known_symmetry.unit_cell=79.1,79.1,38.4,90,90,90 \
        profile.gaussian_rs.parameters.sigma_b_cutoff=None
fi
step dials.scale idx-0000_integrated.expt idx-0000_integrated.refl model=KB anomalous=True d_min=2 full_matrix=False \
    reflection_selection.method=random output.merged_mtz=dials.mtz output.html=None
