#!/bin/sh
# One noisy still, handed over by its experiment list: DIALS finds its spots and indexes them with the known cell. Spots of
# 0.1 degree and more in size leave the cell of a single still uncertain by a few tenths of a percent.
. "$SOURCE_DIR/tests/dials/environment"
needs_noise
cell="57 66 39 90 98 90"
# shellcheck disable=SC2086 # $cell is to be split
{
    "$python" -B "$here/amplitudes.py" $cell 1.9 > p1.hkl || exit 1
    for flags in "-mosflm" "-adxv -Xbeam 44 -Ybeam 58 -detector_rotx 3 -twotheta 4"; do
        echo "still $flags"
        step "$DUALBRAGG" sim -cell $cell -misset 12 34 56 -hkl p1.hkl -lambda 1 -distance 100 -detpixels 1024 -pixel 0.1 -N 10 \
            -mosaic 0.3 -mosaic_domains 30 -oversample 1 -fluence 3e27 -water 0.2 -seed 1 $flags \
            -noisefile still_0001.img -exptfile still.expt
        step dials.find_spots still.expt nproc=1
        # the crystal of the list is the truth: indexing starts without
        "$python" -c "
import json
list = json.load(open('still.expt'))
list['crystal'] = []
del list['experiment'][0]['crystal']
json.dump(list, open('start.expt', 'w'))" || exit 1
        step dials.index start.expt strong.refl unit_cell="$(echo $cell | tr ' ' ,)" space_group=P1 \
            indexing.method=real_space_grid_search stills.indexer=sequences detector.fix=all beam.fix=all
        "$python" -B "$here/lattice.py" indexed.expt still.expt 0.3 0.3 indexed.refl 0.9 || exit 1
        # what DIALS found and indexed says which reflections a refinement of the same image uses
        case $("$DUALBRAGG" --version) in *msgpack*fit*) ;; *) continue ;; esac
        for list in reflections=indexed.refl spots=strong.refl; do
            step "$DUALBRAGG" fit "$here/still.yaml" --image still_0001.img model.expt=indexed.expt data.$list \
                --output listed --no-report
            "$python" -c "
import json, sys
boxes = json.load(open('listed.json'))['shoeboxes']
print('$list: %d shoeboxes' % len(boxes))
sys.exit(len(boxes) < 200)" || exit 1
        done
        # DIALS reads the intensities: places that were seen are near those that are predicted
        step dials.show listed.refl listed.expt
        "$python" -c "
import sys
from dials.array_family import flex
table = flex.reflection_table.from_file('listed.refl')
seen = table.select(table.get_flags(table.flags.strong))
off = flex.mean((seen['xyzobs.px.value'] - seen['xyzcal.px']).norms())
print('%d intensities, %d of spots that stand out, off by %.2f pixels on average' % (len(table), len(seen), off))
sys.exit(len(seen) < 200 or off > 1)" || exit 1
    done
    # the comparison tells a cell that is 1 % larger
    step "$DUALBRAGG" sim -cell 57.57 66 39 90 98 90 -misset 12 34 56 -default_F 1 -detpixels 16 -exptfile other.expt
    if "$python" -B "$here/lattice.py" indexed.expt other.expt 0.3 0.3 indexed.refl 0.9 > /dev/null 2>&1; then
        echo "FAILED: a cell that is 1 % larger is taken for the same"
        exit 1
    fi
}
