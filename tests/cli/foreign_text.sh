#!/bin/sh
# Escape codes and line ends of files do not reach the terminal, logs and reports: they are shown as \x1b.
. "$SOURCE_DIR/tests/cli/expectations"
command -v python3 > /dev/null || { echo "skipped: no python3"; exit 77; }
python3 - <<'PYTHON'
import json

esc = "\x1b]0;pwn\x07\x1b[31mred"


def smv(path, detector):
    header = "{\nHEADER_BYTES=512;\nDIM=2;\nBYTE_ORDER=little_endian;\nTYPE=unsigned_short;\nSIZE1=10;\nSIZE2=10;\n" \
        "PIXEL_SIZE=0.1;\nDISTANCE=100;\nWAVELENGTH=1.0;\nBEAM_CENTER_X=0.5;\nBEAM_CENTER_Y=0.5;\n" \
        f"DETECTOR_SN={detector};\n}}\n"
    open(path, "wb").write(header.encode().ljust(512) + b"\1\0" * 100)


smv("head_0001.img", "\x1b[31mred\x9b2J")
smv(esc + "\n_0001.img", "1")
open("key.yaml", "wb").write(b'"mod\\e[31mel\\a\\n": 1\n')
open("bad.hkl", "w").write(f"1 1 {esc} 5\n")
open("group.cif", "w").write("data_x\n_cell.length_a 40\n_cell.length_b 40\n_cell.length_c 40\n_cell.angle_alpha 90\n"
                             f"_cell.angle_beta 90\n_cell.angle_gamma 90\n_symmetry.space_group_name_H-M \"{esc}\"\n"
                             "loop_\n_refln.index_h\n_refln.index_k\n_refln.index_l\n_refln.F_meas_au\n1 0 0 5\n")
panel = {"origin": [-5, 5, -100], "fast_axis": [1, 0, 0], "slow_axis": [0, -1, 0], "pixel_size": [0.1, 0.1],
         "image_size": [10, 10], "trusted_range": [0, 65535], "name": esc, "type": "SENSOR_PAD"}
json.dump({"__id__": "ExperimentList",
           "experiment": [{"__id__": "Experiment", "beam": 0, "detector": 0, "crystal": 0, "imageset": 0}],
           "imageset": [{"__id__": "ImageSet", "images": [esc + "\n_0002.img"]}],
           "beam": [{"direction": [0, 0, 1], "wavelength": 1.0}], "detector": [{"panels": [panel]}],
           "crystal": [{"__id__": "crystal", "real_space_a": [40, 0, 0], "real_space_b": [0, 50, 0],
                        "real_space_c": [0, 0, 60], "space_group_hall_symbol": esc}]}, open("list.expt", "w"))
open("clean.py", "w").write("""
import re, sys
for name in sys.argv[1:]:
    text = open(name, "rb").read()
    bad = re.search(rb"[\\x00-\\x09\\x0b-\\x1f\\x7f]|\\xc2[\\x80-\\x9f]", text)
    assert not bad, (name, text[max(0, bad.start() - 60):bad.end() + 20])
    text.decode()
""")
PYTHON
named=$(ls -d *_0001.img | grep -v head)
# clean ARGUMENTS: what the command prints, however it ends
clean() {
    "$DUALBRAGG" "$@" > printed 2> complained
    cat printed complained >> all
}
shown() {
    grep -qF -- "$1" printed complained || complain "'$1' is not in: $(cat -v printed complained)"
}
small="-cell 40 40 40 -N 5 -detpixels 10 -lambda 1 -distance 100"
clean import head_0001.img -json head.json
shown '\x1b[31mred\xc2\x9b2J'
clean import list.expt
shown '\x1b]0;pwn\x07\x1b[31mred'
clean import head_0001.img list.expt
clean import group.cif
clean import "$named"
shown "\$'\\x1b]0;pwn\\x07\\x1b[31mred\\x0a_0001.img'"
# shellcheck disable=SC2086 # words
clean sim $small -hkl bad.hkl -floatfile a.bin
shown '\x1b'
# shellcheck disable=SC2086 # words
clean sim $small -hkl "$named" -floatfile a.bin
# shellcheck disable=SC2086 # words
clean sim $small -default_F 10 -floatfile "$named.bin" -pngfile "$named.png"
clean compare "$named" head_0001.img
clean add "$named.bin" "$named.bin" -o "$named.sum"
clean sim -expt list.expt -default_F 10 -N 5 -floatfile list.bin
clean fit key.yaml
shown 'mod\x1b[31mel\x07\x0a'
clean fit "$named" --cell 40,40,40 --output folder/
clean fit list.expt "$named" --nosuch"$named"
python3 clean.py all || complain "escape codes are printed"
if [ -f head.json ]; then
    python3 clean.py head.json && grep -qF '\\x1b[31mred' head.json || complain "head.json: escape codes"
fi
finish
