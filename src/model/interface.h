/* Interface values, between the model and the pixel loop: everything that a pixel needs, as dual numbers
 * of the current width. Include once per (REAL, DIRS), LANES = 1. The intensity of a pixel is a smooth
 * function of the interface values alone. A derivative by a parameter is therefore the contraction of
 * the derivatives by interface values with the slopes of the interface values by the parameter
 * (docs/theory/derivatives.md, Interface contraction). */
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
    /* curved panels: the sphere around which the panel is wrapped */
    num radius;               /* distance to the plane along the beam */
    num beam_fast, beam_slow; /* where the direct beam meets the plane, from the origin */
    /* spots in closed form: covariance of the places of photons (m^2; xx, yy, zz, xy, xz, yz) by
     * footprint, point spread and the (sub-)pixel itself */
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
/* Parts of a spot's covariance. A part that is 0 and has no slopes is left out. */
enum {
    DB_PART_ROTATION = 1,
    DB_PART_STRAIN = 2, /* along all directions */
    DB_PART_STRAIN_TENSOR = 4,
    DB_PART_MODE = 8 /* the first mode; the bits of further modes follow (DB_PART_MODE << k) */
};
#endif

/* Values that spots in closed form depend on. Standard frame: x, y, z along a*, c x a*, c, before any
 * rotation. Symmetric tensors: xx, yy, zz, xy, xz, yz. */
typedef struct {
    mat3 reciprocal;      /* rows a*, b*, c* (1/angstrom) in the standard frame */
    mat3 turn;            /* standard frame -> laboratory at the start of the rotation */
    vec3 spindle;         /* unit vector */
    num size[6];          /* covariance of a block's transform around a node (1/angstrom^2) */
    num volume;           /* integral of a block's transform around a node, without (2 pi)^(3/2)
                         (1/angstrom^3): its peak times the root of det(size) */
    num rotation[6];      /* covariance of the blocks' rotations (radian^2) */
    num strain;           /* variance of the strain of blocks along all directions */
    num strain_direct[3]; /* variances of the strains E_xx, E_yy, E_zz, before ties */
    num strain_shear[3];  /* variances of E_yz, E_zx, E_xy */
    mat3 mode[DB_SPREAD_MODES];
    num tail_fraction[DB_SPREAD_TAILS + 1]; /* part of the blocks in each Gaussian; sum 1 */
    num tail_variance[DB_SPREAD_TAILS + 1]; /* covariance of each Gaussian over the first one's */
    num bandwidth;                          /* relative variance of the wavelength */
    num divergence[6];                      /* covariance of the direction (radian^2), laboratory */
    int parts;                              /* DB_PART_* that are not left out */
} spread_interface;

typedef struct {
    mat3 lattice; /* rows a, b, c (angstrom) at the first phi step, without mosaic rotation */
    mat3 *
        rotation; /* [phi_steps * domains], domain fastest (spots in closed form: db_sample_count): takes a
                        laboratory vector into the frame of `lattice` */
    num cells[3];    /* N_a, N_b, N_c */
    num b_factor;    /* B of the Debye-Waller factor (angstrom^2) */
    num scale;       /* r_e^2 x fluence x scale / (sub-pixels x phi steps x domains) */
    num layer_step;  /* depth from one layer of the sensor to the next (m) */
    num attenuation; /* of the sensor (1/m) */
    /* scattering without a lattice, times phi steps x domains, since `scale` is divided by them */
    num water;     /* squared amplitude (electrons^2) */
    num molecules; /* number of amorphous molecules; their squared amplitude depends on the angle */
    panel_interface *panel;
    source_interface *source;
    num *site_curve; /* [sources][kinds of sites][2]: f' and f'' at the source's energy; or NULL */
    /* diffuse halo, if the crystal has one: model/halo.h */
    num halo[DB_HALO_NUMBERS];
    spread_interface spread; /* filled for spots in closed form only */
} interface_values;
