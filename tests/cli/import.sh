#!/bin/sh
# dualbragg import: what is understood of files, alone and together; damaged ones do not stop the others.
. "$SOURCE_DIR/tests/cli/expectations"
corpus=$SOURCE_DIR/tests/fuzz/corpus
features=$("$DUALBRAGG" --version)
has() {
    echo "$features" | grep -q "$1"
}

# told KEY TEXT: a line of the last output
told() {
    grep -q -- "^  $1  *$2" ../out || complain "import: '$1 ... $2' is not in: $(cat ../out)"
}
says() {
    grep -qF -- "$1" ../out || complain "import: '$1' is not in: $(cat ../out)"
}

# An image and a matrix of our own, and what they mean.
# shellcheck disable=SC2086 # words
succeed sim $small -intfile shot_0001.img -floatfile shot.f32 --quiet
succeed orient -cell 40 50 60 90 100 90 -misset 10 20 30 -lambda 1.3 -o shot.mat --quiet
succeed import shot_0001.img shot.mat
told format SMV
told pixels "40 x 30 "
told "pixel size" "0.5 x 0.5 mm"
told wavelength "1.3 A (9537.2 eV)"
told distance "70 mm"
told "beam centre" "21.00, 16.00 pixels"
told scan "a still"
told cell "40 50 60 A, 90 100 90 degree"
says "missing for sim:  structure factors"
grep -q "missing for fit" ../out && complain "import: something is missing for a fit: $(cat ../out)"
says "dualbragg fit shot_0001.img --matrix shot.mat"

# Electrons of 300 kV.
# shellcheck disable=SC2086 # words
succeed sim $small -lambda 0.0196874889 -intfile electrons_0001.img --quiet
succeed import electrons_0001.img
told wavelength "0.01968749 A (electrons of 300.0 keV)"

# Without what a header does not say, the flags that give it; floats are of no format.
expect_kept() {
    keep=$(ls -A)
    expect "$@"
}
expect_kept 3 "shot.f32: expected a file of a known format, found none; import cannot recognize raw floats" import shot.f32
: > empty.cbf
expect_kept 3 "empty.cbf: the file is empty" import empty.cbf
expect_kept 3 "missing.cbf: cannot open: No such file" import missing.cbf
says "missing.cbf: not read"
mkdir folder.cbf
expect_kept 3 "folder.cbf: expected a file, found a directory" import folder.cbf
mkfifo pipe.cbf
expect_kept 3 "pipe.cbf: expected a file, found a pipe or device" import pipe.cbf
expect_kept 2 "expected files, found none" import
expect_kept 3 "cannot open" import nothing.img
printf 'not an image' > odd.img
expect_kept 3 "odd.img" import odd.img shot.mat
told matrix "A\* times the wavelength"
head -c 1500 shot_0001.img > cut.img
expect_kept 3 "cut.img" import cut.img shot.mat
told "cell over wavelength" "30.769 38.462 46.154"

# No output is an input.
expect_kept 2 "shot.mat" import shot_0001.img shot.mat -json shot.mat

if has JSON; then
    # as a list it makes the same image
    succeed import shot_0001.img shot.mat -o shot.expt --quiet
    succeed sim -expt shot.expt -default_F 100 -N 4 -oversample 1 -polar 0 -floatfile listed.f32 --quiet
    # a list in any folder leads to its image
    mkdir mv out
    cp shot_0001.img mv
    succeed import mv/shot_0001.img shot.mat -o out/moved.expt --quiet
    grep -qF "\"$(pwd -P)/mv/shot_0001.img\"" out/moved.expt || complain "no whole path: $(grep -F shot_0001 out/moved.expt)"
    # names without a number: of stills only
    cp shot_0001.img shot.img
    succeed import shot.img shot.mat -o out/still.expt --quiet
    grep -qF "\"$(pwd -P)/shot.img\"" out/still.expt || complain "a still is not named: $(grep -F shot.img out/still.expt)"
    # shellcheck disable=SC2086 # words
    succeed sim $small -osc 1 -intfile turned.img --quiet
    succeed import turned.img -o out/turned.expt
    grep -q "out/turned.expt: leaves the image out: expected a number before the extension" ../err || complain "an image is left out: $(cat ../err)"
    # what sim does not use of a list is named, and nothing else
    sed 's/"__id__": *"crystal"/&, "ML_domain_size_ang": 800/' shot.expt > blocks.expt
    succeed sim -expt blocks.expt -default_F 100 -N 4 -oversample 1 -polar 0 -floatfile blocks.f32
    says "blocks.expt: domain size (800 A) not used; give crystal size and mosaic spread"
    succeed compare shot.f32 listed.f32 -brightest 1e-4 -detpixels_f 40 -detpixels_s 30
    succeed import shot.expt
    told cell "40 50 60 A"
    says "next:"
    eval "$(sed -n 's/^  dualbragg sim/"$DUALBRAGG" sim --quiet/p' ../out)" || complain "the command that is proposed fails"
    succeed import shot_0001.img -o geometry.expt --quiet
    succeed import geometry.expt
    for file in two.geom hdf5_modules.nxs; do
        case $file:$("$DUALBRAGG" --version) in *.nxs:*HDF5* | *.geom:*) ;; *) continue ;; esac
        succeed import "$corpus/$file" -o placed.expt --quiet
        succeed import placed.expt
    done
    grep -q "^  cell" ../out && complain "a crystal from nowhere"
    case $("$DUALBRAGG" --version) in *gemmi*)
        succeed import "$corpus/xparm_segments.XDS" -o grouped.expt
        told group 89
        grep -q '" P 4 2"' grouped.expt || complain "space group of XPARM.XDS: $(grep hall grouped.expt)"
        succeed import grouped.expt -o grouped_again.expt
        told group " P 4 2 (Hall)"
        grep -q '" P 4 2"' grouped_again.expt || complain "space group of a list: $(grep hall grouped_again.expt)"
        for stated in " P 2 (x+1/12,y,z)" "P 2 (x+1/12,y,z)"; do
            sed "s|\" P 4 2\"|\"$stated\"|" grouped.expt > untabled.expt
            succeed import untabled.expt -o untabled_again.expt
            grep -q '" P 2 (x+1/12,y,z)"' untabled_again.expt ||
                complain "space group '$stated' of no table: $(grep hall untabled_again.expt)"
        done
        ;;
    esac
    printf 'data_x\n_symmetry.space_group_name_H-M "P 1"\n_cell.length_a 30\n_cell.length_b ?\n_cell.length_c 50\nloop_\n_refln.index_h\n_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n1 2 3 10\n' > no_cell.cif
    succeed import no_cell.cif
    grep -q "reflections" ../out || complain "a CIF list without a cell: $(cat ../out)"
    grep -q "cell.*nan" ../out && complain "a cell of three numbers"
    # a sensor goes on, from every kind of geometry
    images=
    has HDF5 && images=sensor.h5
    # shellcheck disable=SC2086 # words
    succeed sim $small -detector_thick 300 -detector_material Si -intfile sensor_0001.img -exptfile sensor.expt ${images:+-hdf5file $images} --quiet
    for file in sensor_0001.img sensor.expt $images; do
        succeed import $file -o out/sensor.expt --quiet
        succeed sim -expt out/sensor.expt -cell 40 50 60 -default_F 100 -N 4 -oversample 1 -floatfile sensor.f32
        says "sensor is 0.0003 m thick"
    done
    [ -z "$images" ] || {
        # shellcheck disable=SC2086 # words
        succeed sim $small -detector_thick 300 -detector_abs 200 -hdf5file unknown.h5 --quiet
        succeed import unknown.h5 -o out/unknown.expt
        grep -q "out/unknown.expt leaves out the sensor of unknown.h5, whose absorption is not known" ../err || complain "an unknown sensor: $(cat ../err)"
    }
    # gain, pedestal, trusted range, names and masks go on
    # shellcheck disable=SC2086 # words
    succeed sim $small -scale 7 -intfile scaled_0001.img --quiet
    succeed import scaled_0001.img -o out/scaled.expt -json scaled.json
    sed 's/adu_per_eV = .*/adu_per_photon = 30/' "$corpus/two.geom" > two.geom
    printf 'flag_equal = 3\np1/mask_edge_pixels = 2\nbad_xy/min_x = 1\nbad_xy/max_x = 2\nbad_xy/min_y = 1\nbad_xy/max_y = 2\n' >> two.geom
    succeed import two.geom -o out/two.expt
    grep -q "two.geom: the polarization is not stated; out/two.expt has the fraction 0.999" ../err || complain "a polarization: $(cat ../err)"
    grep -q "out/two.expt leaves out what two.geom says of: places of panels in arrays, bad regions by x and y, groups of panels$" ../err ||
        complain "what two.expt leaves out: $(cat ../err)"
    sed 's/"pedestal": 0.0/"pedestal": 10.0/' out/two.expt > listed.expt
    succeed import listed.expt -o out/listed.expt
    [ ! -s ../err ] || complain "listed.expt leaves something out: $(cat ../err)"
    succeed import two.geom scaled_0001.img -o out/both.expt --quiet
    python3 - << 'END' || complain "a list lacks what import has read"
import json
def panels(name):
    return json.load(open(name))["detector"][0]["panels"]
facts = json.load(open("scaled.json"))["files"][0]["facts"]
(image,) = panels("out/scaled.expt")
assert (image["gain"], image["pedestal"], image["mask"]) == (facts["gain"], 40, []) and facts["gain"] == 7, (image, facts)
assert image["trusted_range"] == [1, facts["saturation"] + 40], (image, facts)  # 0 is no count, whatever this image has
# a fraction that the files do not state is that of lists without it
said = [json.load(open(f"out/{name}.expt"))["beam"][0]["polarization_fraction"] for name in ("scaled", "two", "listed")]
assert all(abs(fraction - 0.999) < 1e-12 for fraction in said), said
said = panels("out/two.expt")
assert [p["name"] for p in said] == ["p0", "p1"] and [p["gain"] for p in said] == [30, 30], said
assert said[0]["trusted_range"] == [-1e9, 12000] and said[0]["mask"] == [], said[0]
edges = [[0, 0, 20, 2], [0, 13, 20, 15], [0, 0, 2, 15], [18, 0, 20, 15]]
assert said[1]["mask"] == edges + [[3, 2, 5, 3]], said[1]
assert [(p["pedestal"], p["gain"], p["name"]) for p in panels("out/listed.expt")] == [(10, 30, "p0"), (10, 30, "p1")]
assert [p["mask"] for p in panels("out/listed.expt")] == [p["mask"] for p in said]
assert [(p["pedestal"], p["gain"]) for p in panels("out/both.expt")] == [(40, 30), (40, 30)]
END
    # what contradicts
    sed 's/"wavelength": 1\.3[0-9]*/"wavelength": 1.4/' shot.expt > other.expt
    succeed import shot_0001.img other.expt
    says "does not fit:     wavelength: 1.3 A in shot_0001.img, 1.4 A in other.expt"
    succeed import shot.expt "$corpus/list.expt"
    says "cell: 40 50 60 90 100 90 in shot.expt, 10 10 10 90 90 90 in"
    succeed import shot_0001.img shot.mat "$corpus/two.geom" "$corpus/run.stream" -json all.json
    told experiments "3, of which this is number 0"
    told trusted "up to 12000 counts"
    python3 - << 'END' || complain "all.json is not what it should be"
import json
d = json.load(open("all.json"))
image, matrix, geom, stream = d["files"]
assert image["kind"] == "SMV" and image["holds"] == ["images", "geometry"], image
assert image["facts"]["pixels"] == [40, 30] and image["facts"]["wavelength"] == 1.3, image
assert matrix["holds"] == ["crystals"] and len(matrix["facts"]["matrix"]) == 9, matrix
assert geom["holds"] == ["geometry"] and geom["error"] is None, geom
assert stream["facts"]["experiments"] == [3, 0] and stream["facts"]["trusted"] == [None, 12000], stream
assert any(c.startswith("wavelength: 1.3 A") for c in d["conflicts"]) and any("crystals is on" in c for c in d["conflicts"]), d["conflicts"]
END
fi
{
    cp "$SOURCE_DIR"/tests/fuzz/corpus/xparm_old.XDS .
    succeed import xparm_old.XDS
    told scan "10 to 10.5 degree"
}
has HDF5 && {
    succeed import "$corpus/hdf5_stack.h5"
    told images "2: $corpus/hdf5_stack.h5#1 to #2"
    says "geometry of the panels"
    succeed import "$corpus/hdf5_chain.nxs"
    told sweep "1 to 3 degree, all images"
    succeed import "$corpus/table_hdf5.refl"
    told indexed 3
    expect_kept 3 "hdf5_cut.h5" import "$corpus/hdf5_cut.h5"
}
has TIFF && {
    succeed import "$corpus/pages.tif"
    told images "2: $corpus/pages.tif#1 to #2"
}
finish
