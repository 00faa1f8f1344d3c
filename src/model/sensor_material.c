/* Attenuation of X-rays in sensors, by their material. */
#include <dualbragg/expert/sensor_materials.h>
#include <dualbragg/expert/sensor_depth.h>

#include "base/context_internal.h"
#include "base/photon_energy.h"

#include <math.h>
#include <strings.h>

/* Mass attenuation coefficients: photon energy (keV), mu/rho (cm^2/g), coherent scattering
 * included. J. H. Hubbell and S. M. Seltzer, NIST Standard Reference Database 126 (NISTIR 5632),
 * 2004, with both sides of every absorption edge. Tabulated values are good to 1 to 2 % above 5 keV
 * (5 to 10 % within 0.1 keV of edges); between them mu/rho is taken for a power of the energy,
 * which it is to 1.5 %. */
typedef struct point {
    double energy, coefficient;
} point;

// clang-format off
static const point silicon[] = {
    { 1, 1570 }, { 1.5, 535.5 }, { 1.8389, 309.2 }, { 1.8389, 3192 }, { 2, 2777 }, { 3, 978.4 },
    { 4, 452.9 }, { 5, 245 }, { 6, 147 }, { 8, 64.68 }, { 10, 33.89 }, { 15, 10.34 }, { 20, 4.464 },
    { 30, 1.436 }, { 40, 0.7012 }, { 50, 0.4385 }, { 60, 0.3207 }, { 80, 0.2228 }, { 100, 0.1835 },
    { 150, 0.1448 }, { 200, 0.1275 },
};
static const point zinc[] = {
    { 1, 1553 }, { 1.0098, 1518 }, { 1.0197, 1484 }, { 1.0197, 3804 }, { 1.03119, 5097 },
    { 1.0428, 6518 }, { 1.0428, 8274 }, { 1.11565, 8452 }, { 1.1936, 7371 }, { 1.1936, 8396 },
    { 1.5, 4825 }, { 2, 2375 }, { 3, 831.1 }, { 4, 386.5 }, { 5, 211.8 }, { 6, 129 }, { 8, 58.75 },
    { 9.6586, 35.05 }, { 9.6586, 253.6 }, { 10, 233.1 }, { 15, 81.17 }, { 20, 37.19 },
    { 30, 12.07 }, { 40, 5.384 }, { 50, 2.892 }, { 60, 1.76 }, { 80, 0.8364 }, { 100, 0.4973 },
    { 150, 0.2341 }, { 200, 0.1617 },
};
static const point gallium[] = {
    { 1, 1697 }, { 1.05613, 1492 }, { 1.1154, 1312 }, { 1.1154, 3990 }, { 1.12877, 4887 },
    { 1.1423, 5664 }, { 1.1423, 7405 }, { 1.21752, 7138 }, { 1.2977, 6358 }, { 1.2977, 7206 },
    { 1.5, 5087 }, { 2, 2515 }, { 3, 885.7 }, { 4, 413 }, { 5, 226.6 }, { 6, 138.2 }, { 8, 63.02 },
    { 10, 34.21 }, { 10.3671, 30.99 }, { 10.3671, 221.4 }, { 15, 85.37 }, { 20, 39.28 },
    { 30, 12.81 }, { 40, 5.726 }, { 50, 3.076 }, { 60, 1.868 }, { 80, 0.8823 }, { 100, 0.5197 },
    { 150, 0.2387 }, { 200, 0.1619 },
};
static const point arsenic[] = {
    { 1, 2121 }, { 1.15026, 1523 }, { 1.3231, 1092 }, { 1.3231, 4513 }, { 1.34073, 4469 },
    { 1.3586, 4452 }, { 1.3586, 6093 }, { 1.5, 5227 }, { 1.5265, 4997 }, { 1.5265, 5653 },
    { 2, 2931 }, { 3, 1049 }, { 4, 492 }, { 5, 270.9 }, { 6, 165.6 }, { 8, 75.73 }, { 10, 41.15 },
    { 11.8667, 25.77 }, { 11.8667, 179.2 }, { 15, 98.56 }, { 20, 45.64 }, { 30, 15.06 },
    { 40, 6.76 }, { 50, 3.635 }, { 60, 2.203 }, { 80, 1.03 }, { 100, 0.5971 }, { 150, 0.2622 },
    { 200, 0.1719 },
};
static const point cadmium[] = {
    { 1, 7350 }, { 1.5, 2931 }, { 2, 1473 }, { 3, 541.4 }, { 3.5375, 357.5 }, { 3.5375, 1152 },
    { 3.63101, 1083 }, { 3.727, 1013 }, { 3.727, 1389 }, { 4, 1170 }, { 4.018, 1157 },
    { 4.018, 1324 }, { 5, 768.5 }, { 6, 479.3 }, { 8, 225.4 }, { 10, 124.4 }, { 15, 41.78 },
    { 20, 19.2 }, { 26.7112, 8.809 }, { 26.7112, 50.65 }, { 30, 37.65 }, { 40, 17.78 },
    { 50, 9.779 }, { 60, 5.975 }, { 80, 2.751 }, { 100, 1.524 }, { 150, 0.5593 }, { 200, 0.3038 },
};
static const point tellurium[] = {
    { 1, 8434 }, { 1.003, 8380 }, { 1.006, 8326 }, { 1.006, 8684 }, { 1.5, 3608 }, { 2, 1832 },
    { 3, 679.2 }, { 4, 329.7 }, { 4.3414, 267.8 }, { 4.3414, 788.2 }, { 4.47465, 750.4 },
    { 4.612, 699.5 }, { 4.612, 944.5 }, { 4.7728, 878.2 }, { 4.9392, 806.2 }, { 4.9392, 929.2 },
    { 5, 901.4 }, { 6, 572.1 }, { 8, 270.2 }, { 10, 150.1 }, { 15, 50.78 }, { 20, 23.41 },
    { 30, 7.878 }, { 31.8138, 6.738 }, { 31.8138, 37.19 }, { 40, 20.64 }, { 50, 11.45 },
    { 60, 7.041 }, { 80, 3.255 }, { 100, 1.801 }, { 150, 0.6492 }, { 200, 0.3429 },
};
// clang-format on

#define POINTS(list) list, sizeof(list) / sizeof(list)[0]
typedef struct element {
    const point *points;
    size_t count;
    double mass; /* per formula (g/mol) */
} element;

enum { MOST_ELEMENTS = 3 };

/* Densities in g/cm^3 at room temperature, without pores and dopants. */
static const struct {
    const char *name;
    const char *other_names[3];
    double density;
    element elements[MOST_ELEMENTS];
} materials[DB_SENSOR_MATERIAL_COUNT] = {
    [DB_SENSOR_UNKNOWN] = { .name = "" },
    [DB_SENSOR_SI] = { "Si", { "Silicon" }, 2.33, { { POINTS(silicon), 28.0855 } } },
    [DB_SENSOR_GAAS] = { "GaAs",
                         { "GalliumArsenide" },
                         5.317,
                         { { POINTS(gallium), 69.723 }, { POINTS(arsenic), 74.9216 } } },
    [DB_SENSOR_CDTE] = { "CdTe",
                         { "CadmiumTelluride" },
                         5.85,
                         { { POINTS(cadmium), 112.414 }, { POINTS(tellurium), 127.60 } } },
    [DB_SENSOR_CZT] = { "CZT",
                        { "CdZnTe", "CadmiumZincTelluride" },
                        5.78,
                        { { POINTS(cadmium), 0.9 * 112.414 },
                          { POINTS(zinc), 0.1 * 65.38 },
                          { POINTS(tellurium), 127.60 } } },
};

static const double LEAST = 1, MOST = 150; /* keV */

const char *db_sensor_material_name(db_sensor_material material) {
    return (unsigned)material < DB_SENSOR_MATERIAL_COUNT ? materials[material].name : NULL;
}

db_sensor_material db_sensor_material_find(const char *name) {
    char letters[40];
    size_t count = 0;
    for (; *name && count < sizeof letters - 1; name++)
        if ((*name >= 'a' && *name <= 'z') || (*name >= 'A' && *name <= 'Z'))
            letters[count++] = *name;
    letters[count] = '\0';
    for (int m = DB_SENSOR_UNKNOWN + 1; count && m < DB_SENSOR_MATERIAL_COUNT; m++) {
        if (strcasecmp(letters, materials[m].name) == 0) return (db_sensor_material)m;
        for (int i = 0; i < 3 && materials[m].other_names[i]; i++)
            if (strcasecmp(letters, materials[m].other_names[i]) == 0) return (db_sensor_material)m;
    }
    return DB_SENSOR_UNKNOWN;
}

/* At an absorption edge it is the value above the edge. */
static double mass_attenuation(const element *e, double energy) {
    size_t i = 1;
    while (i < e->count - 1 && energy >= e->points[i].energy) i++;
    const point *const low = &e->points[i - 1];
    const point *const high = &e->points[i];
    const double slope =
        log(high->coefficient / low->coefficient) / log(high->energy / low->energy);
    return low->coefficient * pow(energy / low->energy, slope);
}

db_status db_sensor_attenuation_depth(db_context *context, db_sensor_material material,
                                      double wavelength, double *depth) {
    const double energy = 1e-3 * DB_EV_ANGSTROM / wavelength; /* keV */
    double sum = 0, mass = 0;
    if (material == DB_SENSOR_UNKNOWN || (unsigned)material >= DB_SENSOR_MATERIAL_COUNT)
        return db_fail(context, DB_ERROR_USAGE,
                       "material of the sensor: expected Si, GaAs, CdTe or CZT, found none");
    if (!(energy >= LEAST && energy <= MOST))
        return db_fail(context, DB_ERROR_INPUT,
                       "sensor of %s: its attenuation depth is known from %g to %g keV; found %g "
                       "keV (a wavelength of %g A), for which it must be given",
                       materials[material].name, LEAST, MOST, energy, wavelength);
    for (int i = 0; i < MOST_ELEMENTS && materials[material].elements[i].points; i++) {
        const element *const e = &materials[material].elements[i];
        sum += e->mass * mass_attenuation(e, energy);
        mass += e->mass;
    }
    *depth = 1e4 * mass / (sum * materials[material].density);
    return DB_OK;
}
