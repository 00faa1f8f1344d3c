"""dualbragg beside the PyTorch port of nanoBragg: processor time and memory of images and gradients, in one run.

usage: compare.py PORT [--compiled]

PORT: a clone of github.com/hoidn/nanoBragg (its folder src is used). Each program runs in processes of its own, on one thread,
in single precision; times are processor time, the least of several repeats after a first one. --compiled: the port also under
torch.compile, which it does by itself; its compilation is not counted. Needs torch, fabio, scipy and dualbragg.
"""

import argparse
import contextlib
import io
import json
import os
import pathlib
import resource
import subprocess
import sys
import time

REPEATS = 5
PARAMETERS = ["cell_a", "cell_b", "cell_c", "misset_x", "misset_y", "misset_z"]
AT = [78.0, 79.0, 38.0, 10.0, 20.0, 30.0]
# name, pixels along an edge, mosaic domains, shots
WORK = [("image of 256 x 256", 256, 1, 0), ("image of 512 x 512", 512, 1, 0),
        ("image of 256 x 256, 10 mosaic domains", 256, 10, 0), ("64 shots of 128 x 128", 128, 1, 64)]
PROGRAMS = ["dualbragg.torch", "dualbragg.nanobrag_torch", "port"]


def own_renderer(pixels, domains):
    import dualbragg
    from dualbragg.torch import Renderer
    dualbragg.threads(1)
    e = dualbragg.Experiment(cell=AT[:3], misset=AT[3:], Ncells=(8, 8, 12), default_F=100, wavelength=1.0,
                             distance=100, detector_pixels=(pixels, pixels), pixel_size=51.2 / pixels,
                             mosaic_spread=0.5 if domains > 1 else 0, mosaic_domains=domains, oversample=1)
    return Renderer(e, PARAMETERS)


def port_renderer(pixels, domains):
    """The port's classes, or ours with their names."""
    from nanobrag_torch.config import BeamConfig, CrystalConfig, DetectorConfig
    from nanobrag_torch.models.crystal import Crystal
    from nanobrag_torch.models.detector import Detector
    from nanobrag_torch.simulator import Simulator
    detector = Detector(DetectorConfig(distance_mm=100.0, pixel_size_mm=51.2 / pixels, spixels=pixels,
                                       fpixels=pixels, oversample=1))
    beam = BeamConfig(wavelength_A=1.0)

    def render(values):
        config = CrystalConfig(cell_a=AT[0], cell_b=AT[1], cell_c=AT[2], N_cells=(8, 8, 12), default_F=100.0,
                               misset_deg=tuple(values[3:]), mosaic_domains=domains,
                               mosaic_spread_deg=0.5 if domains > 1 else 0.0)
        crystal = Crystal(config)
        crystal.cell_a, crystal.cell_b, crystal.cell_c = values[:3]
        return Simulator(crystal=crystal, detector=detector, beam_config=beam).run()
    return render


def least(work):
    """Processor time, the least of several."""
    work()
    found = []
    for _ in range(REPEATS):
        start = time.process_time()
        work()
        found.append(time.process_time() - start)
    return min(found)


def measure(program, number):
    """One line of JSON: seconds of an image and of a misfit's gradient, megabytes."""
    import torch
    torch.set_num_threads(1)
    _, pixels, domains, shots = WORK[number]
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    own = program == "dualbragg.torch"
    if program == "dualbragg.nanobrag_torch":
        import dualbragg
        import dualbragg.nanobrag_torch
        dualbragg.threads(1)
        dualbragg.nanobrag_torch.install()
    render = (own_renderer if own else port_renderer)(pixels, domains)
    values = torch.tensor(AT, dtype=torch.float64 if own else torch.float32)
    if shots:
        turns = torch.linspace(0, 5, shots, dtype=values.dtype)[:, None] * (torch.arange(6) > 2)
        values = values + turns

    def images(at):
        if own or not shots:
            return render(at)
        return torch.stack([render(v) for v in at])

    def forward():
        with torch.no_grad():
            images(values)

    with torch.no_grad():
        data = images(values) * 0.9

    def gradient():
        at = values.clone().requires_grad_()
        (images(at) - data).square().sum().backward()
        assert torch.isfinite(at.grad).all()

    with contextlib.redirect_stdout(io.StringIO()):
        found = dict(forward=least(forward), gradient=least(gradient))
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    print(json.dumps({**found, "megabytes": memory / 1024}))


def run(program, number, port, compiled):
    path = [str(pathlib.Path(port, "src"))] if program == "port" else []
    path += [os.environ["PYTHONPATH"]] if os.environ.get("PYTHONPATH") else []
    settings = {**os.environ, "PYTHONPATH": os.pathsep.join(path), "KMP_DUPLICATE_LIB_OK": "TRUE",
                "OMP_NUM_THREADS": "1"}
    settings.pop("NANOBRAGG_DISABLE_COMPILE", None)
    if not compiled:
        settings["NANOBRAGG_DISABLE_COMPILE"] = "1"
    done = subprocess.run([sys.executable, __file__, "--measure", program, str(number)], env=settings,
                          capture_output=True, text=True, check=False)
    if done.returncode:
        return None, done.stderr.strip().splitlines()[-1:]
    return json.loads(done.stdout.splitlines()[-1]), None


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("port", nargs="?")
    parser.add_argument("--compiled", action="store_true")
    parser.add_argument("--measure", nargs=2)
    given = parser.parse_args()
    if given.measure:
        return measure(given.measure[0], int(given.measure[1]))
    if not given.port:
        parser.error("expected the folder of the port")
    rows = [(p, False) for p in PROGRAMS] + [("port", True)] * given.compiled
    print("| work | program | image (ms) | gradient by 6 parameters (ms) | memory (MB) |")
    print("|---|---|---:|---:|---:|")
    for number, (name, *_) in enumerate(WORK):
        for program, compiled in rows:
            found, failed = run(program, number, given.port, compiled)
            label = program + (", compiled" if compiled else "")
            if failed is not None:
                print(f"| {name} | {label} | failed: {' '.join(failed)} | | |", flush=True)
                continue
            print(f"| {name} | {label} | {1e3 * found['forward']:.2f} | {1e3 * found['gradient']:.2f} | "
                  f"{found['megabytes']:.0f} |", flush=True)
    return None


if __name__ == "__main__":
    main()
