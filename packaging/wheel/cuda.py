"""Makes the wheel dualbragg-cuda13 of one that was built with CUDA: its module alone, which the package dualbragg of the same
version loads in place of its own.

usage: cuda.py WHEEL FOLDER_FOR_THE_NEW_ONE
"""

import base64
import hashlib
import pathlib
import re
import sys
import zipfile

NAME = "dualbragg_cuda13"
MODULE = "dualbragg/_dualbragg.abi3.so"
TEXT = '"""The module of the package dualbragg, with kernels for NVIDIA GPUs."""\n\nversion = "{}"\n'
METADATA = """Metadata-Version: 2.1
Name: dualbragg-cuda13
Version: {0}
Summary: NVIDIA GPUs for the package dualbragg; needs a driver of CUDA 13
Requires-Dist: dualbragg == {0}
"""


def contents(given):
    """Names and bytes of the new wheel's files, without the list of them."""
    with zipfile.ZipFile(given) as wheel:
        info, = {name.split("/")[0] for name in wheel.namelist() if ".dist-info/" in name}
        module, kind = wheel.read(MODULE), wheel.read(f"{info}/WHEEL")
        licences = {name: wheel.read(name) for name in wheel.namelist() if name.startswith(f"{info}/licenses/")}
    if b"db_cuda_register" not in module:
        sys.exit(f"cuda.py: {given}: expected a wheel that was built with --config-settings cmake.define.DB_WITH_CUDA=ON")
    version = info.split("-")[1].removesuffix(".dist")
    own = f"{NAME}-{version}.dist-info"
    return version, own, {
        f"{NAME}/__init__.py": TEXT.format(version).encode(), f"{NAME}/_dualbragg.abi3.so": module,
        f"{own}/METADATA": METADATA.format(version).encode(), f"{own}/WHEEL": kind,
        **{own + name[len(info):]: text for name, text in licences.items()}}


def main(given, folder):
    version, own, files = contents(given)
    tags = re.fullmatch(r"[^-]+-[^-]+-(.+)\.whl", pathlib.Path(given).name).group(1)
    made = pathlib.Path(folder) / f"{NAME}-{version}-{tags}.whl"
    rows = []
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as wheel:
        for name, content in files.items():
            digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
            rows.append(f"{name},sha256={digest},{len(content)}\n")
            wheel.writestr(name, content)
        wheel.writestr(f"{own}/RECORD", "".join(rows) + f"{own}/RECORD,,\n")
    print(made)


if __name__ == "__main__":
    main(*sys.argv[1:])
