"""One table of what a GPU took beside what it is to take: gpu_table.py FOLDER [GPU], where FOLDER has gpu-bench.json.

Bounds (ms) are goals, not limits of a test: the ratio says what is left to gain. Those of kernels follow from what they
write and from their instructions (bench/NOTES.md); of whole calls, whose results come to ordinary memory, from these
and from copies at 20 GB/s. Standard library only.
"""
import json
import os
import sys

STILL, SAMPLES, SPOTS, THAUMATIN = "still", "mosaic", "small crystal, 1024²", "thaumatin, 4096²"
# what, bound (ms), load and size or scene and call, time of the row
BOUNDS = [
    ("image 1024², kernel", 0.020, (STILL, 1024), "forward_kernel"),
    ("image 4096², kernel", 0.080, (STILL, 4096), "forward_kernel"),
    ("image 1024², 100 samples, kernel", 0.23, (SAMPLES, 1024), "forward_kernel"),
    ("16 derivative images 4096², kernel", 0.50, (STILL, 4096), "gradient_kernel"),
    ("16 derivative images 1024², 100 samples, kernel", 0.70, (SAMPLES, 1024), "gradient_kernel"),
    ("normal equations of 16, 4096², kernel", 0.80, (STILL, 4096), "normal_kernel"),
    ("a million F, 256² x 100 phi steps, whole call", 0.25, ("list", 256), "forward_warm"),
    ("image 4096², to locked memory", 1.4, (STILL, 4096), "forward_to_locked_memory"),
    ("16 derivative images 4096², whole call", 25.0, (STILL, 4096), "gradient_warm"),
    ("1000 domains 1024², whole call", 3.0, (SPOTS, "sampled_1000"), "time"),
    ("1000 domains 1024², stays there", 2.8, (SPOTS, "sampled_1000"), "time_on_device"),
    ("closed 1024², whole call", 0.55, (SPOTS, "image"), "time"),
    ("closed thaumatin 4096², whole call", 3.7, (THAUMATIN, "image"), "time"),
    ("closed 1024², stays there", 0.35, (SPOTS, "image"), "time_on_device"),
    ("closed thaumatin 4096², stays there", 0.40, (THAUMATIN, "image"), "time_on_device"),
    ("closed 1024², 16 derivative images, stay there", 2.0, (SPOTS, "derivatives_16"), "time_on_device"),
    ("closed thaumatin, 16 derivative images, stay there", 3.0, (THAUMATIN, "derivatives_16"), "time_on_device"),
    ("closed 1024², normal equations of 16", 1.5, (SPOTS, "normal_16"), "time"),
    ("closed thaumatin, normal equations of 16", 1.5, (THAUMATIN, "normal_16"), "time"),
    ("closed thaumatin, normal equations of 40", 3.0, (THAUMATIN, "normal_40"), "time"),
]


def rows_of(report):
    """Times by load and size, or scene and call, of mixed precision."""
    rows = {(row["load"], row["size"]): row for row in report["rows"] if row["precision"] == "mixed"}
    for row in report.get("spots", {}).get("rows", []):
        if row["precision"] == "mixed":
            rows[row["scene"], row["call"]] = row
    return rows


def table(report, gpu):
    rows = rows_of(report)
    yield f"{gpu}, {report['run']['date']}, {report['run']['threads']} threads, mixed precision, minima:\n"
    yield "| work | measured, ms | bound, ms | ratio |\n|---|---:|---:|---:|"
    for work, bound, key, time in BOUNDS:
        found = rows.get(key, {}).get(time, {}).get("min")
        yield f"| {work} | " + (f"{1e3 * found:.3g} | {bound:g} | {1e3 * found / bound:.2f} |" if found else f"- | {bound:g} | - |")


if __name__ == "__main__":
    with open(os.path.join(sys.argv[1], "gpu-bench.json"), encoding="utf-8") as file:
        print("\n".join(table(json.load(file), sys.argv[2] if len(sys.argv) > 2 else "GPU")))
