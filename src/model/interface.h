/* The interface between the model and the pixel loop: everything a pixel needs, as dual numbers of
 * the current width. Include once per (REAL, DIRS), LANES = 1. The pixel's intensity is a smooth
 * function of these values alone, so its derivatives with respect to parameters are those with
 * respect to these values, contracted with their slopes (docs/theory/derivatives.md, Interface
 * contraction). */
#include "ad/num.h"
#include "model/halo.h"

#define panel_interface AD_NUM(panel_interface)
#define source_interface AD_NUM(source_interface)
#define spread_interface AD_NUM(spread_interface)
#define interface_values AD_NUM(interface_values)

/* Lengths in metre, laboratory frame. */
typedef struct {
    vec3 origin;     /* outer corner of the first pixel */
    vec3 fast, slow; /* unit vectors */
    vec3 normal;     /* unit vector, away from the sample */
    num z;           /* distance of the panel's plane along its normal */
    /* of the sphere that a curved panel wraps around */
    num radius;               /* distance to the plane along the beam */
    num beam_fast, beam_slow; /* where the direct beam meets the plane, from the origin */
    /* for spots in closed form: covariance of the places (m^2; xx, yy, zz, xy, xz, yz) by footprint,
     * point spread and the (sub-)pixel itself */
    num spread[6];
} panel_interface;

typedef struct {
    num kappa;           /* 1/wavelength (1/angstrom) */
    vec3 s0;             /* incident wave vector: unit direction / wavelength (1/angstrom) */
    num polarization[6]; /* symmetric tensor W: P = (1 + d.W d)/2; xx, yy, zz, xy, xz, yz */
    num weight;          /* normalized: the weights of all sources sum to 1 */
} source_interface;

#ifndef DB_MODEL_PARTS
#define DB_MODEL_PARTS
/* Parts of a spot's covariance; those that are 0 and have no slopes are left out. */
enum {
    DB_PART_ROTATION = 1,
    DB_PART_STRAIN = 2, /* along all directions */
    DB_PART_STRAIN_TENSOR = 4,
    DB_PART_MODE = 8 /* of the first mode; the next ones are twice as large each */
};
#endif

/* Of spots in closed form. Standard frame: x, y, z along a*, c x a*, c, before any rotation.
 * Symmetric tensors: xx, yy, zz, xy, xz, yz. */
typedef struct {
    mat3 reciprocal; /* rows a*, b*, c* (1/angstrom) in the standard frame */
    mat3 turn;       /* standard frame -> laboratory at the start of the rotation */
    vec3 spindle;    /* unit vector */
    num size[6];     /* covariance of a block's transform around a node (1/angstrom^2) */
    num volume;      /* of that transform (1/angstrom^3), less a factor (2 pi)^(3/2): peak times
                         the root of the determinant of its covariance */
    num rotation[6]; /* covariance of the blocks' rotations (radian^2) */
    num strain;      /* variance of the strain of blocks along all directions */
    num strain_direct[3]; /* variances of the strains E_xx, E_yy, E_zz, before ties */
    num strain_shear[3];  /* of E_yz, E_zx, E_xy */
    mat3 mode[DB_SPREAD_MODES];
    num tail_fraction[DB_SPREAD_TAILS + 1]; /* of all blocks in each Gaussian; sum 1 */
    num tail_variance[DB_SPREAD_TAILS + 1]; /* by this the first one's covariance is multiplied */
    num bandwidth;                          /* relative variance of the wavelength */
    num divergence[6];                      /* covariance of the direction (radian^2), laboratory */
    int parts;                              /* DB_PART_*: what may be left out of a spot */
} spread_interface;

typedef struct {
    mat3 lattice; /* rows a, b, c (angstrom) at the first phi step, without mosaic rotation */
    mat3 *
        rotation; /* [phi_steps * domains], domain fastest (spots in closed form: db_sample_count): takes a
                        laboratory vector into the frame of `lattice` */
    num cells[3];    /* N_a, N_b, N_c */
    num b_factor;    /* of the Debye-Waller factor (angstrom^2) */
    num scale;       /* r_e^2 x fluence x scale / (sub-pixels x phi steps x domains) */
    num layer_step;  /* depth from one layer of the sensor to the next (m) */
    num attenuation; /* of the sensor (1/m) */
    /* squared amplitudes of what scatters without a lattice, times phi steps x domains, of which
     * `scale` contains the inverse */
    num water;     /* (electrons) */
    num molecules; /* number of amorphous molecules, to be multiplied by theirs */
    panel_interface *panel;
    source_interface *source;
    num *site_curve; /* [sources][kinds of sites][2]: f' and f'' at the source's energy; or NULL */
    /* U, M, density and tail of the diffuse halo (model/halo.h), of a crystal that has one */
    num halo[DB_HALO_NUMBERS];
    spread_interface spread; /* filled for spots in closed form only */
} interface_values;
