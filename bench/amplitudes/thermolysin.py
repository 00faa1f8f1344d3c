"""Intensities of thermolysin's three stills, beside calculated ones (few_shots.py); then of all three jointly, free and held to the
calculated ones.

usage: thermolysin.py DUALBRAGG FOLDER, with the stills in $SHARED_DIR/realdata/thermolysin (default ../shared)
"""
import glob
import os
import subprocess
import sys

SHOTS = {401: (1.272607, 93.3437, 131.1994), 601: (1.272444, 93.2257, 130.8016), 801: (1.270917, 93.3569, 131.0117)}
CONFIGURATION = """shots: {list: three.txt}
model: {expt: %s/imported.expt, symmetry: P 61 2 2, spots: closed, Ncells: [14, 14, 10], mosaic_rms: 0.1, bandwidth_rms: 0.002}
%s
refine:
  misset_x: {range: 1}
  misset_y: {range: 1}
  misset_z: {range: 1}
  cell_a: {range: 1}
  cell_c: {range: 1}
  mosaic_variance: {min: 0, max: 0.5}
  bandwidth_variance: {min: 0, max: 30}
"""
here, program = os.path.dirname(os.path.abspath(__file__)), os.path.abspath(sys.argv[1])
data = os.path.abspath(os.path.join(os.environ.get("SHARED_DIR", "../shared"), "realdata", "thermolysin"))
os.makedirs(sys.argv[2], exist_ok=True)
os.chdir(sys.argv[2])
with open("three.txt", "w") as shots:
    for number, (wavelength, a, c) in SHOTS.items():
        name = os.path.join(data, "idx-20130301060858%d" % number)
        with open(name + ".amatrix") as listed, open("%d.mat" % number, "w") as out:
            for row in listed:
                out.write(" ".join("%.12g" % (float(x) * wavelength) for x in row.split()) + "\n")
        shots.write("%s.cbf model.matrix=%d.mat model.cell=[%g, %g, %g, 90, 90, 120] model.wavelength=%g\n" % (name, number, a, a, c, wavelength))
JOINT = "intensity: joint\nintensities: {dmin: 2.2, anomalous: no, reference: %s/2tli_P1_2.0A.mtz%s}"
WAYS = {"thermolysin": "intensity: free", "jointly": JOINT % (data, ""), "held": JOINT % (data, ", reference_restraint: 0.3")}
for name, way in WAYS.items():
    with open("%s_in.yaml" % name, "w") as out:
        out.write(CONFIGURATION % (data, way))
    more = ["--model-image"] if name == "thermolysin" else []
    subprocess.run([program, "fit", "%s_in.yaml" % name, "--output", name, "--no-report", "--quiet", *more], check=True)
    if not more:
        with open(name + ".log") as said:
            print(name + ": " + said.read().split("Intensities that all shots share", 1)[1].split("\n\n")[0])
subprocess.run([sys.executable, os.path.join(here, "few_shots.py"), os.path.join(data, "2tli_P1_2.0A.mtz"),
                *sorted(glob.glob("thermolysin_shots/*.hkl"))], check=True)
