"""Checks what a wheel asks of a system, puts the licences of its libraries into it, names them in its metadata, and names it for
what it runs on.

usage: finish.py WHEEL PROCESSOR LICENCES FOLDER_FOR_THE_NEW_ONE
"""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

GLIBC = (2, 28)
OF_REFINEMENT = ("gsl", "libyaml", "nlopt")  # in a wheel with refinement alone
# Licences besides MIT that bind those who hand on the wheel, by the library.
BINDING = {"gsl": "GPL-3.0-or-later", "nlopt": "LGPL-2.1-or-later", "gemmi": "MPL-2.0"}
OF_THE_SYSTEM = re.compile(r"(libc|libm|libpthread|libdl|librt)\.so\.\d+|ld-linux-.*\.so\.\d+")


def check(program, processor):
    """It asks for the C library of that age and for nothing else."""
    told = subprocess.run(["readelf", "-hdVW", program], capture_output=True, text=True, check=True).stdout
    others = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", told) if not OF_THE_SYSTEM.fullmatch(name)]
    later = sorted({v for v in re.findall(r"GLIBC_(\d+\.\d+)", told) if tuple(map(int, v.split("."))) > GLIBC})
    if others or later:
        sys.exit(f"finish.py: {program.name} asks for {others or ''} GLIBC {later or ''}; "
                 f"expected glibc {GLIBC[0]}.{GLIBC[1]} alone")
    if {"x86_64": "X86-64", "aarch64": "AArch64"}[processor] not in told:
        sys.exit(f"finish.py: {program.name} is not for {processor}")


def add_licences(module, info, licences):
    """Copies those of the libraries that are in the module, and names them in METADATA."""
    left_out = () if b"db_fit_" in module.read_bytes() else OF_REFINEMENT
    shutil.copytree(licences, info / "licenses" / "bundled", ignore=lambda folder, names: left_out)
    bundled = {path.name for path in (info / "licenses" / "bundled").iterdir()}
    named = " AND ".join(["MIT"] + [BINDING[name] for name in BINDING if name in bundled])
    metadata = info / "METADATA"
    text, count = re.subn(r"^(License|License-Expression): MIT$", rf"\1: {named}", metadata.read_text("utf-8"), flags=re.M)
    if count != 1:
        sys.exit(f"finish.py: {metadata}: expected one line License: MIT, found {count}")
    metadata.write_text(text, "utf-8")


def main(wheel, processor, licences, folder):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", place, wheel], check=True)
        root, = pathlib.Path(place).iterdir()
        programs = [*root.glob("dualbragg/_dualbragg*.so"), root / "dualbragg/bin/dualbragg"]
        if len(programs) != 2:
            sys.exit(f"finish.py: {wheel}: expected a module and a program, found {programs}")
        for program in programs:
            check(program, processor)
        info, = root.glob("*.dist-info")
        add_licences(programs[0], info, licences)
        subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", place, str(root)], check=True)
        packed, = pathlib.Path(place).glob("*.whl")
        platform = f"manylinux_{GLIBC[0]}_{GLIBC[1]}_{processor}"
        subprocess.run([sys.executable, "-m", "wheel", "tags", "--remove", "--platform-tag", platform, packed], check=True)
        packed, = pathlib.Path(place).glob("*.whl")
        shutil.move(packed, pathlib.Path(folder) / packed.name)


if __name__ == "__main__":
    main(*sys.argv[1:])
