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
model 100.00 | sed 's/40.000   50.000   60.000/20.000   22.000   25.000/; s/P 1 21 1      2/P 1           1/' > ../little.pdb

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
    # the default resolution is that of the shortest wave, of all directions of the beam: finer reflections bring nothing
    for beam in "" "-dispersion 20 -dispsteps 11" "-spots closed -bandwidth_rms 0.04" "-hdivrange 200 -hdivsteps 5"; do
        wide="-cell 20 22 25 90 100 90 -misset 10 20 30 -N 8 -lambda 1.3 -distance 40 -detpixels 40 -pixel 2 -oversample 2 -nointerpolate -k_sol 0 $beam"
        succeed sim $wide -model ../little.pdb -floatfile ../seen.f32
        succeed sim $wide -model ../little.pdb -model_resolution 1 -floatfile ../fine.f32
        "$DUALBRAGG" compare ../seen.f32 ../fine.f32 -absolute 0.03 -brightest 1e-6 --quiet || complain "$beam: the model ends within the image"
    done

    # a free atom's table at one wavelength is what all atoms have without sites; spectra are sums
    succeed sim $crystal -nointerpolate -model ../model.pdb -model_resolution 4 -floatfile ../one.f32
    succeed sim $crystal -nointerpolate -model ../model.pdb -model_resolution 4 -sites A/ZN.2:ZN=table -floatfile ../table.f32
    told "; 1 sites A/ZN.2:ZN"
    printf '%s\n' "9500 -5 0.5" "9600,-8.5,0.6 # the edge" "9700;-4;3.9" > ../zinc.tsv
    echo "9550 1" > ../first.txt
    echo "9650 3" > ../second.txt
    cat ../first.txt ../second.txt > ../both.txt
    pulses=$(echo "$crystal" | sed 's/-lambda [^ ]*//')
    for n in first second both; do
        succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 4 -sites ZN:ZN=../zinc.tsv -anomalous no \
            -spectrumfile ../$n.txt -floatfile ../$n.f32
    done
    python3 - << END || complain "images by energy are not what they should be"
from array import array
read = lambda name: array("f", open("../%s.f32" % name, "rb").read())
off = lambda a, b: max(abs(x - y) for x, y in zip(a, b)) / max(map(abs, b))
one, table, first, second, both = map(read, ("one", "table", "first", "second", "both"))
found = off(table, one), off(both, [0.25 * a + 0.75 * b for a, b in zip(first, second)])
assert found[0] < 1e-4 and found[1] < 1e-5 and off(first, second) > 1e-2, (found, off(first, second))
END
    mkdir ../slopes
    echo "1 0 0 5" > ../few.hkl
    succeed grad $pulses -nointerpolate -model ../model.pdb -model_resolution 4 -sites ZN:ZN=../zinc.tsv \
        -spectrumfile ../both.txt -params fp:0:1,fdp:0:1 -outdir ../slopes

    printf '%s\n' "9550 -5 0.5" "9600 -4 3.9" > ../begins.tsv # where the flag's energy is, whose factor is nanoBragg's
    succeed sim $pulses -N 2 -energy 9550 -model ../model.pdb -model_resolution 6 -sites ZN:ZN=../begins.tsv -floatfile ../begins.f32
    told "auto-selected no interpolation" # however small the crystal

    # blanks and capitals do not matter
    succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 4 -sites ZN:ZN=table,GLY:N+GLY:CA=../zinc.tsv -lambda 1.29 -floatfile ../tight.f32
    succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 4 -sites " ZN:ZN = TABLE , GLY:N + GLY:CA=../zinc.tsv" -lambda 1.29 -floatfile ../loose.f32
    same ../tight.f32 ../loose.f32 "blanks in -sites"

    sites() { # STATUS MESSAGE KIND... of a spectrum of 9550 and 9650 eV
        status=$1 message=$2 kinds=$3
        shift 3
        expect "$status" "$message" sim $pulses -nointerpolate -model ../model.pdb -model_resolution 6 -spectrumfile ../both.txt \
            -sites "$kinds" -floatfile o "$@"
    }
    sites 3 "expected a number after the dot of [CHAIN/]RESIDUE.NUMBER:ATOM, found 'A/ZN.:ZN'" A/ZN.:ZN=table
    sites 3 "expected atoms FES:FE1, found none of them" FES:FE1=table
    sites 3 "atom ZN of A 2(ZN) is of two kinds, ZN:ZN and A/ZN:ZN" ZN:ZN=table,A/ZN:ZN=table
    sites 2 "ZN:ZN has two curves, table and ../zinc.tsv" ZN:ZN=table,ZN:ZN=../zinc.tsv
    sites 2 "expected SITES=FILE or SITES=table" ZN:ZN
    sites 2 "expected SITES=FILE or SITES=table" ZN:ZN=table,
    sites 2 "expected table, or table:SHIFT with a number of eV, found table:x" ZN:ZN=table:x
    sites 3 "expected a shift of the edge of at least 0.05 eV, or 0, found table:0.002; if it is in keV, give 2" ZN:ZN=table:0.002
    sites 3 "expected a shift of the edge of at most 200 eV, found table:8000; it is relative to the edge of the free atom" ZN:ZN=table:8000
    succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 6 -energy 9660 -sites ZN:ZN=table:-60 -floatfile ../o
    told "table:-60 moves the edge by more than the 50 eV"
    sites 3 "expected atoms of one chemical element for its table" ZN:ZN+GLY:N=table
    sites 3 "such as FES:FE1, found 'ZN'" ZN=table
    sites 3 "no.tsv" ZN:ZN=no.tsv
    printf '%s\n' "9.5 -5 0.5" "9.7 -4 3.9" > ../kev.tsv
    sites 3 "these look like keV: energies are in eV" ZN:ZN=../kev.tsv
    printf '%s\n' "9500 -5 0.5" "9600 -4 3.9" > ../short.tsv
    sites 3 "a source has 9650 eV (1.28481 A): expected a curve that reaches there, found one from 9500 to 9600 eV" ZN:ZN=../short.tsv
    printf '%s\n' "9.6 -5 0.5" "9.62 -4 3.9" > ../short_kev.tsv
    awk '{ print $1 / 1000, $2 }' ../both.txt > ../both_kev.txt # 9.6 A
    for curve in ../zinc.tsv table; do
        sites 3 "looks like keV: expected energies in eV" ZN:ZN=$curve -spectrumfile ../both_kev.txt
    done
    # a spectrum in keV and a wavelength, with sites and without
    for kinds in "-sites ZN:ZN=table" "-sites ZN:ZN=../zinc.tsv" ""; do
        for given in "-lambda 1.2835" "-energy 9660"; do
            expect 3 "both_kev.txt: expected a mean near the given wavelength, 1.28" sim $pulses -nointerpolate \
                -model ../model.pdb -model_resolution 6 -spectrumfile ../both_kev.txt $given $kinds -floatfile o
            grep -q "found 9.625 A; the file looks like keV" ../err || complain "no word of keV: $(cat ../err)"
        done
    done
    # both in keV; -energy in keV, with the curve in keV, too; a curve in A; energies as they were given
    sites 3 "a source has 1298.264 eV (9.55 A): expected a curve that reaches there, found one from 9.6 to 9.62 eV; these and the source's wavelength look like keV" \
        ZN:ZN=../short_kev.tsv -spectrumfile ../both_kev.txt
    for curve in ../zinc.tsv ../kev.tsv table; do
        expect 3 "a source has 9.66 eV (1283.48 A): expected X-rays of at least 100 eV; 9.66 looks like keV" sim $pulses -nointerpolate \
            -model ../model.pdb -model_resolution 6 -energy 9.66 -sites ZN:ZN=$curve -floatfile o --quiet
    done
    printf '%s\n' "1.27 -5 0.5" "1.3 -4 3.9" > ../angstrom.tsv
    sites 3 "found one from 1.27 to 1.3 eV; these look like wavelengths in A: energies are in eV" ZN:ZN=../angstrom.tsv
    printf '%s\n' "1.3 -5 0.5" "1.27 -4 3.9" > ../falling.tsv
    sites 3 "found 1.27 after 1.3 eV; these are no energies in eV" ZN:ZN=../falling.tsv
    expect 3 "a source has 9660 eV (1.28348" sim $pulses -nointerpolate -model ../model.pdb -model_resolution 6 -energy 9660 \
        -sites ZN:ZN=../short.tsv -floatfile o
    expect 3 "a source has 9.65 A, which is 1284.81 eV, where Zn has no edge" sim $pulses -nointerpolate -model ../model.pdb \
        -model_resolution 6 -lambda 9.65 -sites ZN:ZN=table -floatfile o
    model 100.00 | sed 's/ZN/SE/g' > ../selenium.pdb
    expect 3 "a source has 12.658 A, which is 979.4928 eV, where Se has no edge" sim $pulses -nointerpolate -model ../selenium.pdb \
        -model_resolution 6 -lambda 12.658 -sites SE:SE=table -floatfile o
    succeed sim $pulses -nointerpolate -model ../selenium.pdb -model_resolution 6 -lambda 1.5418 -sites SE:SE=table -floatfile ../o
    model 100.00 | sed 's/ZN/ I/g' > ../iodine.pdb # whose edge is at 5.19 keV; the energy is that of an edge of S, at 5.02 A
    succeed sim $pulses -nointerpolate -model ../iodine.pdb -model_resolution 6 -energy 2472 -sites I:I=table -floatfile ../o
    printf '%s\n' "9500 -5 0.5" "9600 -4 -1 0.1 0.1" "9700 -4 3.9" > ../negative.tsv
    sites 3 "negative.tsv:2: expected f'' (column 3) of at least 0, or less by up to 5 of its errors in column 5, found -1" \
        ZN:ZN=../negative.tsv
    printf '%s\n' "9500 -0.5 -5" "9700 -0.4 -4" > ../exchanged.tsv
    sites 3 "exchanged.tsv:1: expected f'' (column 3) of at least 0" ZN:ZN=../exchanged.tsv
    printf '%s\n' "9500 -5 -0.1 0.3 0.1" "9650 -5 -0.3 inf inf" "9700 -4 3.9 0.3 0.1" > ../refined.tsv
    succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 6 -spectrumfile ../both.txt -sites ZN:ZN=../refined.tsv \
        -floatfile ../o
    if "$DUALBRAGG" --version | grep -q HDF5; then # the table has all energies of the pulses
        for vary in "-sase 0.05 0.005" "-jitter_wavelength 0.05"; do
            succeed sim $pulses -nointerpolate -model ../model.pdb -model_resolution 6 -energy 9660 -sites ZN:ZN=table --random 4 \
                $vary -hdf5file ../shots.h5
        done
    fi
    printf '%s\n' "9500 -5" "9700 -4" > ../columns.tsv
    sites 3 "columns.tsv:1: expected three columns, photon energy (eV), f' and f'', found 2" ZN:ZN=../columns.tsv
    printf '%s\n' "9500 -5 1" "9700 -4 1" "9600 -3 1" > ../order.tsv
    sites 3 "order.tsv:3: expected ascending energies, found 9600 after 9700 eV" ZN:ZN=../order.tsv
    echo "9500 -5 1" > ../single.tsv
    sites 3 "single.tsv: expected at least two lines" ZN:ZN=../single.tsv
    sites 2 "-intfile ../zinc.tsv would replace the input of -sites ../zinc.tsv" ZN:ZN=../zinc.tsv -intfile ../zinc.tsv
    sites 2 "expected no interpolation" ZN:ZN=table -interpolate
    sites 2 "expected no -dump" ZN:ZN=table -dump ../sites.dump
    expect 2 "expected coordinates (PDB, mmCIF)" sim $crystal -nointerpolate -hkl ../few.hkl -sites ZN:ZN=table -floatfile o
    expect 2 "come from coordinates: expected a PDB or mmCIF file" sim $crystal -default_F 1 -sites ZN:ZN=table -floatfile o
    expect 2 "no such kind of sites, or no such point" grad $pulses -nointerpolate -model ../model.pdb -model_resolution 6 \
        -spectrumfile ../both.txt -sites ZN:ZN=../zinc.tsv -params fp:0:3 -outdir .

    expect 3 "its cell is 40 50 60 90 90 90, the crystal's is 40 50 60 90 100 90" sim $crystal -model ../other.pdb -floatfile o
    expect 3 "k_sol: expected a number from 0 to 10 e/A^3, found -1" sim $crystal -model ../model.pdb -k_sol -1 -floatfile o
    expect 2 "coordinates have no columns" sim $crystal -model ../model.pdb -hkl_columns FP -floatfile o
}
finish
