"""Structure factors of an invented crystal: h k l F in P1, Wilson distribution, falling off with resolution.

usage: amplitudes.py A B C ALPHA BETA GAMMA D_MIN
"""
import math
import random
import sys

a, b, c = (float(word) for word in sys.argv[1:4])
alpha, beta, gamma = (math.radians(float(word)) for word in sys.argv[4:7])
d_min = float(sys.argv[7])
ca, cb, cg = math.cos(alpha), math.cos(beta), math.cos(gamma)
volume = a * b * c * math.sqrt(1 - ca * ca - cb * cb - cg * cg + 2 * ca * cb * cg)
g = {  # reciprocal metric tensor
    "hh": (b * c * math.sin(alpha) / volume) ** 2,
    "kk": (a * c * math.sin(beta) / volume) ** 2,
    "ll": (a * b * math.sin(gamma) / volume) ** 2,
    "hk": 2 * a * b * c * c * (ca * cb - cg) / volume ** 2,
    "hl": 2 * a * b * b * c * (ca * cg - cb) / volume ** 2,
    "kl": 2 * a * a * b * c * (cb * cg - ca) / volume ** 2,
}
limits = [int(edge / d_min) + 1 for edge in (a, b, c)]
random.seed(20)
for h in range(-limits[0], limits[0] + 1):
    for k in range(-limits[1], limits[1] + 1):
        for l in range(-limits[2], limits[2] + 1):
            if (h, k, l) <= (0, 0, 0):
                continue
            s2 = (g["hh"] * h * h + g["kk"] * k * k + g["ll"] * l * l + g["hk"] * h * k + g["hl"] * h * l + g["kl"] * k * l)
            if s2 > d_min ** -2:
                continue
            f = 300 * math.sqrt(-math.log(1 - random.random())) * math.exp(-20 * s2 / 4)
            print(h, k, l, "%.2f" % f)
            print(-h, -k, -l, "%.2f" % f)
