"""Makes the C source of the extension module from the public headers.

usage: bindings.py COMPILER OUTPUT.c INCLUDE_DIRECTORY...

All structs, enums and functions of the headers are bound as they stand; none is listed here.
DB_PYTHON_FIT and DB_PYTHON_CUDA tell whether the refinement and NVIDIA GPUs are among them.
"""

import pathlib
import re
import subprocess
import sys

import cffi

MODULE = "dualbragg._dualbragg"
HEADERS = "dualbragg/"
# Of the headers that promise nothing, those that the package needs.
EXPERT = ["beam_sources", "dials_frame", "experiment_geometry", "mosflm_matrix", "sensor_materials", "setup_fields", "symmetry", "text_file"]
EXPERT_FIT = ["fit_configurations", "fit_files", "fit_keys", "fit_quantities"]
# Lines of the library's notices, and of the progress of long work. Python handles signals (Ctrl-C) only while its own
# code runs, so long work that tells nobody comes back to it now and then: pass_progress, pass_question.
CALLBACKS = """
extern "Python" void take_notice(void *user, const char *line);
extern "Python" int take_progress(void *user, double fraction);
int pass_progress(void *user, double fraction);
"""
CODE = """
#include <time.h>
static int take_progress(void *user, double fraction);
/* Whether 50 ms are over since it last said so to this thread. */
static int it_is_time(void) {
    static _Thread_local double last;
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    const double now = (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
    if (now - last < 0.05) return 0;
    last = now;
    return 1;
}
static int pass_progress(void *user, double fraction) {
    return it_is_time() ? take_progress(user, fraction) : 0;
}
"""
# Defaults that the headers have as macros, which cffi does not see.
DEFAULTS = """
static const db_noise_options noise_defaults;
"""
DEFAULTS_CODE = """
static const db_noise_options noise_defaults = DB_NOISE_OPTIONS_INIT;
"""
# A plan, and an experiment of its own, which takes the values of its parameters: what autograd asks for is one call each.
# Memory is given by addresses, which Python makes the least of. stream: 0, or that of a GPU which the plan works on.
RENDERING = """
struct rendering {
    db_experiment *experiment;
    db_plan *plan;
    const db_parameter *parameter;
    double *last; /* [count] values at which the plan is, if it is current */
    void **derivative; /* [count] */
    size_t count, image_bytes;
    size_t bad; /* number of a value that is not finite; count: none */
    int current;
};
"""
RENDERING_CALLS = """
db_status rendering_forward(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t image);
db_status rendering_gradient(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t image,
                             uintptr_t derivatives);
db_status rendering_vjp(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t cotangent, uintptr_t parameters,
                        uintptr_t amplitudes);
db_status rendering_jvp(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t parameters,
                        uintptr_t amplitudes, uintptr_t image, uintptr_t tangent);
"""
RENDERING_CODE = """
#include <math.h>
#include <string.h>
static db_status rendering_at(struct rendering *r, uintptr_t values, uintptr_t stream) {
    const double *const value = (const double *)values;
    r->bad = r->count;
    if (stream) {
        const db_status status = db_plan_set_stream(r->plan, DB_STREAM_ASYNCHRONOUS, (void *)stream);
        if (status != DB_OK) return status;
    }
    if (r->current && memcmp(r->last, value, r->count * sizeof *value) == 0) return DB_OK;
    r->current = 0;
    for (size_t k = 0; k < r->count; k++) {
        if (!isfinite(value[k])) {
            r->bad = k;
            return DB_ERROR_USAGE;
        }
        db_parameter_set(r->experiment, r->parameter[k], value[k]);
        r->last[k] = value[k];
    }
    const db_status status = db_plan_update(r->plan, r->experiment);
    r->current = status == DB_OK;
    return status;
}
static db_status rendering_forward(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t image) {
    const db_status status = rendering_at(r, values, stream);
    return status == DB_OK ? db_plan_forward(r->plan, (void *)image) : status;
}
static db_status rendering_gradient(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t image,
                                    uintptr_t derivatives) {
    const db_status status = rendering_at(r, values, stream);
    for (size_t k = 0; k < r->count; k++) r->derivative[k] = (char *)derivatives + k * r->image_bytes;
    return status == DB_OK ? db_plan_gradient(r->plan, (void *)image, r->derivative) : status;
}
/* 0: none, or not wanted */
static db_plan_vector rendering_vector(const struct rendering *r, uintptr_t parameters, uintptr_t amplitudes) {
    db_plan_vector made = DB_PLAN_VECTOR_INIT;
    if (r->count) made.parameters = (double *)parameters;
    made.amplitudes = (double *)amplitudes;
    return made;
}
static db_status rendering_vjp(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t cotangent,
                               uintptr_t parameters, uintptr_t amplitudes) {
    const db_plan_vector found = rendering_vector(r, parameters, amplitudes);
    const db_status status = rendering_at(r, values, stream);
    return status == DB_OK ? db_plan_vjp(r->plan, (const void *)cotangent, NULL, &found) : status;
}
static db_status rendering_jvp(struct rendering *r, uintptr_t values, uintptr_t stream, uintptr_t parameters,
                               uintptr_t amplitudes, uintptr_t image, uintptr_t tangent) {
    const db_plan_vector along = rendering_vector(r, parameters, amplitudes);
    const db_status status = rendering_at(r, values, stream);
    return status == DB_OK ? db_plan_jvp(r->plan, &along, (void *)image, (void *)tangent) : status;
}
"""
# DLPack (https://dmlc.github.io/dlpack): how arrays of different packages share memory, that of GPUs, too.
TENSORS = """
struct dl_tensor {
    void *data;
    int32_t device_type, device_id;
    int32_t dimensions;
    uint8_t code, bits;
    uint16_t lanes;
    int64_t *shape;
    int64_t *strides;
    uint64_t byte_offset;
};
struct dl_managed {
    struct dl_tensor tensor;
    void *context;
    void (*deleter)(struct dl_managed *self);
};
"""
TENSOR_CALLBACKS = """
extern "Python" void give_back(void *context);
struct dl_managed *lend(struct dl_tensor what, const int64_t *shape, void *context);
void capsule_gone(void *capsule);
"""
TENSOR_CODE = """
#include <stdlib.h>
#include <string.h>
static void give_back(void *context);
static void returned(struct dl_managed *self) {
    give_back(self->context);
    free(self);
}
/* NULL without memory */
static struct dl_managed *lend(struct dl_tensor what, const int64_t *shape, void *context) {
    const size_t bytes = (size_t)what.dimensions * sizeof *shape;
    struct dl_managed *const made = malloc(sizeof *made + bytes);
    if (!made) return NULL;
    made->tensor = what;
    made->tensor.shape = (int64_t *)(made + 1);
    made->tensor.strides = NULL; /* C order */
    memcpy(made->tensor.shape, shape, bytes);
    made->context = context;
    made->deleter = returned;
    return made;
}
/* Nobody has taken what was lent. */
static void capsule_gone(void *capsule) {
    static const char name[] = "dltensor";
    if (!PyCapsule_IsValid(capsule, name)) return;
    struct dl_managed *const made = PyCapsule_GetPointer(capsule, name);
    made->deleter(made);
}
"""
FIT_CALLBACKS = """
extern "Python" void take_event(void *user, const db_fit_shots_event *event);
extern "Python" int ask_cancelled(void *user);
extern "Python" void take_input(void *user, const char *key, const char *file);
int pass_question(void *user);
"""
FIT_CODE = """
static int ask_cancelled(void *user);
static int pass_question(void *user) {
    return it_is_time() ? ask_cancelled(user) : 0;
}
"""


def declarations(compiler, folders, source):
    """What the public headers declare, without what they include from elsewhere."""
    includes = [f"-I{folder}" for folder in folders]
    text = subprocess.run([compiler, "-E", *includes, "-D__attribute__(x)=", "-xc", "-"],
                          input=source, capture_output=True, text=True, check=True).stdout
    own, kept = False, []
    for line in text.splitlines():
        if line.startswith("# "):
            own = HEADERS in line.split('"')[1]
        elif own and line.strip():
            kept.append(line)
    # cffi takes no members that point to arrays of constants: a struct has members that it is not told of
    text = re.sub(r"^\s*const \w+ \(\*\w+\)\[\d+\];([^}]*)", r"\1 ...;\n", "\n".join(kept), flags=re.M)
    # inline functions of these headers hold no braces of their own
    return re.sub(r"static inline ([^{;]*?)\s*\{[^{}]*\}", r"\1;", text)


def main(compiler, output, *folders):
    headers = [h.name for f in folders for h in sorted(pathlib.Path(f, HEADERS).glob("*.h"))]
    fit, cuda = "fit.h" in headers, "cuda.h" in headers
    headers += [f"expert/{name}.h" for name in EXPERT + EXPERT_FIT * fit]
    source = "".join(f"#include <{HEADERS}{name}>\n" for name in headers)
    ffi = cffi.FFI()
    ffi.set_source(MODULE, f"#define DB_PYTHON_FIT {int(fit)}\n#define DB_PYTHON_CUDA {int(cuda)}\n" + source + CODE +
                   DEFAULTS_CODE + RENDERING + RENDERING_CODE + TENSORS + TENSOR_CODE + FIT_CODE * fit)
    ffi.cdef(declarations(compiler, folders, source) + "\n#define DB_PYTHON_FIT ...\n#define DB_PYTHON_CUDA ...\n" +
             CALLBACKS + DEFAULTS + RENDERING + RENDERING_CALLS + TENSORS + TENSOR_CALLBACKS + FIT_CALLBACKS * fit)
    ffi.emit_c_code(output)


if __name__ == "__main__":
    main(*sys.argv[1:])
