"""Writes HDF5 images by h5py and hdf5plugin in the layouts of detectors and beamlines, each with the pixels that a
reader must find, as raw floats. usage: hdf5_files.py FOLDER, or hdf5_files.py names FILE COUNT

Prints a line for each image: its name, the file of floats, and the number of pixels that must be left out."""
import ctypes
import os
import struct
import sys

import h5py
import hdf5plugin
import numpy

FAST, SLOW, FRAMES = 103, 61, 5
LARGEST = {"u1": 2**8 - 1, "u2": 2**16 - 1, "u4": 2**32 - 1, "u8": 2**64 - 1}


def frames(kind, seed=1):
    """Counts with a few large ones, and marks where there is no count (unsigned) or negative numbers (signed)."""
    random = numpy.random.default_rng(seed)
    counts = random.poisson(3, (FRAMES, SLOW, FAST)).astype(float)
    counts[:, 7, 5:60] *= 20
    pixels = counts.astype(kind)
    name = numpy.dtype(kind).str[1:]
    if name in LARGEST:
        pixels[:, 20:23, :] = LARGEST[name]
    elif name[0] == "i":
        pixels[:, 20:23, :] = -1
    else:
        pixels[:, 20:23, :] = numpy.nan
    return pixels


def report(folder, name, pixels, left_out):
    """pixels: as h5py reads them."""
    file = name.replace("#", "_").replace("/", "_") + ".floats"
    numpy.where(numpy.isfinite(pixels.astype(float)), pixels, 0).astype("f4").tofile(os.path.join(folder, file))
    print(name, file, left_out)


def one(folder, name, pixels, **options):
    """One file in the plainest layout, with frame 3 to be read."""
    with h5py.File(os.path.join(folder, name), "w") as file:
        file.create_dataset("entry/data/data", data=pixels, **options)
    with h5py.File(os.path.join(folder, name)) as file:
        report(folder, name + "#3", file["entry/data/data"][2], 3 * FAST)


def zstd(data):
    """Plugins of HDF5 for Zstandard are newer than those of Debian 12: its chunks are made here."""
    library = ctypes.CDLL("libzstd.so.1")
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    room = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(room, len(room), data, len(data), 3)
    return room.raw[:size]


def shuffled_zstd(pixels, block=512):
    """A chunk of bitshuffle with Zstandard, by its definition: bit 0 of every element of a block, then bit 1 ..."""
    flat = pixels.astype(pixels.dtype.newbyteorder("<")).ravel()
    whole = len(flat) // 8 * 8
    chunk = struct.pack(">QI", flat.nbytes, block * flat.itemsize)
    for begin in range(0, whole, block):
        part = flat[begin : min(begin + block, whole)]
        bits = numpy.unpackbits(part.view("u1").reshape(len(part), -1), axis=1, bitorder="little")
        packed = zstd(numpy.packbits(bits.T, bitorder="little").tobytes())
        chunk += struct.pack(">I", len(packed)) + packed
    return chunk + flat[whole:].tobytes()


def by_zstd(folder, name, pixels, filter_number, values, make):
    with h5py.File(os.path.join(folder, name), "w") as file:
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_chunk((1, SLOW, FAST))
        create.set_filter(filter_number, h5py.h5z.FLAG_OPTIONAL, values)
        kind, space = h5py.h5t.py_create(pixels.dtype), h5py.h5s.create_simple(pixels.shape)
        data = h5py.h5d.create(file.create_group("entry/data").id, b"data", kind, space, create)
        for n in range(FRAMES):
            data.write_direct_chunk((n, 0, 0), make(pixels[n]))
    report(folder, name + "#3", pixels[2], 3 * FAST)


def storage(folder):
    """Every filter, type and shape of chunks."""
    chunk = (1, SLOW, FAST)
    lz4, plain = ({**hdf5plugin.Bitshuffle(cname=c)} for c in ("lz4", "none"))
    blocks = {**hdf5plugin.Bitshuffle(nelems=64, cname="lz4")}
    for kind in ("u1", "u2", "u4", "u8", "i2", "i4", "f4", "f8"):
        one(folder, f"lz4_{kind}.h5", frames(kind), chunks=chunk, **lz4)
        pixels = frames(kind)
        by_zstd(folder, f"zstd_{kind}.h5", pixels, 32008, (0, 3, 3), shuffled_zstd)
    pixels = frames("u2")
    one(folder, "plain_bits.h5", pixels, chunks=chunk, **plain)
    one(folder, "small_blocks.h5", pixels, chunks=chunk, **blocks)
    one(folder, "contiguous.h5", pixels)
    one(folder, "unfiltered.h5", pixels, chunks=chunk)
    one(folder, "gzip.h5", pixels, chunks=chunk, compression="gzip")
    one(folder, "shuffle_gzip_sum.h5", pixels, chunks=chunk, compression="gzip", shuffle=True, fletcher32=True)
    one(folder, "plain_lz4.h5", pixels, chunks=chunk, **hdf5plugin.LZ4())
    by_zstd(folder, "plain_zstd.h5", pixels, 32015, (3,), lambda part: zstd(part.tobytes()))
    one(folder, "big_endian.h5", pixels.astype(">u2"), chunks=chunk, **lz4)
    one(folder, "several_frames.h5", pixels, chunks=(4, SLOW, FAST), **lz4)
    one(folder, "tiles.h5", pixels, chunks=(2, 16, 40), **lz4)
    one(folder, "rows.h5", pixels, chunks=(1, 8, FAST), **lz4)
    one(folder, "tiles_gzip.h5", pixels, chunks=(2, 16, 40), compression="gzip")


def group(file, path, kind):
    made = file.require_group(path)
    made.attrs["NX_class"] = numpy.bytes_(kind)
    return made


def number(parent, name, value, units=None, **attributes):
    data = parent.create_dataset(name, data=value)
    if units:
        data.attrs["units"] = numpy.bytes_(units.encode("utf8"))
    for key, attribute in attributes.items():
        data.attrs[key] = numpy.bytes_(attribute) if isinstance(attribute, str) else numpy.array(attribute, float)


def dectris(folder):
    """A master with two data files, as detectors of Dectris write them."""
    pixels = frames("u4", 2)
    mask = numpy.zeros((SLOW, FAST), "u4")
    mask[20:23] = 1
    mask[40, 50] = 16
    for n, part in ((1, pixels[:3]), (2, pixels[3:])):
        with h5py.File(os.path.join(folder, f"series_data_{n:06}.h5"), "w") as file:
            file.create_dataset("entry/data/data", data=part, chunks=(1, SLOW, FAST), **hdf5plugin.Bitshuffle())
    with h5py.File(os.path.join(folder, "series_master.h5"), "w") as file:
        group(file, "entry", "NXentry")
        data = group(file, "entry/data", "NXdata")
        detector = group(file, "entry/instrument/detector", "NXdetector")
        specific = group(file, "entry/instrument/detector/detectorSpecific", "NXcollection")
        beam = group(file, "entry/instrument/beam", "NXbeam")
        angles = group(file, "entry/sample/goniometer", "NXtransformations")
        for n in (1, 2):
            data[f"data_{n:06}"] = h5py.ExternalLink(f"series_data_{n:06}.h5", "entry/data/data")
        number(detector, "beam_center_x", 51.5)
        number(detector, "beam_center_y", 30.25)
        number(detector, "detector_distance", 0.125, "m")
        number(detector, "x_pixel_size", 7.5e-5, "m")
        number(detector, "y_pixel_size", 7.5e-5, "m")
        number(detector, "count_time", 0.02, "s")
        number(detector, "sensor_thickness", 4.5e-4, "m")
        number(detector, "bit_depth_image", 32)
        detector["sensor_material"] = numpy.bytes_("Si")
        detector["description"] = numpy.bytes_("Dectris Eiger of a test")
        number(specific, "countrate_correction_count_cutoff", 90)
        specific.create_dataset("pixel_mask", data=mask, compression="gzip")
        detector["pixel_mask"] = h5py.SoftLink("/entry/instrument/detector/detectorSpecific/pixel_mask")
        number(beam, "incident_wavelength", 0.9795, "angstrom")
        number(angles, "omega", 30 + 0.25 * numpy.arange(FRAMES), "degree")
        number(angles, "omega_increment", 0.25, "degree")
    for frame in (1, 4, 5):
        left_out = numpy.count_nonzero((mask != 0) | (pixels[frame - 1] > 90))
        report(folder, f"series_master.h5#{frame}", pixels[frame - 1], left_out)


def virtual(folder):
    """NXmx by a virtual data set over one file for each run of images, and over one for each module, with gaps."""
    with h5py.File(os.path.join(folder, "virtual.nxs"), "w") as file:
        layout = h5py.VirtualLayout((FRAMES, SLOW, FAST), "u4")
        for n, (begin, end) in ((1, (0, 3)), (2, (3, 5))):
            source = h5py.VirtualSource(f"series_data_{n:06}.h5", "entry/data/data", (end - begin, SLOW, FAST))
            layout[begin:end] = source
        group(file, "entry", "NXentry")
        group(file, "entry/data", "NXdata").create_virtual_dataset("data", layout)
    with h5py.File(os.path.join(folder, "virtual.nxs")) as file:
        report(folder, "virtual.nxs#4", file["entry/data/data"][3], 3 * FAST)
    random = numpy.random.default_rng(3)
    layout = h5py.VirtualLayout((FRAMES, 2 * SLOW + 9, FAST), "u2")
    stack = h5py.VirtualLayout((FRAMES, 2, SLOW, FAST), "u2")
    os.makedirs(os.path.join(folder, "modules"), exist_ok=True)
    for n in (0, 1):
        pixels = random.poisson(5, (FRAMES, SLOW, FAST)).astype("u2")
        name = f"modules/module_{n}.h5"
        with h5py.File(os.path.join(folder, name), "w") as file:
            file.create_dataset("data", data=pixels, chunks=(1, SLOW, FAST), **hdf5plugin.Bitshuffle())
        source = h5py.VirtualSource(name, "data", pixels.shape)
        layout[:, n * (SLOW + 9) : n * (SLOW + 9) + SLOW] = source
        stack[:, n] = source
    for name, made, gaps in (("gaps.nxs", layout, 9 * FAST), ("stack.nxs", stack, 0)):
        with h5py.File(os.path.join(folder, name), "w") as file:
            group(file, "entry", "NXentry")
            group(file, "entry/data", "NXdata").create_virtual_dataset("data", made)
        with h5py.File(os.path.join(folder, name)) as file:
            report(folder, name + "#2", file["entry/data/data"][1], gaps)


def endless(folder):
    """Virtual data sets without end: images that two files write in turns of two, of which one is behind; a file for
    each turn; turns as blocks of fixed number; rows of an image from numbered files."""
    random = numpy.random.default_rng(5)
    pixels = random.poisson(5, (7, SLOW, FAST)).astype("u2")
    turns = [pixels[0:2], pixels[2:4], pixels[4:6], pixels[6:7]]
    for name, part in (
        ("turn_a.h5", numpy.concatenate([turns[0], turns[2]])),
        ("turn_b.h5", numpy.concatenate([turns[1], turns[3]])),
        *((f"turn%_{n}.h5", turns[n]) for n in range(3)),
    ):
        with h5py.File(os.path.join(folder, name), "w") as file:
            file.create_dataset("data", data=part, chunks=(1, SLOW, FAST), maxshape=(None, SLOW, FAST))
    ever = h5py.h5s.UNLIMITED

    def space(rows, start, count, stride, block):
        made = h5py.h5s.create_simple((rows, SLOW, FAST), (ever, SLOW, FAST))
        made.select_hyperslab((start, 0, 0), (count, 1, 1), (stride, SLOW, FAST), (block, SLOW, FAST))
        return made

    def write(name, rows, sources):
        plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        for whole, file, own in sources:
            plan.set_virtual(whole, file, b"data", own)
        with h5py.File(os.path.join(folder, name), "w", libver="latest") as file:
            group(file, "entry", "NXentry")
            at = group(file, "entry/data", "NXdata")
            shape = h5py.h5s.create_simple((rows, SLOW, FAST), (ever, SLOW, FAST))
            h5py.h5d.create(at.id, b"data", h5py.h5t.STD_U16LE, shape, plan)

    whole = space(4, 0, ever, 1, 1)
    write("turns.nxs", 0, [(space(0, 0, ever, 4, 2), b"turn_a.h5", whole), (space(0, 2, ever, 4, 2), b"turn_b.h5", whole)])
    write("blocks.nxs", 0, [(space(0, 0, ever, 2, 2), b"turn%%_%b.h5", space(2, 0, 1, 2, 2))])
    write("fixed.nxs", 7, [
        (space(7, 0, 2, 4, 2), b"turn_a.h5", space(4, 0, 1, 4, 4)),
        (space(7, 2, 1, 2, 2), b"turn_b.h5", space(3, 0, 1, 2, 2)),
        (space(7, 6, 1, 1, 1), b"turn_b.h5", space(3, 2, 1, 1, 1)),
    ])  # fmt: skip
    for name, frames in (("turns.nxs", (1, 4, 6, 7)), ("blocks.nxs", (2, 3, 6)), ("fixed.nxs", (1, 3, 5, 7))):
        with h5py.File(os.path.join(folder, name)) as file:
            for frame in frames:
                seen = file["entry/data/data"][frame - 1]
                assert (seen == pixels[frame - 1]).all(), (name, frame)
                report(folder, f"{name}#{frame}", seen, 0)


def masks(folder):
    """Masks of every width, order and storage, with bits other than the lowest, and in the last pixels."""
    pixels = numpy.arange(FRAMES * SLOW * FAST, dtype="u2").reshape(FRAMES, SLOW, FAST) % 5000
    mask = numpy.zeros((SLOW, FAST), "u8")
    mask[3:5], mask[:, 40:42], mask[50, 7:9], mask[-1, -3:] = 1, 3, (2, 64), (1, 0, 128)
    for number, kind in enumerate(("u1", "u2", "u4", "u8", ">u4", "i4")):
        for storage in ("none", "bitshuffle", "gzip"):
            name = f"mask_{storage}_{number}.h5"
            own = dict(hdf5plugin.Bitshuffle()) if storage == "bitshuffle" else \
                {"compression": "gzip"} if storage == "gzip" else {}
            with h5py.File(os.path.join(folder, name), "w") as file:
                at = group(file, "entry/instrument/detector", "NXdetector")
                group(file, "entry", "NXentry")
                group(file, "entry/instrument", "NXinstrument")
                at.create_dataset("pixel_mask", data=mask.astype(kind), chunks=(SLOW, FAST) if own else None, **own)
                group(file, "entry/data", "NXdata").create_dataset("data", data=pixels)
            report(folder, name + "#2", pixels[1], numpy.count_nonzero(mask))


def many_names(path, count):
    """A detector with so many links beside its numbers, and as many beside the images."""
    with h5py.File(path, "w") as file:
        for name, kind in (("", "NXentry"), ("data", "NXdata"), ("instrument", "NXinstrument")):
            group(file, "entry/" + name, kind)
        detector = group(file, "entry/instrument/detector", "NXdetector")
        file["entry/data/data_000001"] = frames("u2")
        for n in range(count):
            detector[f"link_{n}"] = h5py.SoftLink("/entry/data")
            file[f"entry/data/link_{n}"] = h5py.SoftLink("/entry/data")


if __name__ == "__main__" and sys.argv[1] == "names":
    many_names(sys.argv[2], int(sys.argv[3]))
elif __name__ == "__main__":
    for write in (storage, dectris, virtual, endless, masks):
        write(sys.argv[1])
