"""Structure factors of a made-up crystal of lysozyme's cell and size, with two gadolinium sites, by summing over its atoms."""
import numpy as np

from symmetry import CELL, ROTATIONS, absent, inverse_square, representative, unique, sphere

# International Tables C, table 6.1.1.4: a, b, c of the form factor; and how many atoms
ELEMENTS = {
    "C": ([2.31, 1.02, 1.5886, 0.865], [20.8439, 10.2075, 0.5687, 51.6512], 0.2156, 613),
    "N": ([12.2126, 3.1322, 2.0125, 1.1663], [0.0057, 9.8933, 28.9975, 0.5826], -11.529, 193),
    "O": ([3.0485, 2.2868, 1.5463, 0.867], [13.2771, 5.7011, 0.3239, 32.9089], 0.2508, 285),
    "S": ([6.9053, 5.2034, 1.4379, 1.5863], [1.4679, 22.2151, 0.2536, 56.172], 0.8669, 10),
    "Gd": ([25.0709, 19.0798, 13.8518, 3.54545], [2.25341, 0.181951, 12.9331, 101.398], 2.4196, 2),
}
GADOLINIUM = -6.47 + 12.66j  # f' + i f'' at 8.5 keV, Cromer and Liberman
# P43212: translations of the operations of ROTATIONS
TRANSLATIONS = np.array([[0, 0, 0], [0, 0, .5], [.5, .5, .25], [.5, .5, .75], [0, 0, 0], [0, 0, .5], [.5, .5, .75], [.5, .5, .25]])


def form_factor(element, s):
    a, b, c, _ = ELEMENTS[element]
    return c + sum(x * np.exp(-y * s / 4) for x, y in zip(a, b)) + (GADOLINIUM if element == "Gd" else 0)


def amplitudes(hkl, seed=19):
    """Complex structure factors (electrons)."""
    random = np.random.default_rng(seed)
    s = inverse_square(hkl)
    total = np.zeros(len(hkl), complex)
    for element, (_, _, _, count) in ELEMENTS.items():
        place = random.random((count, 3))
        b = np.maximum(random.gamma(6, 3, count), 6)
        occupancy = np.array([0.8, 0.6]) if element == "Gd" else np.ones(count)
        part = np.zeros(len(hkl), complex)
        for x, width, weight in zip(place, b, occupancy):
            images = ROTATIONS @ x + TRANSLATIONS
            part += weight * np.exp(-width * s / 4) * np.exp(2j * np.pi * (hkl @ images.T)).sum(1)
        total += form_factor(element, s) * part
    return total


def intensities(d_min, seed=19):
    """Numbers of `unique`, and F of each: all reflections of the asymmetric unit to a resolution, mates apart."""
    number = np.unique(unique(sphere(d_min))[0])
    hkl = representative(number)
    number, hkl = number[~absent(hkl)], hkl[~absent(hkl)]
    return number, abs(amplitudes(hkl, seed))


def write(path, number, f, d_min, invert=False):
    """The whole sphere as lines of h k l F; `invert`: of the other hand."""
    hkl = sphere(d_min)
    all_numbers = unique(-hkl if invert else hkl)[0]
    place = np.searchsorted(number, all_numbers).clip(max=len(number) - 1)
    known = number[place] == all_numbers
    np.savetxt(path, np.column_stack([hkl[known], f[place[known]]]), fmt="%d %d %d %.4f")
