#!/bin/sh
# A series whose first frames show another crystal: the orientation is that of most frames, and the others are left out by name.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
render() { # NAME FRAME MISSET
    "$DUALBRAGG" sim -cell 60 60 45 90 90 90 -N 25 -gauss_xtal -default_F 1e6 -fluence 1e19 -lambda 1 -distance 110 -detpixels 320 \
        -pixel 0.39 -oversample 1 -spots closed -mosaic_rms 0.1 -misset "$3" 20 30 -phi "$(awk -v n="$2" 'BEGIN { print n * 1.5 }')" \
        -osc 1.5 -water 30 -seed $(($2 + 1)) -noisefile "$1.img" > /dev/null
    echo "$1.img" >> frames.txt
}
for frame in 0 1 2 3 4; do render other_$frame $frame -50; done
for frame in 5 6 7 8 9 10 11 12; do render own_$frame $frame 20; done
cat > series.yaml << 'END'
shots: {list: frames.txt, series: yes}
model: {cell: [60, 60, 45, 90, 90, 90], symmetry: tetragonal, find_orientation: yes, shape: gauss, Ncells: [25, 25, 25], spots: closed,
        mosaic_rms: 0.1, oversample: 1}
refine: {misset_x: {range: 1}, misset_y: {range: 1}, misset_z: {range: 1}}
END
fit 0 series.yaml --output found --no-report
grep -q '^8 of 13 shots in use' found.log || fail "frames in use: $(grep 'in use' found.log)"
[ "$(grep -c '^  other_[0-4].img: ' found.log)" = 5 ] || fail "left out by name: $(sed -n '/excluded/,/^$/p' found.log)"

# frames that are listed again, with no orientation of another crystal, would share their light with a crystal that is not there;
# the file and its settings count, not how they are written
ln -s other_0.img link.img
refused() { # LINE [KEY=VALUE]: after the frames, of which the first has these settings
    { sed '1s/$/ model.phi=0 model.distance=110/' frames.txt; echo "$1"; } > twice.txt
    fit 3 series.yaml shots.list=twice.txt --output twice --no-report "${2:-shots.series=yes}"
    grep -q "twice.txt:14: ${1%% *} is listed in line 1, too" err || fail "frames listed twice, $1: $(cat err)"
}
refused 'other_0.img model.phi=0 model.distance=110'
refused './other_0.img model.distance=110.0 model.phi=0.0'
refused 'link.img model.phi=0 model.distance=110'
# stills, whose orientation is sought, too
refused 'other_0.img model.phi=0 model.distance=110' shots.series=no
