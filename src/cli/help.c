#include "cli/help.h"

#include "cli/flags.h"

#include <string.h>

static const char overview[] =
    "dualbragg: differentiable nanocrystal diffraction\n"
    "\n"
    "usage: dualbragg COMMAND [FLAGS]\n"
    "\n"
    "  sim      renders what a detector records from a small crystal\n"
    "  grad     renders the image and its derivatives by crystal, beam and detector parameters\n"
    "  check    compares these derivatives with independent ones on your own set-up\n"
    "  fit      refines parameters against a measured image\n"
    "\n"
    "  amorphous  renders what a liquid, a glass or air scatters\n"
    "  orient     makes orientation matrices\n"
    "  add        adds images\n"
    "\n"
    "  help     dualbragg help COMMAND is dualbragg COMMAND --help\n"
    "\n"
    "A first image, as raw floats, as an SMV file for image viewers, and as a picture:\n"
    "\n"
    "  dualbragg sim -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -distance 100 \\\n"
    "                -floatfile image.f32 -intfile image.img -pngfile image.png\n"
    "\n"
    "How that image changes with distance and orientation:\n"
    "\n"
    "  dualbragg grad -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -distance 100 \\\n"
    "                 -params distance,misset_x,misset_y,misset_z\n"
    "\n"
    "Exit status: 0 success; 1 a check failed, a refinement did not converge; 2 wrong use, or not "
    "in\n"
    "this version; 3 unusable input or output; 4 device or instruction set not there.\n"
    "Flags in full: dualbragg sim --help. Version and components: dualbragg --version.\n";

static const struct {
    const char *name;
    unsigned command;
    const char *text;
} helps[] = {
    { "sim", DB_FOR_SIM,
      "dualbragg sim: renders what a detector records from a small crystal\n"
      "\n"
      "usage: dualbragg sim [FLAGS], with at least a cell or a matrix, structure factors and an "
      "output\n"
      "\n"
      "A cubic crystal with the same structure factor everywhere:\n"
      "  dualbragg sim -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -pngfile "
      "image.png\n"
      "\n"
      "A lysozyme crystal from a list of amplitudes, in XDS's frame, with a mosaic spread and a "
      "sweep:\n"
      "  dualbragg sim -hkl lysozyme.hkl -cell 79 79 38 90 90 90 -misset 10 20 30 -N 20 \\\n"
      "      -mosaic 0.5 -mosaic_domains 20 -phi 0 -osc 0.5 -phisteps 5 -lambda 0.9793 \\\n"
      "      -xds -distance 150 -ORGX 512.5 -ORGY 512.5 -polar 0.99 -intfile frame.img\n"
      "\n"
      "A pink beam on a serial crystallography shot in a random orientation:\n"
      "  dualbragg sim -hkl lysozyme.hkl -cell 79 79 38 90 90 90 -misset random -misset_seed 7 -N "
      "15 \\\n"
      "      -dispersion 1 -dispsteps 10 -lambda 1.3 -flux 1e12 -exposure 1e-3 -beamsize 0.005 \\\n"
      "      -floatfile shot.f32\n" },
    { "grad", DB_FOR_GRAD,
      "dualbragg grad: renders the image and its derivatives by chosen parameters\n"
      "\n"
      "usage: dualbragg grad [FLAGS] -params LIST, with at least a cell or a matrix and structure "
      "factors\n"
      "\n"
      "Writes PREFIX_image.f32 (photons) and, for each parameter, PREFIX_PARAMETER.f32 (photons "
      "per unit of the\n"
      "parameter), and pictures of all of them in which blue is negative and red positive.\n"
      "\n"
      "How the image moves with the detector distance and the cell's edge:\n"
      "  dualbragg grad -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -params "
      "distance,cell_a\n"
      "\n"
      "Everything, into a directory of its own:\n"
      "  mkdir out && dualbragg grad -mat crystal.mat -hkl list.hkl -N 10 -lambda 1.2 -params all "
      "-outdir out\n"
      "\n"
      "The parameters and their units:\n"
      "  dualbragg grad --list-params\n" },
    { "check", DB_FOR_CHECK,
      "dualbragg check: are the derivatives right, on this very set-up?\n"
      "\n"
      "usage: dualbragg check [FLAGS] [-params LIST], with at least a cell or a matrix and "
      "structure factors\n"
      "\n"
      "Computes each derivative image three times: as dualbragg grad does, by full-width dual "
      "numbers (the\n"
      "oracle), and by extrapolated central differences of whole images; prints how far they are "
      "apart, relative\n"
      "to the parameter's largest derivative, and ends with status 1 if that is too far. Takes "
      "much longer than\n"
      "rendering: use few pixels, -roi or a small detector.\n"
      "\n"
      "  dualbragg check -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -roi 400 463 400 "
      "463\n"
      "  dualbragg check -cell 60 60 60 90 90 90 -default_F 100 -N 10 -lambda 1.2 -detpixels 64 "
      "-pixel 1 \\\n"
      "      -params distance,misset_x -tolerance 1e-8\n" },
    { "amorphous", DB_FOR_AMORPHOUS,
      "dualbragg amorphous: renders what a liquid, a glass or air scatters\n"
      "\n"
      "usage: dualbragg amorphous -stol FILE [FLAGS], with an output\n"
      "\n"
      "FILE has two columns, sin(theta)/lambda (1/A) in ascending order and the amplitude of one "
      "molecule\n"
      "(electrons; negative ones scatter negatively). Beam, detector, sampling and output are "
      "those "
      "of dualbragg\n"
      "sim, which takes -stol too and adds such a background to a crystal's image.\n"
      "\n"
      "A tenth of a millimetre of water:\n"
      "  dualbragg amorphous -stol water.stol -thickness 0.1 -lambda 1 -distance 200 -flux 1e12 "
      "-exposure 0.1 \\\n"
      "      -floatfile water.bin\n"
      "\n"
      "25 mm of air, whose amplitudes are those of nitrogen:\n"
      "  dualbragg amorphous -stol air.stol -thickness 25 -density 1.2e-3 -MW 28 -lambda 1 "
      "-distance 200 \\\n"
      "      -flux 1e12 -exposure 0.1 -floatfile air.bin -pngfile air.png\n" },
    { "orient", DB_FOR_ORIENT,
      "dualbragg orient: makes orientation matrices\n"
      "\n"
      "usage: dualbragg orient [FLAGS], with a cell, a matrix or keywords\n"
      "\n"
      "Prints a MOSFLM orientation matrix, A* times wavelength, which dualbragg sim -mat takes "
      "with "
      "the same\n"
      "-lambda.\n"
      "\n"
      "A cell turned by misset angles, as dualbragg sim -cell -misset turns it:\n"
      "  dualbragg orient -cell 74 74 34 90 90 90 -misset 10 20 30 -lambda 1.2 -o A.mat\n"
      "A random orientation, and one within five degrees of a given one:\n"
      "  dualbragg orient -cell 74 74 34 90 90 90 -misset random -misset_seed 7\n"
      "  dualbragg orient -mat A.mat -misset random -misset_seed 7 -misset_spread 5 -lambda 1.2\n"
      "What a matrix means, as flags of dualbragg sim:\n"
      "  dualbragg orient -mat A.mat -lambda 1.2 -print flags\n"
      "Input of UBtoA (misset angles and random turns then act before the turns that came first):\n"
      "  printf 'CELL 74 74 34 90 90 90\\nMISSET 10 20 30\\nWAVE 1.2\\n' | dualbragg orient "
      "-keywords "
      "-\n" },
};

void db_help_overview(FILE *out) { fputs(overview, out); }

void db_help_command(FILE *out, const char *command) {
    for (size_t i = 0; i < sizeof helps / sizeof *helps; i++)
        if (strcmp(helps[i].name, command) == 0) {
            fputs(helps[i].text, out);
            db_flags_print_help(out, helps[i].command);
        }
}
