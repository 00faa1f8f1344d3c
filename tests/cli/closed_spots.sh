#!/bin/sh
# Spots in closed form: what caps and full ranges become, what the report says, and that configurations of flags that say
# the same make the same image.
. "$SOURCE_DIR/tests/cli/expectations"

# says LINE: a line of the report
says() {
    grep -qxF -e "$1" ../out || complain "no line '$1' in the report: $(grep -A20 'spots in closed form' ../out)"
}

# shellcheck disable=SC2086 # $small is to be split
{
    expect 2 "-spotfile: spots are predicted in closed form; expected -spots closed" sim $small -spotfile none.txt

    succeed sim $small -spots closed -mosaic 0.5 -hdivrange 2 -vdivrange 1 -square_div -dispersion 0.3 -osc 1 -floatfile ranges.f32
    says "mosaic spread: the cap of 0.5 degree becomes a Gaussian of the same variance, 0.248189 degree rms about each axis"
    says "divergence: the full ranges of 2 and 1 mrad become a Gaussian of the same variance, 0.57735 and 0.288675 mrad rms"
    says "bandwidth: the full range of 0.3 % becomes a Gaussian of the same variance, 0.0866025 % rms"
    says "spots are Gaussians with the peak and the integral of spots of shape square"
    says "  1 sources"
    says "    mosaic, about each axis: 0.248189 degree"
    says "    divergence, horizontal vertical: 0.57735 0.288675 mrad"
    says "    bandwidth: 0.0866025 %"
    says "    rotation from 0 to 1 degrees"
    grep -q "mosaic domains" ../out && complain "mosaic domains of spots in closed form"

    # a tolerance that leaves no spot over
    succeed sim $small -spots closed --tolerance 1e30 -floatfile none.f32
    says "max_I = 0  at 0 0"

    succeed sim $small -spots closed -gauss_xtal -mosaic_tensor 0.01 0.04 0.09 0 0 0.01 -strain_system monoclinic \
        -strain_rms_tensor 0.001 0 0.002 0 0.003 0 -strain_rms 0.001 -mode 1 2 3 4 5 6 7 8 -9 -tail 0.2 3 \
        -size_correlation 0 0 0.5 -divergence_rms 0.2 -divergence_correlation -0.5 -footprint_rms 0.1 0.05 \
        -point_spread_rms 0.02 -bandwidth_rms 0.001 -floatfile all.f32
    says "    block size, correlations bc ca ab: 0 0 0.5"
    says "    mosaic, in addition, covariances xx yy zz yz zx xy: 0.01 0.04 0.09 0 0 0.01 degree^2"
    says "    strain, along all axes: 0.1 %"
    says "    strain, in addition, xx yy zz yz zx xy: 0.1 0 0.2 0 0.3 0 %"
    says "    mode 1, xx xy xz yx yy yz zx zy zz: 1 2 3 4 5 6 7 8 -9 per mille (mrad)"
    says "    tail 1: 20 % of the blocks, 3 times as wide"
    says "    bandwidth: 0.1 %"
    says "    divergence, horizontal vertical: 0.2 0.2 mrad, correlation -0.5"
    says "    footprint, horizontal vertical: 0.1 0.05 mm"
    says "    point spread, fast slow: 0.02 0.02 mm"

    # the same, said otherwise
    succeed sim $small -spots closed -mosaic_rms 0.2 -divergence_rms 0.3 -floatfile one.f32
    succeed sim $small -spots closed -mosaic_rms_abc 0.2 0.2 0.2 -divergence_rms 0.3 0.3 -floatfile three.f32
    same one.f32 three.f32 "-mosaic_rms and -mosaic_rms_abc"
    # lists of spots: one header, as many lines as are said
    succeed sim $small -spots closed -mosaic_rms 0.2 -spotfile spots.txt
    count=$(grep -vc '^#' spots.txt)
    [ "$count" -gt 10 ] || complain "-spotfile: only $count spots"
    says "writing spots.txt as a list of $count spots"
    grep -v '^#' spots.txt | awk 'NF != 18 || $11 < -3 || $11 > 3 || $10 < 0 { bad = 1 } END { exit bad || !NR }' || complain "-spotfile: columns"
    succeed sim $small -spots closed -mosaic_rms 0.2 -spotfile spots.json
    [ "$(grep -c '"hkl"' spots.json)" = "$count" ] || complain "-spotfile: JSON of another number of spots"

    # what is chosen from the list of spots
    sharp=$(echo "$small" | sed 's/-oversample 1//; s/-N 4/-N 40/')
    succeed sim $sharp -spots closed -floatfile chosen.f32 --precision double
    grep -q "^auto-selected tolerance of .* photons per pixel: 1e-6 of the brightest spot's peak$" ../out || complain "no tolerance: $(cat ../out)"
    says "  15x15 pixel oversample steps"
    grep -q "^auto-selected 15-fold oversampling: spots are as narrow as" ../out || complain "no oversampling: $(cat ../out)"
    grep -q "wrong" ../out && complain "a warning of narrow spreads: $(cat ../out)"
    succeed sim $sharp -spots closed -floatfile whole.f32 --precision double --tolerance 0 -oversample 15
    grep -q "auto-selected tolerance" ../out && complain "a tolerance beside --tolerance 0"
    grep -q "fold oversampling" ../out && complain "a number of sub-pixels beside -oversample"
    od -An -v -w4 -t f4 whole.f32 > ../whole
    od -An -v -w4 -t f4 chosen.f32 | paste ../whole - |
        awk '$1 > most { most = $1 } $1 - $2 > less { less = $1 - $2 } $2 > $1 * 1.000001 { more = 1 }
             END { exit !(most > 0 && less > 0 && less <= 1e-6 * most && !more) }' || complain "the default tolerance is not kept"
    # narrow spots: photons are kept, or what is wrong is said
    succeed sim $sharp -spots closed -floatfile fine.f32 --precision double --tolerance 0 -oversample 45
    grep -q "are coarse for spots" ../out && complain "a warning of narrow spots beside fine sub-pixels: $(cat ../out)"
    od -An -v -w4 -t f4 fine.f32 | paste ../whole - |
        awk '{ some += $1; all += $2 } END { exit !(some > 0.95 * all && some < 1.05 * all) }' || complain "photons of narrow spots"
    succeed sim $sharp -spots closed -floatfile rough.f32 --precision double --tolerance 0 -oversample 4
    grep -q "^sub-pixels of 1/4 pixel are coarse for spots with a recorded width of .*: their photons are wrong by up to [0-9]* %; -oversample 15 is enough$" ../out ||
        complain "no warning of narrow spots: $(cat ../out)"
    succeed sim $small -spots closed -bandwidth_rms 0.02 -mosaic_rms 2.5 -floatfile wide.f32
    grep -q "^a bandwidth this wide makes spots in closed form wrong by up to about 2 % " ../out || complain "no warning of the bandwidth: $(cat ../out)"
    grep -q "^mosaic rotations of 2.5 degree rms are wide" ../out || complain "no warning of rotations"

    succeed sim $small -spots sampled -floatfile sampled.f32
    succeed sim $small -floatfile default.f32
    same sampled.f32 default.f32 "-spots sampled and the default"

    succeed check $small -spots closed -N 12 -mosaic_rms 0.2 -strain_rms 0.002 -osc 1 -dmin 3 -roi 10 17 10 15 \
        -params mosaic_variance,strain_variance,cell_a,distance,mode1_xy
    [ "$(grep -c ' ok$' ../out)" -eq 6 ] || complain "check of spots in closed form: $(cat ../out)"
}
finish
