/* Many shots: flags that do not go together. */
#include "cli/complaint.h"
#include "cli/shots.h"

#include <string.h>

int db_shots_wanted(const db_settings *s) { return s->shots_file || s->random_shots; }

static const char *other_output(const db_settings *s) {
    return s->int_file                             ? "-intfile"
           : s->png_file                           ? "-pngfile"
           : s->pgm_file                           ? "-pgmfile"
           : s->expt_file                          ? "-exptfile"
           : s->spot_file                          ? "-spotfile"
           : s->noise_float_file                   ? "-noisefloatfile"
           : s->printout || s->trace_pixel[0] >= 0 ? "-printout"
           : s->setup.compat                       ? "-compat"
                                                   : NULL;
}

db_status db_shots_check(const db_session *session) {
    const db_settings *const s = &session->settings;
    const char *const other = other_output(s);
    if (!strstr(db_features(), "HDF5"))
        return db_complain(
            s->command, DB_ERROR_UNSUPPORTED,
            "many shots go to an HDF5 file, which this build does not write (Debian: "
            "libhdf5-dev liblz4-dev libzstd-dev zlib1g-dev)");
    if (s->shots_file && s->random_shots)
        return db_complain(s->command, DB_ERROR_USAGE, "expected --shots or --random, found both");
    if (other)
        return db_complain(s->command, DB_ERROR_USAGE,
                           "%s is for one image; many shots go to -hdf5file FILE (photons) and "
                           "-noisefile FILE.h5 (with noise)",
                           other);
    if (s->float_file && (s->hdf5_file || !db_names_hdf5(s->float_file)))
        return db_complain(s->command, DB_ERROR_USAGE,
                           "-floatfile: many shots go to one HDF5 file, -hdf5file FILE");
    if (s->noise_file && !db_names_hdf5(s->noise_file))
        return db_complain(
            s->command, DB_ERROR_USAGE,
            "-noisefile %s: many shots go to a file whose name ends in .h5, .hdf5 or "
            ".nxs",
            s->noise_file);
    if (s->wavelength_file && !db_names_hdf5(s->wavelength_file))
        return db_complain(s->command, DB_ERROR_USAGE,
                           "-wavelengthfile %s: many shots go to a file whose name ends in .h5, "
                           ".hdf5 or .nxs",
                           s->wavelength_file);
    if (s->noise.psf != DB_PSF_NONE && s->roi[0] >= 0)
        return db_complain(s->command, DB_ERROR_UNSUPPORTED,
                           "-psf with -roi: expected whole images of many shots");
    if ((s->sase[0] != 0 || s->sase[1] != 0) &&
        !(s->sase[0] > 0 && s->sase[1] > s->sase[0] / 300 && s->sase[0] < 0.2))
        return db_complain(s->command, DB_ERROR_INPUT,
                           "-sase: expected a relative width above 0 and below 0.2, and a width of "
                           "spikes of more than 1/300 of it, found %g %g",
                           s->sase[0], s->sase[1]);
    return DB_OK;
}
