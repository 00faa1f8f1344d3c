"""Spoils the files that hdf5_files.py wrote. usage: hdf5_damage.py FOLDER

Prints a line for each image: its name, and what the message must say."""
import os
import struct
import sys

import h5py
import numpy

SLOW, FAST = 61, 103


def spoil(folder, source, name, change):
    """A copy in which `change` makes other bytes of the chunk of image 3."""
    with h5py.File(os.path.join(folder, source)) as file:
        chunk = file["entry/data/data"].id.get_chunk_info(2)
    with open(os.path.join(folder, source), "rb") as file:
        data = bytearray(file.read())
    begin, end = chunk.byte_offset, chunk.byte_offset + chunk.size
    data[begin:end] = change(data[begin:end])[: chunk.size]
    with open(os.path.join(folder, name), "wb") as file:
        file.write(data)


def linked(folder, name, **links):
    with h5py.File(os.path.join(folder, name), "w") as file:
        data = file.create_group("entry/data")
        for key, link in links.items():
            data[key] = link


def expect(name, text):
    print(f"{name}|{text}")


def damage(folder):
    with open(os.path.join(folder, "lz4_u2.h5"), "rb") as file:
        whole = file.read()
    with open(os.path.join(folder, "cut.h5"), "wb") as file:
        file.write(whole[: len(whole) // 2])
    expect("cut.h5#3", "a damaged one: .*cut short")
    expect("lz4_u2.h5#6", "expected image 6, found 5 images")
    expect("lz4_u2.h5#0", "counted from 1")
    expect("lz4_u2.h5", "lz4_u2.h5#1")
    expect("none.h5#1", "cannot open")
    expect("gzip.h5_3.floats#1", "expected an HDF5 or TIFF file")
    for name, change, text in (
        ("total.h5", lambda b: struct.pack(">Q", 1 << 60) + b[8:], "another size"),
        ("block.h5", lambda b: b[:8] + struct.pack(">I", 1 << 30) + b[12:], "blocks"),
        ("odd_block.h5", lambda b: b[:8] + struct.pack(">I", 3) + b[12:], "whole number"),
        ("length.h5", lambda b: b[:12] + b"\xff\xff\xff\xff" + b[16:], "longer than"),
        ("lz4.h5", lambda b: b[:16] + bytes(255 - x for x in b[16:80]) + b[80:], "damaged pixels"),
        ("zeros.h5", lambda b: bytes(len(b)), "another size"),
    ):
        spoil(folder, "lz4_u2.h5", name, change)
        expect(name + "#3", text)
    for source in ("gzip", "plain_lz4", "plain_zstd", "zstd_u4"):
        spoil(folder, source + ".h5", f"bad_{source}.h5", lambda b: bytes(255 - x for x in b))
        expect(f"bad_{source}.h5#3", "damaged pixels")


def structure(folder):
    """Damage to what has no checksum, and what libhdf5 follows without end, or out of the memory it has."""
    path = os.path.join(folder, "structure.h5")
    with h5py.File(path, "w") as file:
        data = file.create_group("entry/data")
        pixels = data.create_dataset("data", (40, SLOW, FAST), "u2", chunks=(1, 20, 30), compression="gzip")
        pixels[:] = 1
        pixels.attrs["units"] = "counts, as text of variable length"
        for i in range(6):
            pixels.attrs[f"number {i}"] = i
        layout = h5py.VirtualLayout((2, SLOW, FAST), "u2")
        layout[0:2, :, 0:50] = h5py.VirtualSource("x.h5", "d", (2, SLOW, 50))
        file.create_group("virtual").create_virtual_dataset("data", layout)
        header = h5py.h5o.get_info(pixels.id).addr
    with open(path, "rb") as file:
        whole = file.read()

    def places(signature):
        at, found = whole.find(signature), []
        while at >= 0:
            found.append(at)
            at = whole.find(signature, at + 1)
        return found

    def write(name, *changes, text, frame=1):
        changed = bytearray(whole)
        for at, content in changes:
            changed[at:at + len(content)] = content
        with open(os.path.join(folder, name), "wb") as file:
            file.write(changed)
        expect(f"{name}#{frame}", text)

    def number(value):
        return struct.pack("<Q", value)

    groups = [at for at in places(b"TREE") if whole[at + 4] == 0]
    chunks = [at for at in places(b"TREE") if whole[at + 4] == 1]
    leaves = [at for at in chunks if whole[at + 5] == 0]
    top = next(at for at in chunks if whole[at + 5] == 1)
    names, heaps, values = places(b"SNOD"), places(b"HEAP"), places(b"GCOL")
    for at in groups[:1]:
        write("tree_names.h5", (at + 32, number(at)), text="names of a group that are reached twice")
        write("tree_deep.h5", (at + 5, b"\1"), (at + 32, number(at)), text="expected a node of a tree")
        write("tree_many.h5", (at + 6, b"\xff\xff"), text="expected a node of a tree")
        write("tree_far.h5", (at + 32, number(1 << 40)), text="found the end of the file")
        write("tree_right.h5", (at + 16, number(at)), text="other neighbours")
    write("name_far.h5", (names[0] + 8, number(1 << 30)), text="a name that is not within its local heap")
    segment = struct.unpack_from("<Q", whole, heaps[0] + 24)[0]
    write("heap_circle.h5", (heaps[0] + 16, number(8)), (segment + 8, number(8)), text="lead in a circle")
    write("heap_size.h5", (heaps[0] + 8, number(1 << 50)), text="found the end of the file")
    for n, text in ((0, "an object of a global heap of 0 bytes"), (1 << 40, "an object of a global heap of 1099511627776")):
        write(f"global_{n}.h5", *[(at + 16, struct.pack("<HHIQ", 0 if n == 0 else 1, 0, 0, n)) for at in values], text=text)
    write("global_size.h5", *[(at + 8, number(0)) for at in values], text="expected a global heap")
    write("chunks_circle.h5", (leaves[0] + 16, number(leaves[0])), text="other neighbours")
    write("chunks_twice.h5", (top + 112, whole[top + 64:top + 72]), text="reached twice")
    write("message.h5", (header + 18, b"\xf8\xff"), text="a message of 65528 bytes is larger than its block")
    kinds, blocks = {}, [(header + 16, struct.unpack_from("<I", whole, header + 8)[0])]
    for begin, length in blocks:
        at = begin
        while at < begin + length:
            kind, size = struct.unpack_from("<HH", whole, at)
            kinds[kind] = at + 8
            if kind == 16:
                blocks.append(struct.unpack_from("<QQ", whole, at + 8))
            at += 8 + size
    write("rank.h5", (kinds[1] + 1, b"\xc8"), text="with 200 dimensions")
    write("extent.h5", (kinds[1] + 8, number(1 << 60)), text="too many elements")
    write("type.h5", (kinds[3] + 10, b"\xff\xff"), text="whose bits do not fit")
    write("filters.h5", (kinds[11] + 1, b"\x20"), text="filters that end early")
    write("chunk_shape.h5", (kinds[8] + 11, bytes(4)), text="chunks without size")
    continued = kinds[16]
    write("header_circle.h5", (struct.unpack_from("<Q", whole, continued)[0],
                               struct.pack("<HHI", 16, 16, 0) + whole[continued:continued + 16]), text="lead in a circle")


def endless(folder):
    """libhdf5 opens sources of virtual data sets without end by itself."""
    with open(os.path.join(folder, "global_0.h5"), "rb") as file:
        damaged = file.read()
    with open(os.path.join(folder, "source.h5"), "wb") as file:
        file.write(damaged)
    plan = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    ever = h5py.h5s.UNLIMITED
    space = h5py.h5s.create_simple((0, SLOW, FAST), (ever, SLOW, FAST))
    space.select_hyperslab((0, 0, 0), (ever, 1, 1), (1, SLOW, FAST), (1, SLOW, FAST))
    plan.set_virtual(space, b"source.h5", b"entry/data/data", space)
    with h5py.File(os.path.join(folder, "endless_source.h5"), "w", libver="latest") as file:
        group = file.create_group("entry/data")
        whole = h5py.h5s.create_simple((0, SLOW, FAST), (ever, SLOW, FAST))
        h5py.h5d.create(group.id, b"data", h5py.h5t.STD_U16LE, whole, plan)
    expect("endless_source.h5#1", "source.h5: /entry/data/data: damaged: .*an object of a global heap of 0 bytes")


def links(folder):
    linked(folder, "circle.h5", data=h5py.SoftLink("/entry/data/other"), other=h5py.SoftLink("/entry/data/data"))
    expect("circle.h5#1", "circle")
    linked(folder, "there.h5", data=h5py.ExternalLink("back.h5", "/entry/data/data"))
    linked(folder, "back.h5", data=h5py.ExternalLink("there.h5", "/entry/data/data"))
    expect("there.h5#1", "circle")
    linked(folder, "absolute.h5", data=h5py.ExternalLink("/etc/passwd", "/data"))
    expect("absolute.h5#1", "/etc/passwd, which is not below its folder")
    linked(folder, "up.h5", data=h5py.ExternalLink("modules/../../file.h5", "/data"))
    expect("up.h5#1", "not below its folder")
    linked(folder, "missing.h5", data_000001=h5py.ExternalLink("no_such.h5", "/data"))
    expect("missing.h5#1", "no_such.h5: cannot open.*a link of")
    linked(folder, "empty.h5")
    expect("empty.h5#1", "expected images as the data set")
    with h5py.File(os.path.join(folder, "virtual_circle.h5"), "w") as file:
        layout = h5py.VirtualLayout((2, SLOW, FAST), "u2")
        layout[:] = h5py.VirtualSource(".", "entry/data/data", (2, SLOW, FAST))
        file.create_group("entry/data").create_virtual_dataset("data", layout)
    expect("virtual_circle.h5#1", "circle")
    with h5py.File(os.path.join(folder, "overlap.h5"), "w") as file:
        layout = h5py.VirtualLayout((2, SLOW, FAST), "u2")
        own = h5py.VirtualSource("lz4_u2.h5", "entry/data/data", (5, SLOW, FAST))
        layout[:, :40] = own[:2, :40]
        layout[:, 39:59] = own[:2, 39:59]
        file.create_group("entry/data").create_virtual_dataset("data", layout)
    expect("overlap.h5#1", "overlaps another")
    with h5py.File(os.path.join(folder, "huge.h5"), "w") as file:
        file.create_dataset("entry/data/data", (2, 1 << 20, 1 << 20), "u4", chunks=(1, 1 << 10, 1 << 10))
    expect("huge.h5#1", "2^28 pixels")
    with h5py.File(os.path.join(folder, "unwritten.h5"), "w") as file:
        file.create_dataset("entry/data/data", (2, SLOW, FAST), "u4", chunks=(1, SLOW, FAST), compression="gzip")
    expect("unwritten.h5#2", "image 2 (from 1) was never written")
    with h5py.File(os.path.join(folder, "unwritten_plain.h5"), "w") as file:
        file.create_dataset("entry/data/data", (2, SLOW, FAST), "u4")
    expect("unwritten_plain.h5#2", "not in the file")
    with h5py.File(os.path.join(folder, "complex.h5"), "w") as file:
        file.create_dataset("entry/data/data", data=numpy.ones((2, SLOW, FAST), "c8"))
    expect("complex.h5#1", "another type")
    with h5py.File(os.path.join(folder, "filter.h5"), "w") as file:
        create = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
        create.set_chunk((1, SLOW, FAST))
        create.set_filter(32767, h5py.h5z.FLAG_OPTIONAL, ())
        made = h5py.h5d.create(file.create_group("entry/data").id, b"data", h5py.h5t.NATIVE_UINT16,
                               h5py.h5s.create_simple((2, SLOW, FAST)), create)
        made.write_direct_chunk((0, 0, 0), b"abc")
    expect("filter.h5#1", "HDF5 filter 32767")


if __name__ == "__main__":
    damage(sys.argv[1])
    structure(sys.argv[1])
    endless(sys.argv[1])
    links(sys.argv[1])
