"""Gives DIALS the true geometry, wavelengths, cells and orientations of a set of make_set.py, and indexes strong spots with them.

usage: dials_index.py IMPORTED.expt STRONG.refl OUT.expt OUT.refl
"""
import os
import sys

import h5py
import numpy as np
from dials.algorithms.indexing.assign_indices import AssignIndicesGlobal
from dials.array_family import flex
from dxtbx.model import MosaicCrystalSauter2014
from dxtbx.model.experiment_list import ExperimentList, ExperimentListFactory

from dials_part import source
from monte_carlo import mean_wavelength

TURN = np.diag([-1.0, 1.0, -1.0])  # from the frame of NeXus
HALF_MOSAICITY = float(os.environ.get("HALF_MOSAICITY", 0.08))  # degree; the bandwidth counts, too


def main():
    imported, strong, experiments_out, spots_out = sys.argv[1:5]
    experiments = ExperimentListFactory.from_json_file(imported)
    spots = flex.reflection_table.from_file(strong)
    kept, tables = ExperimentList(), []
    for i, experiment in enumerate(experiments):
        path, place = source(experiment)
        with h5py.File(path) as file:
            real = np.linalg.inv(TURN @ file["entry/shots/ub_matrix"][place])
            wavelength = float(mean_wavelength(file["entry/instrument/beam"], place))
        experiment.crystal = MosaicCrystalSauter2014(*[tuple(row) for row in real], space_group_symbol="P43212")
        experiment.crystal.set_half_mosaicity_deg(HALF_MOSAICITY)
        experiment.crystal.set_domain_size_ang(2400)
        experiment.beam.set_wavelength(wavelength)
        experiment.scan, experiment.goniometer = None, None
        own = spots.select(spots["id"] == i)
        own["id"] = flex.int(len(own), 0)
        own["imageset_id"] = flex.int(len(own), 0)
        one = ExperimentList([experiment])
        own.centroid_px_to_mm(one)
        own.map_centroids_to_reciprocal_space(one)
        own["id"] = flex.int(len(own), -1)
        AssignIndicesGlobal(tolerance=0.3)(own, one)
        own = own.select(own["id"] == 0)
        if len(own) < 10:
            continue
        own["id"] = flex.int(len(own), len(kept))
        for name in list(own.experiment_identifiers().keys()):
            del own.experiment_identifiers()[name]
        own.experiment_identifiers()[len(kept)] = experiment.identifier
        own.set_flags(flex.bool(len(own), True), own.flags.indexed)
        kept.append(experiment)
        tables.append(own)
    kept.as_json(experiments_out)
    total = sum(len(t) for t in tables)
    flex.reflection_table.concat(tables).as_file(spots_out)
    print("%d of %d shots, %d indexed spots" % (len(kept), len(experiments), total))


main()
