"""The first shots of a set of make_set.py, of what DIALS has of it.

usage: dials_part.py FOLDER SHOTS IN.expt OUT.expt [IN.refl OUT.refl]
"""
import os
import sys

import h5py
import numpy as np
from dials.array_family import flex
from dxtbx.model.experiment_list import ExperimentList, ExperimentListFactory

from monte_carlo import files_of


def sources(folder):
    """Of each file of a set: the number of shots before it."""
    before, total = {}, 0
    for path in files_of(folder):
        before[os.path.realpath(path)] = total
        with h5py.File(path) as file:
            total += len(file["entry/data/data"])
    return before


def source(experiment):
    """File of a shot, and its place there."""
    return os.path.realpath(experiment.imageset.paths()[0]), experiment.imageset.indices()[0]


def main():
    folder, shots = sys.argv[1], int(sys.argv[2])
    experiments, before = ExperimentListFactory.from_json_file(sys.argv[3], check_format=False), sources(folder)
    numbers = [before[path] + place for path, place in map(source, experiments)]
    chosen = [i for i in np.argsort(numbers) if numbers[i] < shots]
    ExperimentList([experiments[int(i)] for i in chosen]).as_json(sys.argv[4])
    if len(sys.argv) > 5:
        spots, parts = flex.reflection_table.from_file(sys.argv[5]), []
        for new, old in enumerate(chosen):
            part = spots.select(spots["id"] == int(old))
            for name in list(part.experiment_identifiers().keys()):
                del part.experiment_identifiers()[name]
            part["id"] = flex.int(len(part), new)
            part.experiment_identifiers()[new] = experiments[int(old)].identifier
            parts.append(part)
        flex.reflection_table.concat(parts).as_file(sys.argv[6])


if __name__ == "__main__":
    main()
