#!/bin/sh
# Structure factors of coordinates: what the flags mean, what is told, and that a refinement takes the same file.
. "$SOURCE_DIR/tests/cli/expectations"
"$DUALBRAGG" --version | grep -q gemmi || {
    echo "skipped: a build without gemmi"
    exit 77
}

model() {
    echo "CRYST1   40.000   50.000   60.000  90.00 $1  90.00 P 1 21 1      2"
    echo "ATOM      1  N   GLY A   1       9.400   2.700   1.100  1.00 12.50           N"
    echo "ATOM      2  CA  GLY A   1       8.200   3.400   1.900  1.00 12.50           C"
    echo "HETATM    3 ZN    ZN A   2      17.250  14.100   3.300  1.00 15.79          ZN"
}
model 100.00 > ../model.pdb
model " 90.00" > ../other.pdb

# told TEXT: what the program said of the amplitudes
told() {
    cat ../out ../err | grep -qF -e "$1" || complain "'$1' was not told: $(cat ../out ../err)"
}

# shellcheck disable=SC2086 # $small is to be split
{
    crystal="${small%-default_F 100*}${small#*-default_F 100}"
    succeed sim $crystal -model ../model.pdb -floatfile ../a.f32
    told "amplitudes from F of 3 atoms, P 1 21 1, to "
    told "A, solvent 0.35 e/A^3, B 46 A^2, f' and f'' at 1.3 A"
    succeed sim $crystal -hkl ../model.pdb -floatfile ../same.f32
    same ../a.f32 ../same.f32 "-hkl and -model"
    succeed sim $crystal -model ../model.pdb -k_sol 0 -anomalous no -model_resolution 4 -floatfile ../b.f32
    told "to 4 A, no solvent, no anomalous scattering"
    cmp -s ../a.f32 ../b.f32 && complain "solvent and anomalous scattering make no difference"
    succeed sim $crystal -model ../model.pdb -dmin 5 -floatfile ../c.f32
    told "to 5 A"

    expect 3 "its cell is 40 50 60 90 90 90, the crystal's is 40 50 60 90 100 90" sim $crystal -model ../other.pdb -floatfile o
    expect 3 "k_sol: expected a number from 0 to 10 e/A^3, found -1" sim $crystal -model ../model.pdb -k_sol -1 -floatfile o
    expect 2 "coordinates have no columns" sim $crystal -model ../model.pdb -hkl_columns FP -floatfile o
}
finish
