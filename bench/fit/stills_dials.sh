#!/bin/sh
# Thaumatin's stills in $SHARED_DIR, all spots to 2.2 A, refined by us and by DIALS from the same orientations:
#     sh bench/fit/stills_dials.sh PROGRAM FOLDER
# DIALS indexes with the listed orientation, and refines the same and more: cell, beam, distance and tilts of the detector.
set -eu
program=$(realpath "$1") here=$(cd "$(dirname "$0")" && pwd)
data=$(cd "${SHARED_DIR:-../shared}/realdata/thaumatin" && pwd)
mkdir -p "$2" && cd "$2"
free="detector.fix_list=Tau1" # about the beam: a turn of the crystal
for frame in 3 5 9; do
    image=$data/thau_3_2_000$frame.cbf
    {
        "$program" fit "$image" --matrix "$data/thau_3_2_000$frame.mat" --symmetry tetragonal --output "ours_$frame" --no-report \
            data.dmin=2.2 data.max_shoeboxes=5000 || true
        dials.import "$image" convert_sequences_to_stills=true output.experiments=imported.expt
        python3 - "$data/orientations.json" "$frame" << 'END'
import json, sys
from dxtbx.model import Crystal
from dxtbx.model.experiment_list import ExperimentListFactory
from scitbx import matrix
listed = json.load(open(sys.argv[1]))[sys.argv[2]]
experiments = ExperimentListFactory.from_json_file("imported.expt")
real = matrix.sqr([x for row in listed["A_dials"] for x in row]).inverse()
experiments[0].crystal = Crystal(real[0:3], real[3:6], real[6:9], space_group_symbol="P41212")
panel, pixel = experiments[0].detector[0], 0.172
panel.set_frame(panel.get_fast_axis(), panel.get_slow_axis(),
                (-pixel * listed["beam_fast_px"], pixel * listed["beam_slow_px"], -listed["distance"]))
experiments.as_json("known.expt")
END
        dials.find_spots known.expt nproc=1 output.reflections=strong.refl
        dials.index known.expt strong.refl stills.indexer=sequences max_lattices=1 $free \
            output.experiments=indexed.expt output.reflections=indexed.refl
        dials.refine indexed.expt indexed.refl $free output.experiments="dials_$frame.expt" output.reflections=refined.refl
    } > "log_$frame" 2>&1
    echo "frame $frame"
    python3 "$here/stills_dials.py" "ours_$frame.refl" "dials_$frame.expt"
done
