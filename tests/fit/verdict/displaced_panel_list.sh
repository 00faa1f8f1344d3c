#!/bin/sh
# Half of a detector does not stand where the geometry says, and three shots share it. Each shot's cell and orientation make up for
# that; together the shots say where the panel stands, whether the errors of the result tell it or not.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
shot() { # NUMBER MISSET...
    "$DUALBRAGG" sim -cell 67.333 64.745 63.23 85.912 106.697 89.451 -misset "$2" "$3" "$4" -default_F 300 -b_factor 27 -N 43 \
        -lambda 1.04185 -distance 87.435 -detpixels 800 -pixel 0.1 -Xbeam 40 -Ybeam 40 -spots closed -mosaic_rms 0.08 \
        -bandwidth_rms 0.0003 -footprint_rms 0.03 -fluence 1e27 -water 0.0005 -noisefile "s$1.img" -seed "$1" --quiet
    echo "s$1.img" >> list.txt
}
shot 1 140.19 -12.86 125.34
shot 2 20 35 -60
shot 4 88 -40 160
geometry() { # NAME CORNER: of the second panel along fast, pixels; writes a configuration, too
    cat > "$1.geom" << EOF
photon_energy = 11900.38
clen = 0.087435
res = 10000
adu_per_photon = 1
data = /data
p0/min_fs = 0
p0/max_fs = 399
p0/corner_x = -400.5
p1/min_fs = 400
p1/max_fs = 799
p1/corner_x = $2
EOF
    for panel in p0 p1; do
        printf '%s = %s\n' $panel/min_ss 0 $panel/max_ss 799 $panel/fs +x $panel/ss -y $panel/corner_y 400.5
    done >> "$1.geom"
    cat > "$1.yaml" << EOF
shots: {list: list.txt}
model: {expt: $1.geom, cell: [67.4, 64.7, 63.3, 85.9, 106.7, 89.45], symmetry: triclinic, find_orientation: yes}
EOF
}
tiles() { # NAME SHIFT: the same in 80 panels, those of the second half shifted along fast
    { head -n 5 right.geom; awk -v by="$2" 'BEGIN {
        for (i = 0; i < 16; i++) for (j = 0; j < 5; j++) {
            p = "p" 5 * i + j
            printf "%s/min_fs = %d\n%s/max_fs = %d\n%s/min_ss = %d\n%s/max_ss = %d\n", p, 50 * i, p, 50 * i + 49, p, 160 * j, p, 160 * j + 159
            printf "%s/fs = +x\n%s/ss = -y\n%s/corner_x = %g\n%s/corner_y = %g\n", p, p, p, 50 * i - 400.5 + by * (i > 7), p, 400.5 - 160 * j
        }
    }'; } > "$1.geom"
    sed "s/right.geom/$1.geom/" right.yaml > "$1.yaml"
}
geometry right -0.5
geometry near 2.5
geometry far 5.5
fit 0 right.yaml --no-report --output found_right
fit 1 near.yaml --no-report --output found_near
grep -q "panel 1 (from 0), shifted by -[23]\.[089], -\{0,1\}0\.0 pixels" err || fail "3 pixels off: $(cat err)"
fit 1 far.yaml --no-report --output found_far
grep -q "panel 1 (from 0), shifted by -[56]\.[0189], -\{0,1\}0\.0 pixels" err || fail "6 pixels off: $(cat err)"
tiles many 0
tiles near_many 1.5
fit 0 many.yaml --no-report --output found_many
fit 1 near_many.yaml --no-report --output found_near_many
grep -q "not to be used: a minimum was found, but panel [4-7][0-9] (from 0), shifted by -[12]\.[0-9], -\{0,1\}0\.[0-3] pixels" err ||
    fail "80 panels, half of them 1.5 pixels off: $(cat err)"
