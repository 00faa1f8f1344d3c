"""Puts the licences of the libraries that auditwheel has bundled into a wheel, as Debian's packages tell them.

usage: licences.py WHEEL FOLDER_FOR_THE_NEW_ONE

The wheel then holds dualbragg-*.dist-info/licenses/bundled/PACKAGE for each, and a list of them.
"""

import pathlib
import re
import subprocess
import sys
import tempfile


def package_of(library):
    """The Debian package of a bundled library: its name without the digest that auditwheel gave it."""
    stem, end = re.fullmatch(r"(lib.+?)-[0-9a-f]{8}((?:\.[0-9]+)*\.so.*)", library).groups()
    found = subprocess.run(["dpkg", "-S", f"*/{stem}{end}"], capture_output=True, text=True, check=False)
    if found.returncode:
        sys.exit(f"licences.py: no Debian package has {stem}{end}, so that its licence is not known")
    return re.split("[:,]", found.stdout)[0]


def main(wheel, folder):
    with tempfile.TemporaryDirectory() as place:
        subprocess.run([sys.executable, "-m", "wheel", "unpack", "-d", place, wheel], check=True,
                       stdout=subprocess.DEVNULL)
        root, = pathlib.Path(place).iterdir()
        info, = root.glob("*.dist-info")
        bundled = info / "licenses" / "bundled"
        bundled.mkdir(parents=True)
        lines = []
        for library in sorted((root / "dualbragg.libs").iterdir()):
            package = package_of(library.name)
            text = pathlib.Path("/usr/share/doc", package, "copyright").read_text(encoding="utf-8")
            (bundled / package).write_text(text, encoding="utf-8")
            lines.append(f"{library.name}: {package}\n")
        (bundled / "LIST").write_text("".join(lines), encoding="utf-8")
        subprocess.run([sys.executable, "-m", "wheel", "pack", "-d", folder, str(root)], check=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
