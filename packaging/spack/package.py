# Spack: to be handed in as packages/dualbragg/package.py of spack-packages.
from spack.package import *
from spack_repo.builtin.build_systems.cmake import CMakePackage


class Dualbragg(CMakePackage):
    """Differentiable diffraction of crystals: images and their exact derivatives, and refinement against measured images."""

    homepage = "https://example.org/dualbragg"
    git = "https://example.org/dualbragg.git"

    license("MIT", when="~fit")
    license("MIT AND GPL-3.0-or-later", when="+fit")

    version("main", branch="main")
    version("0.1.0", tag="v0.1.0")

    variant("fit", default=True, description="Refinement against measured images (GSL is under the GPL)")
    variant("mpi", default=False, when="+fit", description="Refinement of many shots on several processes")
    variant("openmp", default=True, description="Threads")
    variant("hdf5", default=True, description="HDF5 images")
    variant("tiff", default=True, description="TIFF images")
    variant("cuda", default=False, description="NVIDIA GPUs")

    depends_on("c", type="build")
    depends_on("cxx", type="build", when="+cuda")
    depends_on("cmake@3.25:", type="build")
    depends_on("pkgconfig", type="build")
    depends_on("jansson")
    depends_on("libpng")
    depends_on("msgpack-c")
    depends_on("random123", type="build")
    depends_on("zlib-api")
    with when("+fit"):
        depends_on("gsl")
        depends_on("libyaml")
        depends_on("nlopt")
    with when("+hdf5"):
        depends_on("hdf5@1.10.7:1.14~mpi")
        depends_on("lz4")
        depends_on("zstd")
    depends_on("libtiff@4.5:", when="+tiff")
    depends_on("mpi", when="+mpi")
    depends_on("cuda", when="+cuda")

    def cmake_args(self):
        # Spack has gemmi for Python, but not its headers for C++
        args = [self.define(f"DB_{name}", False) for name in ("BUILD_TESTS", "BUILD_BENCH", "WITH_PYTHON", "WITH_GEMMI")]
        for name in ("fit", "mpi", "openmp", "hdf5", "tiff", "cuda"):
            args.append(self.define_from_variant(f"DB_WITH_{name.upper()}", name))
        return args

    @run_after("install")
    @on_package_attributes(run_tests=True)
    def renders(self):
        program = Executable(self.prefix.bin.dualbragg)
        program("sim", "-cell", "40", "40", "40", "90", "90", "90", "-N", "5", "-default_F", "100", "-lambda", "1",
                "-distance", "100", "-detpixels", "64", "-floatfile", "image.bin")
