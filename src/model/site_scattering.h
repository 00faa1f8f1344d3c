/* Structure factors of sites whose scattering depends on the photon energy. Include once per (REAL,
 * DIRS) that needs it, after ad/num.h. Source: docs/theory/anomalous.md, Structure factors by energy. */

#define site_sum AD_NUM(site_sum)
#define site_factor AD_NUM(site_factor)
#define site_square AD_NUM(site_square)

typedef struct {
    num real, imaginary;
} site_sum;

/* F of a reflection. part: real and imaginary part of F of the rest, then of each kind's geometric
 * factor G; curve: f' and f'' of each kind at the energy. F = rest + sum (f' + i f'') G. */
AD_INLINE site_sum site_factor(int kinds, const lane *part, const num *curve) {
    site_sum f = { n_passive(part[0]), n_passive(part[1]) };
    for (int k = 0; k < kinds; k++) {
        const lane *const g = part + 2 + 2 * k;
        const num *const c = curve + 2 * k;
        f.real = n_add(f.real, n_sub(n_scale(c[0], g[0]), n_scale(c[1], g[1])));
        f.imaginary = n_add(f.imaginary, n_add(n_scale(c[0], g[1]), n_scale(c[1], g[0])));
    }
    return f;
}

AD_INLINE num site_square(int kinds, const lane *part, const num *curve) {
    const site_sum f = site_factor(kinds, part, curve);
    return n_add(n_sqr(f.real), n_sqr(f.imaginary));
}
