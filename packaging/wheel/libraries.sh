#!/bin/sh
# The libraries of a wheel for one kind of processor, static, made from Debian's source packages: in build/wheel/PROCESSOR,
# with their licences in its folder licences.
# usage: WHEEL_ZIG=zig libraries.sh x86_64|aarch64
set -eu
here=$(cd "$(dirname "$0")" && pwd)
export WHEEL_PROCESSOR="$1"
prefix=$(cd "$here/../.." && pwd)/build/wheel/$1
compiler=$1-linux-gnu-gcc
[ "$1" != aarch64 ] || compiler="$compiler -mno-outline-atomics" # as in toolchain.cmake
jobs=$(nproc)
[ ! -e "$prefix/complete" ] || exit 0
sources=$prefix/../sources
mkdir -p "$prefix/lib/pkgconfig" "$prefix/include" "$prefix/licences" "$sources/lists/partial"
cd "$sources"

# Sources of this release, without a change of the system's lists of packages.
# shellcheck disable=SC1091 # not ours
codename=$(. /etc/os-release && echo "$VERSION_CODENAME")
# shellcheck disable=SC2016 # apt's variables
site=$(apt-get indextargets --format '$(RELEASE) $(SITE)' 'Created-By: Packages' | sed -n "s/^$codename //p" | head -n 1)
echo "deb-src $site $codename main" > source.list
fetch() {
    apt-get -q -o APT::Sandbox::User=root -o Dir::Etc::SourceList="$PWD/source.list" -o Dir::Etc::SourceParts=/dev/null \
        -o Dir::State::Lists="$PWD/lists" "$@"
}
[ -e fetched ] || {
    fetch update
    fetch source zlib libpng1.6 jansson libyaml msgpack-c lz4 libzstd tiff nlopt gsl hdf5
    major=$(gcc -dumpversion | cut -d. -f1)
    apt-get -q -o APT::Sandbox::User=root download "gcc-$major-source"
    dpkg-deb -x "gcc-$major-source"_*.deb gcc
    mkdir -p gcc/openmp
    tar -xf gcc/usr/src/gcc-"$major"/gcc-"$major"*.tar.xz -C gcc/openmp --strip-components=1 --wildcards '*/libgomp/*' '*/include/*' \
        '*/config/*' '*/libbacktrace/*' '*/*.m4' '*/depcomp' '*/compile' '*/config*' '*/ltmain.sh' '*/install-sh' '*/missing' \
        '*/mkinstalldirs' '*/gcc/BASE-VER' --exclude='*/libstdc++*' --exclude='*/gcc/config/*'
    cp "/usr/share/doc/gcc-$major-base/copyright" gcc/openmp/
    touch fetched
}

licence() { cp "$1" "$prefix/licences/$2"; } # FILE NAME

# by_cmake NAME FOLDER [OPTION...]
by_cmake() {
    name=$1 folder=$PWD/$2
    shift 2
    [ -e "$prefix/licences/$name" ] || {
        mkdir -p "$prefix/build/$name"
        # HDF5 finds what its trials write in the folder of the build alone
        env -C "$prefix/build/$name" cmake -S "$folder" -B . -G Ninja --toolchain "$here/toolchain.cmake" \
            -DCMAKE_BUILD_TYPE=Release -DCMAKE_C_FLAGS_RELEASE="-O2 -DNDEBUG -fvisibility=hidden" \
            -DCMAKE_INSTALL_PREFIX="$prefix" -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
            -DBUILD_SHARED_LIBS=OFF -DBUILD_TESTING=OFF "$@"
        cmake --build "$prefix/build/$name" -j "$jobs"
        cmake --install "$prefix/build/$name"
        licence "${folder%/build/cmake}/debian/copyright" "$name"
    }
}
# by_configure NAME FOLDER TARGET [OPTION...]
by_configure() {
    name=$1 folder=$PWD/$2 target=$3
    shift 3
    [ -e "$prefix/licences/$name" ] || {
        mkdir -p "$prefix/build/$name"
        (
            cd "$prefix/build/$name"
            "$folder/configure" --host="$WHEEL_PROCESSOR-linux-gnu" CC="$compiler" --prefix="$prefix" \
                --disable-shared --with-pic --disable-dependency-tracking "$@"
            [ ! -d doc ] || printf 'all install:\n' > doc/Makefile # Debian's sources have no manual
            # shellcheck disable=SC2086 # targets
            make -j "$jobs" $target
        )
    }
}
# describe MODULE VERSION LIBRARY: for pkg-config, where the sources do not, or not for a static library
describe() {
    printf 'Name: %s\nDescription: %s\nVersion: %s\nLibs: -L%s/lib %s\nCflags: -I%s/include\n' "$1" "$1" "$2" "$prefix" "$3" \
        "$prefix" > "$prefix/lib/pkgconfig/$1.pc"
}
# the module of Python is loaded late, when no room for thread-local variables of the initial kind is left
by_configure libgomp gcc/openmp/libgomp 'libgomp.la CFLAGS=-O2 XCFLAGS=-pthread' --disable-multilib --disable-werror
cp "$prefix/build/libgomp/.libs/libgomp.a" "$prefix/lib/"
licence gcc/openmp/copyright libgomp
by_configure gsl gsl-[0-9]*/ install CFLAGS=-O2
licence gsl-[0-9]*/debian/copyright gsl
[ -e "$prefix/licences/zlib" ] || {
    rm -rf "$prefix/build/zlib"
    cp -R zlib-[0-9]*/ "$prefix/build/zlib"
    (
        cd "$prefix/build/zlib"
        CHOST=$WHEEL_PROCESSOR-linux-gnu CFLAGS='-O2 -fPIC' ./configure --static --prefix="$prefix"
        make -j "$jobs" install
    )
    licence zlib-[0-9]*/debian/copyright zlib
}
by_cmake libpng libpng1.6-*/ -DPNG_SHARED=OFF -DPNG_TESTS=OFF -DPNG_EXECUTABLES=OFF
by_cmake jansson jansson-*/ -DJANSSON_BUILD_DOCS=OFF -DJANSSON_WITHOUT_TESTS=ON -DJANSSON_EXAMPLES=OFF
by_cmake libyaml libyaml-*/
describe yaml-0.1 "$(echo libyaml-[0-9]*/ | tr -d 'a-z/-')" -lyaml
by_cmake msgpack-c msgpack-c-*/ -DMSGPACK_BUILD_EXAMPLES=OFF -DMSGPACK_BUILD_TESTS=OFF
by_cmake lz4 lz4-*/build/cmake -DBUILD_STATIC_LIBS=ON -DLZ4_BUILD_CLI=OFF -DLZ4_BUILD_LEGACY_LZ4C=OFF
by_cmake libzstd libzstd-*/build/cmake -DZSTD_BUILD_PROGRAMS=OFF -DZSTD_BUILD_SHARED=OFF -DZSTD_LEGACY_SUPPORT=OFF
by_cmake tiff tiff-*/ -Djbig=OFF -Djpeg=OFF -Dlibdeflate=OFF -Dlzma=OFF -Dwebp=OFF -Dlerc=OFF -Dzstd=OFF -Dcxx=OFF \
    -Dtiff-tools=OFF -Dtiff-tests=OFF -Dtiff-contrib=OFF -Dtiff-docs=OFF -Dtiff-opengl=OFF
by_cmake nlopt nlopt-*/ -DNLOPT_CXX=OFF -DNLOPT_PYTHON=OFF -DNLOPT_OCTAVE=OFF -DNLOPT_MATLAB=OFF -DNLOPT_GUILE=OFF \
    -DNLOPT_SWIG=OFF -DNLOPT_TESTS=OFF
by_cmake hdf5 hdf5-*/ -DHDF5_BUILD_TOOLS=OFF -DHDF5_BUILD_UTILS=OFF -DHDF5_BUILD_EXAMPLES=OFF -DHDF5_BUILD_HL_LIB=OFF \
    -DHDF5_BUILD_CPP_LIB=OFF -DHDF5_BUILD_FORTRAN=OFF -DHDF5_ENABLE_Z_LIB_SUPPORT=ON -DHDF5_ENABLE_SZIP_SUPPORT=OFF
describe hdf5 "$(sed -n 's/^Version: //p' "$prefix/lib/pkgconfig/hdf5.pc")" -lhdf5

# headers alone
for name in gemmi Random123; do
    header=/usr/include/$name
    cp -R "$header" "$prefix/include/"
    licence "/usr/share/doc/$(dpkg -S "$header" | cut -d: -f1 | head -n 1)/copyright" "$name"
done
# Debian's Python asks for its pyconfig.h by the processor: sizes of types are the same for both kinds
mkdir -p "$prefix/include/$WHEEL_PROCESSOR-linux-gnu"
for folder in "/usr/include/$(gcc -dumpmachine)"/python3.*; do
    [ ! -d "$folder" ] || ln -sfn "$folder" "$prefix/include/$WHEEL_PROCESSOR-linux-gnu/"
done
touch "$prefix/complete"
