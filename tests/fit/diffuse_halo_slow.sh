#!/bin/sh
# Sigma and gamma of a diffuse halo come back from a still with noise and known structure factors, in closed form, with
# scale, orientation and spread off, too; and from one with three numbers each.
set -eu
. "$SOURCE_DIR/tests/support/refinement"
awk 'BEGIN { srand(7); for (h = -30; h <= 30; h++) for (k = -34; k <= 34; k++) for (l = -38; l <= 38; l++)
    print h, k, l, 20 + 90 * sqrt(-log(1 - rand())) }' > known.hkl
crystal="-hkl known.hkl -cell 60 70 80 90 90 90 -N 14 -gauss_xtal -lambda 1 -distance 140 -detpixels 300 -pixel 0.6 -oversample 1"
still() { # NUMBER SIGMA GAMMA
    "$DUALBRAGG" sim $crystal -fluence 5e27 -spots closed -mosaic_rms 0.1 -misset 12 34 56 -water 0.04 -diffuse_sigma $2 \
        -diffuse_gamma $3 -seed $1 -noisefile still$1.img > out 2>&1 || fail "$(cat out)"
}
configuration() { # NUMBER SIGMA GAMMA
    cat << END
image: still$1.img
model: {cell: [60, 70, 80, 90, 90, 90], misset: [12.01, 33.99, 56.01], Ncells: [14, 14, 14], shape: gauss, spots: closed,
        mosaic_rms: 0.11, oversample: 1, wavelength: 1, distance: 140, fluence: 5.0e+27, scale: 1.1,
        diffuse_sigma: $2, diffuse_gamma: $3}
intensity: {hkl: known.hkl}
data: {background: constant, target: poisson, gain: 1, model_error: 0}
refine:
  misset_x: {range: 0.1}
  misset_y: {range: 0.1}
  misset_z: {range: 0.1}
  mosaic_variance: {}
  scale: {}
END
}
within() { # FILE NAME TRUTH: within four errors, which are below a tenth
    awk -v a="$(refined $1 $2)" -v e="$(value $1 $2 error)" -v t=$3 \
        'BEGIN { print; exit !(e > 0 && e < 0.1 * t && a - t < 4 * e && t - a < 4 * e) }' ||
        fail "$2: $(refined $1 $2) +- $(value $1 $2 error), expected $3"
}
still 1 0.4 30
{ configuration 1 0.3 20; echo "  diffuse_sigma: {}"; echo "  diffuse_gamma: {}"; } > first.yaml
fit 0 first.yaml --output one
within one.json diffuse_sigma 0.4
within one.json diffuse_gamma 30
still 2 "0.3 0.5 0.4" "30 20 40"
{ configuration 2 "[0.4, 0.4, 0.4]" "[25, 25, 25]"; for axis in a b c; do echo "  diffuse_sigma_$axis: {}"; echo "  diffuse_gamma_$axis: {}"; done; } > second.yaml
fit 0 second.yaml --output three
within three.json diffuse_sigma_a 0.3
within three.json diffuse_sigma_b 0.5
within three.json diffuse_sigma_c 0.4
within three.json diffuse_gamma_a 30
within three.json diffuse_gamma_b 20
within three.json diffuse_gamma_c 40
configuration 1 0 20 > zero.yaml
echo "  diffuse_sigma: {}" >> zero.yaml
fit 2 zero.yaml
grep -q "parameter diffuse_sigma can only be refined from a positive start" err || fail "$(cat err)"
for name in diffuse_sigma_b diffuse_gamma_b; do
    { configuration 1 0.3 20; echo "  $name: {}"; } > other.yaml
    fit 2 other.yaml
    grep -q "$name: the model has one diffuse_sigma and one diffuse_gamma for all axes" err ||
        fail "$(cat err)"
done
{ configuration 1 "[0.3, 0.2, 0.1]" 20; echo "  diffuse_gamma: {}"; } > mixed.yaml
fit 2 mixed.yaml
grep -q "diffuse_gamma: the model has three numbers of diffuse_sigma, of diffuse_gamma or of both" err || fail "$(cat err)"
