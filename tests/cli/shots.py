"""Labels of a training set. usage: shots.py SET SASE SAMPLED_WITH_WATER SAMPLED WITHOUT_REFLECTIONS DIVERGENT SPECTRUM SPOTS"""
import sys

import h5py
import hdf5plugin  # noqa: F401
import numpy

with h5py.File(sys.argv[1]) as file:
    images, shots, spots = file["entry/data/data"][()], file["entry/shots"], file["entry/shots/reflections"]
    assert images.shape == (7, 150, 150) and shots["number"][()].tolist() == list(range(1, 8))
    turns, quaternions = shots["orientation"][()], shots["quaternion"][()]
    assert numpy.allclose(turns @ turns.transpose(0, 2, 1), numpy.eye(3), atol=1e-12)
    assert numpy.allclose(numpy.linalg.det(turns), 1)
    w, x, y, z = quaternions.T
    assert numpy.allclose(w * w + x * x + y * y + z * z, 1)
    again = numpy.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                         [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                         [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    assert numpy.allclose(again.transpose(2, 0, 1), turns, atol=1e-12)
    cell, ub = shots["cell"][()], shots["ub_matrix"][()]
    assert (cell[:, 0] == cell[:, 1]).all() and 0 < cell[:, 0].std() / 78 < 0.006
    assert numpy.allclose(numpy.linalg.norm(ub, axis=1), 1 / cell[:, :3])
    assert abs(images.sum(axis=(1, 2)) / shots["photons"][()] - 1).max() < 1e-4
    assert len(set(shots["noise_seed"][()])) == 7 and shots["wavelength"][()].std() > 0
    module = file["entry/instrument/detector/module_0000"]
    along = [module[name].attrs["vector"] for name in ("fast_pixel_direction", "slow_pixel_direction")]
    corner = module["module_offset"][()] * module["module_offset"].attrs["vector"] + (0, 0, file["entry/instrument/detector/distance"][()])
    for shot in range(7):
        rows = slice(spots["first"][shot], spots["first"][shot] + spots["count"][shot])
        assert (spots["shot"][rows] == shot).all() and spots["count"][shot] > 5
        photons, position, hkl = spots["photons"][rows], spots["position"][rows], spots["hkl"][rows]
        # one wavelength
        assert abs(spots["wavelength"][rows] / shots["wavelength"][shot] - 1).max() < 1e-12
        assert spots["wavelength_width"][rows].max() < 1e-9
        best = photons.argmax()
        fast, slow = position[best].astype(int)
        box = images[shot, max(slow - 3, 0):slow + 4, max(fast - 3, 0):fast + 4]
        assert box.sum() > 0.8 * photons[best], (shot, box.sum(), photons[best])
        # the label's lattice sends it there; partial spots are off their nodes
        ray = ub[shot] @ hkl[best] + (0, 0, 1 / shots["wavelength"][shot])
        across = ray * (corner[2] / ray[2]) - corner
        assert abs(numpy.array([across @ axis for axis in along]) / 5e-4 - position[best]).max() < 2

with h5py.File(sys.argv[2]) as file:
    beam = file["entry/instrument/beam"]
    waves, weights = beam["incident_wavelength_1Dspectrum"][()], beam["incident_wavelength_1Dspectrum_weights"][()]
    assert waves.shape == weights.shape and len(waves) == 3 and numpy.allclose(weights.sum(axis=1), 1)
    assert beam["incident_wavelength"].attrs["variant"] == b"incident_wavelength_1Dspectrum"
    assert abs(weights[0] - weights[1]).max() > 0.01 and abs((weights * waves).sum(axis=1) / 1.3 - 1).max() < 2e-3

# the list of spots of a still by itself, which has a spectrum of three lines
with h5py.File(sys.argv[7]) as file:
    spots = file["entry/shots/reflections"]
    listed = {tuple(line[:3].astype(int)): line for line in numpy.loadtxt(sys.argv[8])}
    names = next(line for line in open(sys.argv[8]) if " wave_width " in line).split()[1:]
    assert len(listed) == len(spots["hkl"]) > 20
    for name, column in ("wavelength", "wavelength"), ("wavelength_width", "wave_width"):
        assert spots[name].attrs["units"] in ("angstrom", b"angstrom"), spots[name].attrs["units"]
        there = numpy.array([listed[tuple(hkl)][names.index(column)] for hkl in spots["hkl"]])
        assert numpy.allclose(spots[name], there, rtol=6e-3 if column == "wave_width" else 0, atol=1e-7), name
    assert spots["wavelength_width"][()].max() > 1e-3 and 1.285 < spots["wavelength"][()].min() < spots["wavelength"][()].max() < 1.315

with h5py.File(sys.argv[6]) as file:
    beam = file["entry/instrument/beam"]
    weights = beam["incident_wavelength_1Dspectrum_weights"][0]
    assert len(weights) % 3 == 0 and (weights.reshape(-1, 3) == weights[::3, None]).all()
    middle = [file["entry/instrument/detector/beam_center_" + axis][()] for axis in "xy"]
    assert abs(middle[0] - 76) < 0.01 and abs(middle[1] - 76) < 0.01, middle

# sampled spots: all that is not background, and each where the image has it
with h5py.File(sys.argv[3]) as wet, h5py.File(sys.argv[4]) as dry, h5py.File(sys.argv[5]) as bare:
    assert "reflections" not in bare["entry/shots"]
    for name, rows in dry["entry/shots/reflections"].items():
        assert (rows[()] == wet["entry/shots/reflections"][name][()]).all(), name
    assert (wet["entry/data/data"][()] - dry["entry/data/data"][()]).min() > 0
    images, spots = dry["entry/data/data"][()], dry["entry/shots/reflections"]
    for shot in range(2):
        rows = slice(spots["first"][shot], spots["first"][shot] + spots["count"][shot])
        photons, position = spots["photons"][rows], spots["position"][rows]
        assert 0.9 < photons.sum() / images[shot].sum() < 1.000001 and spots["count"][shot] > 20
        best = photons.argmax()
        fast, slow = position[best].astype(int)
        box = images[shot, max(slow - 3, 0):slow + 4, max(fast - 3, 0):fast + 4]
        assert abs(box.sum() / photons[best] - 1) < 0.2, (box.sum(), photons[best])
