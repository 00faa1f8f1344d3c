# A user of the shared library through ctypes: structs described here are checked by their sizes, others are bytes.
import ctypes
import sys

library = ctypes.CDLL(sys.argv[1])
library.db_version.restype = ctypes.c_char_p
library.db_struct_size.restype = ctypes.c_size_t
library.db_struct_size.argtypes = [ctypes.c_char_p]
library.db_context_create.argtypes = [ctypes.POINTER(ctypes.c_void_p)]
library.db_context_message.restype = ctypes.c_char_p
library.db_context_message.argtypes = [ctypes.c_void_p]
library.db_context_destroy.argtypes = [ctypes.POINTER(ctypes.c_void_p)]


class Region(ctypes.Structure):
    _fields_ = [("panel", ctypes.c_size_t), ("fast_start", ctypes.c_int), ("slow_start", ctypes.c_int),
                ("fast_count", ctypes.c_int), ("slow_count", ctypes.c_int),
                ("offset", ctypes.c_size_t), ("stride", ctypes.c_size_t)]


class OldRegion(ctypes.Structure):
    _fields_ = Region._fields_[:-1]


def is_described(name, struct):
    return library.db_struct_size(name.encode()) == ctypes.sizeof(struct)


assert is_described("db_region", Region), library.db_struct_size(b"db_region")
assert not is_described("db_region", OldRegion)
assert library.db_struct_size(b"db_nothing") == 0

context = ctypes.c_void_p()
assert library.db_context_create(ctypes.byref(context)) == 0
experiment = ctypes.create_string_buffer(library.db_struct_size(b"db_experiment"))
assert library.db_experiment_init(context, experiment) == 0
library.db_experiment_clear(experiment)
factors = ctypes.create_string_buffer(library.db_struct_size(b"db_structure_factors"))
assert library.db_read_hkl(context, b"/no/such/file.hkl", factors) != 0
assert b"/no/such/file.hkl" in library.db_context_message(context)
library.db_context_destroy(ctypes.byref(context))
print("dualbragg", library.db_version().decode(), "through ctypes")
