#!/bin/sh
# Wrong input of any kind ends with a message that names it, the documented exit status, and no file left behind.
. "$SOURCE_DIR/tests/cli/expectations"

# shellcheck disable=SC2086 # $small is to be split
{
    # the command line: 2
    expect 2 "unknown flag '-lamda'; the nearest known one is '-lambda'" sim $small -lamda 1.2 -floatfile o
    expect 2 "unknown flag '--thread'; the nearest known one is '--threads'" sim $small --thread 2 -floatfile o
    expect 2 "-lambda: expected a finite number (A), found '1.2x'" sim $small -floatfile o -lambda 1.2x
    expect 2 "-lambda: expected a finite number (A), found 'nan'" sim $small -floatfile o -lambda nan
    expect 2 "-distance: expected a finite number (mm), found 'inf'" sim $small -floatfile o -distance inf
    expect 2 "-lambda: expected a number (A), found the end of the command line" sim $small -floatfile o -lambda
    expect 2 "-N: expected a finite number, found '-Na'" sim $small -floatfile o -N -Na 4
    expect 2 "-detpixels: expected a whole number, found '64.5'" sim $small -floatfile o -detpixels 64.5
    expect 2 "-detpixels: expected a whole number, found '99999999999999999999'" \
        sim $small -floatfile o -detpixels 99999999999999999999
    expect 2 "-hkl: expected FILE (electrons), found '-N'" sim $small -floatfile o -hkl -N 4
    expect 2 "-misset: expected three angles or the word random (degree), found 'sideways'" \
        sim $small -floatfile o -misset sideways
    expect 2 "-misset: expected a finite number (degree), found '-N'" sim $small -floatfile o -misset 1 2 -N 3
    expect 2 "-pivot: expected beam|sample, found 'detector'" sim $small -floatfile o -pivot detector
    expect 2 "-N takes only CELLS; expected a flag after it, found '5'" sim $small -floatfile o -N 4 5
    expect 2 "-nopolar takes no value; expected a flag after it, found '-3'" sim $small -floatfile o -nopolar -3
    expect 2 "expected a flag, found 'lambda'" sim lambda 1.2
    expect 2 "-params belongs to dualbragg grad or check" sim $small -floatfile o -params all
    expect 2 "-floatfile belongs to dualbragg sim" check $small -floatfile o
    expect 2 "no output named" sim $small
    expect 2 "(compat) has no tilt of the spindle: expected 0, found 1" \
        sim $small -compat -spindle_tilt 1 0 -floatfile o
    expect 2 "(compat) has no shift of panels: expected 0, found 0.1" sim $small -compat -panel_shift 0 0 0.1 -floatfile o
    expect 2 "(compat) has no rotation of panels: expected 0, found 2" sim $small -compat -panel_turn 2 0 0 -floatfile o
    expect 2 "parameter spectrum_stretch: the experiment has no sources of several wavelengths" \
        grad $small -params spectrum_stretch
    expect 3 "no_such.dat" sim $small -spectrumfile no_such.dat -floatfile o
    expect 2 "a spectrum file and a dispersion exclude each other" sim $small -spectrumfile no_such.dat -dispersion 1 -floatfile o
    expect 2 "(compat) has no B factor: expected 0, found 3" sim $small -compat -b_factor 3 -floatfile o
    expect 2 "no parameters named" grad $small
    expect 2 "-params: unknown parameter 'distanse'; the nearest known one is 'distance'" grad $small -params distanse
    expect 2 "-params: cell_a is named twice" grad $small -params cell_a,distance,cell_a
    expect 2 "-params: expected names separated by commas" grad $small -params cell_a,,distance
    expect 2 "unknown command 'simm'; the nearest known one is 'sim'" simm
    expect 2 "no command named, found '-cell'; expected sim, grad, check, fit, import, view, amorphous, orient, add, compare, noise, help or version" \
        -cell 40
    expect 2 "-lambda: expected a finite number (A), found '1.2x'" sim $small -floatfile o --lambda=1.2x
    expect 2 "--quiet takes no value, found '1'" sim $small -floatfile o --quiet=1
    expect 2 "-detpixels_f: expected" sim $small -floatfile o --detpixels_f=
    expect 2 "expected a flag after it, found '58,4'" sim $small -floatfile o -cell 58,4 58,4 152,2
    expect 2 "-cell: expected A [B C ALPHA BETA GAMMA] (A, degree), found '1,2,3,4,5,6,7'" sim $small -floatfile o -cell 1,2,3,4,5,6,7
    expect 3 "unit cell: expected three angles or none (then they are 90), found 2" sim $small -floatfile o -cell 60 60 60 90 120
    expect 2 "-misset: expected X Y Z | random (degree), found '10,20'" sim $small -floatfile o -misset 10,20
    expect 2 "-cell: expected a finite number (A, degree), found ''" sim $small -floatfile o -cell 40,,50
    expect 2 "unknown flag '--lamda'; the nearest known one is" sim $small -floatfile o --lamda=1.2
    expect 2 "expected names separated by commas, found 'cell_a cell_b'" grad $small -params "cell_a cell_b"
    expect 2 "the nearest known one is 'cell_a'" grad $small -params CELL_A
    expect 3 "spots this sharp ask for 23400 sub-pixels along each side of a pixel, more than 1000" \
        sim -cell 78 -N 1e5 -default_F 1 -detpixels 8 -floatfile o
    # numbers that no detector records
    expect 2 "-adc: expected a number from -65535 to 65535, found '1e9'" sim $small -intfile o -adc 1e9
    expect 2 "-scale: expected a number from 0, found '-1'" sim $small -intfile o -scale -1
    expect 2 "--tolerance: expected a number from 0, found '-1'" check $small --tolerance -1
    expect 2 "-oracle_tolerance: expected a number from 0, found '-1'" check $small -oracle_tolerance -1
    expect 2 "-difference_tolerance: expected a number from 0, found '-1e-7'" check $small -difference_tolerance -1e-7
    # flags that need another one
    for named in "--range 1 2" --resume "-jitter_cell 0.1" "-jitter_fluence 0.1" "-jitter_wavelength 0.1" "-sase 0.002 0.0002" -noreflections; do
        expect 2 "${named%% *} has no effect without --shots or --random; expected both" sim $small -floatfile o $named
    done
    for named in "-hkl_columns F" "-hkl_space_group 96" "-k_sol 0.3" "-b_sol 30" "-model_resolution 2" "-anomalous no"; do
        expect 2 "${named%% *} has no effect without -hkl; expected both" sim $small -floatfile o $named
    done
    for named in "-expt_number 0" "-expt_frame 1"; do
        expect 2 "${named%% *} has no effect without -expt; expected both" sim $small -floatfile o $named
    done
    # the distance is to blame, not the sub-pixels
    expect 3 "pixel size: 172 mm is unusual; expected 0.0005 to 5 mm (if it is in um, write 0.172)" \
        sim -cell 78 -N 20 -default_F 1 -detpixels 8 -pixel 172 -floatfile o
    # a name's ending says the format
    for named in "-noisefile o.cbf" "-noisefile o.png" "-intfile o.h5" "-pngfile o.jpg" "-pgmfile o.PNG" "-floatfile o.png" "-intfile o.img.gz" \
        "-floatfile o.cbf" "-floatfile o.img" "-hdf5file o.img" "-exptfile o.h5"; do
        expect 2 "$named: expected a name that ends in" sim $small $named
    done
    expect 2 "found '.png', which -pngfile writes" sim $small -floatfile o.png
    expect 2 "-o o.h5: expected a name that ends in" add a.bin b.bin -o o.h5
    for command in sim grad check fit amorphous orient add compare noise; do
        "$DUALBRAGG" $command > ../out 2> ../err && complain "$command without arguments succeeds"
        grep -qx "dualbragg $command: note: dualbragg help $command shows usage and examples" ../err ||
            complain "$command without arguments: $(cat ../err)"
    done
    succeed sim $small -energy 12 -floatfile o
    grep -q "^the wavelength, 1033.2 A, is more than twice the longest cell edge, 60 A: no reflection" ../out ||
        complain "no word about a wavelength of 1033 A"
    succeed sim $small -lambda 119 -floatfile o
    grep -q "twice the longest" ../out && complain "119 A are less than twice 60 A"
    rm -f o
    # nothing is near: no guess
    expect 2 "unknown flag '--bogus'; dualbragg help sim lists all" sim $small --bogus -floatfile o
    expect 2 "unknown flag '-resolution'; dualbragg help grad lists all" grad $small -resolution 2
    expect 2 "unknown command 'bogus'; expected sim, grad, check" bogus
    expect 2 "-params: unknown parameter 'bogus'; dualbragg grad --list-params lists them" grad $small -params bogus
    expect 2 "unknown flag '-n'; the nearest known one is '-N'" sim $small -n 3 -floatfile o
    expect 2 "unknown flag '-oscillation'; the nearest known one is '-osc'" sim $small -oscillation 3 -floatfile o
    expect 2 "usage: dualbragg COMMAND"

    # spots in closed form
    expect 2 "mosaic_rms: has an effect with spots in closed form only; add -spots closed" sim $small -floatfile o -mosaic_rms 0.1
    expect 3 "bandwidth (rms): expected a number from 0 to 0.2, found 1" sim $small -floatfile o -spots closed -bandwidth_rms 1
    expect 2 "bandwidth_rms: has an effect with spots in closed form only" sim $small -floatfile o -spots sampled -bandwidth_rms 0.001
    expect 2 "-spots: expected sampled|closed, found 'open'" sim $small -floatfile o -spots open
    expect 2 "-mosaic_rms_abc: expected a number (degree), found the end" sim $small -floatfile o -mosaic_rms_abc 0.1 0.2
    expect 3 "mosaic spread (rms): expected a number from 0 to 180 degree, found -0.1" \
        sim $small -floatfile o -spots closed -mosaic_rms -0.1
    expect 3 "found both" sim $small -floatfile o -spots closed -mosaic_rms 0.1 -mosaic 0.1
    expect 3 "mosaic_tensor: no rotations have the covariances 1 1 1 2 0 0" \
        sim $small -floatfile o -spots closed -mosaic_tensor 1 1 1 2 0 0
    expect 3 "strain_rms_tensor: cubic strains have yz of 0 by symmetry" \
        sim $small -floatfile o -spots closed -strain_system cubic -strain_rms_tensor 0 0 0 0.1 0 0
    for refused in -round_xtal -tophat_spots -curved_det -interpolate -compat; do
        expect 2 "spots in closed form: " sim $small -floatfile o -spots closed $refused
    done
    expect 2 "-printout: spots in closed form have no samples to print" \
        sim $small -floatfile o -spots closed -printout
    expect 2 "-trace_pixel: spots in closed form" sim $small -floatfile o -spots closed -trace_pixel 1 1
    expect 2 "there is no derivative by mosaic_rms: the parameter is called mosaic_variance, the square of it" \
        grad $small -params mosaic_rms

    # values and files: 3
    expect 3 "cannot" sim $small -floatfile o -hkl no_such.hkl
    expect 3 "no_such.hkl" sim $small -floatfile o -hkl no_such.hkl
    expect 3 "no_such.mat" sim $small -floatfile o -mat no_such.mat
    expect 3 "no_such.src" sim $small -floatfile o -sourcefile no_such.src
    expect 3 "edge a" sim $small -floatfile o -cell 0
    expect 3 "cell angles" sim $small -floatfile o -cell 40 50 60 20 30 170
    expect 3 "unit cell" sim -default_F 100 -floatfile o
    expect 3 "no structure factors: expected -hkl FILE or -default_F F, found neither" sim -cell 40 -floatfile o
    expect 3 "distance: expected a positive number" sim $small -floatfile o -distance -70
    expect 3 "behind" sim $small -floatfile o -detector_roty 130
    expect 3 "detector size" sim -cell 40 -default_F 1 -floatfile o -detsize -20
    expect 2 "-detpixels: expected a whole number from 1" sim $small -floatfile o -detpixels 0
    expect 2 "-oversample: expected a whole number from 0" sim $small -floatfile o -oversample -1
    expect 2 "-oversample: expected a whole number from 0" sim $small -floatfile compat -oversample -1 # a file, no flag
    expect 3 "a step of 1e-12 divides the range 5 mrad" sim $small -floatfile o -hdivrange 5 -hdivstep 1e-12
    expect 3 "pixel size" sim $small -floatfile o -pixel -0.1
    expect 3 "sample size along a" sim $small -floatfile o -samplesize -1
    expect 3 "wavelength" sim $small -floatfile o -lambda 0
    expect 2 "-energy: expected a positive number (eV), found '-8000'" sim $small -floatfile o -energy -8000
    expect 2 "-energy: expected a positive number (eV), found '0'" sim $small -floatfile o -energy 0
    expect 3 "crystal size Na" sim $small -floatfile o -N 4.5
    expect 3 "polarization" sim $small -floatfile o -polar 2
    expect 3 "mosaic spread" sim $small -floatfile o -mosaic -1
    expect 3 "one for all axes or one about each, found both, 1 and 0.1 0.2 0.3" sim $small -floatfile o -mosaic 1 -mosaic_abc 0.1 0.2 0.3
    expect 3 "anisotropic mosaic spread" sim $small -floatfile o -mosaic_abc 0.1 -0.2 0.3
    expect 2 "-mosaic_abc" sim $small -floatfile o -mosaic_abc 0.1 0.2
    expect 2 "the experiment has no mosaic domains, but spots in closed form: expected mosaic_variance" \
        grad $small -outdir . -spots closed -params mosaic_spread
    expect 2 "the experiment has no mosaic spread of all axes, but one about each: expected mosaic_a" grad $small -outdir . -mosaic_abc 0.1 0.2 0.3 -params mosaic_spread
    expect 2 "-mosaic_seed: expected a whole number from 1 to 2147483646 (the sign does not count), found 0" sim $small -floatfile o -mosaic_seed 0
    expect 3 "horizontal divergence: 3 steps need a range" sim $small -floatfile o -hdivsteps 3
    expect 3 "has no meaning in convention mosflm" sim $small -floatfile o -Xclose 10
    expect 3 "perpendicular" sim $small -floatfile o -fdet_vector 0 1 0
    expect 2 "-roi: expected XMIN XMAX from 0 to 39, the smaller one first, found 40 45" \
        sim $small -floatfile o -roi 40 45 0 29
    expect 2 "-roi: expected YMIN YMAX" sim $small -floatfile o -roi 0 39 20 10
    expect 3 "cannot write there" sim $small -floatfile no_such_directory/o
    expect 3 "cannot write there" sim $small -floatfile /dev/null/o
    expect 3 "found a directory" sim $small -floatfile ..
    expect 3 "cannot write there" grad $small -params distance -outdir no_such_directory

    # numbers that floats do not hold, in the image or in a derivative of it
    expect 3 "image: pixels are beyond the 3.4e38" sim $small -floatfile o -default_F 1e25
    expect 3 "image: pixels are beyond the 3.4e38" grad $small -params scale -default_F 1e25
    expect 3 "wavelength: pixels are beyond" grad $small -params scale,wavelength -default_F 1e20 -fluence 1e28
    expect 3 "bits of a pixel: expected 16 or 32, found 8" sim $small -noisefile o -bits 8

    # devices: 4
    expect 4 "device abacus: this build has no backend of that name; expected one of cpu, auto" \
        sim $small -floatfile o --device abacus
    expect 2 "device: expected one of cpu, auto" sim $small -floatfile o --device cuda:x
    # without a GPU, or a backend for it
    "$DUALBRAGG" sim $small -floatfile o --device cuda > /dev/null 2>&1 ||
        expect 4 "device cuda" sim $small -floatfile o --device cuda
    rm -f o
    expect 2 "instruction set: expected auto, sse2, neon, avx2 or avx512, found 'mmx'" sim $small -floatfile o --isa mmx
    case $(uname -m) in x86_64) other=neon ;; *) other=sse2 ;; esac
    expect 4 "instruction set $other: not in this build or processor" sim $small -floatfile o --isa $other
}
DUALBRAGG_ISA=mmx expect 2 "instruction set" sim -cell 40 -default_F 1 -floatfile o

# files with something wrong inside
keep="bad.hkl"
printf '1 0 0 10\n1 x 0 10\n' > bad.hkl
# shellcheck disable=SC2086
expect 3 "bad.hkl" sim $small -nointerpolate -floatfile o -hkl bad.hkl
# shellcheck disable=SC2086
expect 3 "bad.hkl" sim $small -floatfile o -mat bad.hkl
# a source along the polarization axis, where no E field can be
printf '0 0 1\n' > bad.hkl
# shellcheck disable=SC2086
expect 3 "source 1: its direction is the polarization axis" sim $small -floatfile o -polar 0.9 -sourcefile bad.hkl
printf '1 0 0 10\n' > bad.hkl
# shellcheck disable=SC2086
expect 3 "bad.hkl: expected a structure factor cache" sim $small -floatfile o -dump bad.hkl
finish
