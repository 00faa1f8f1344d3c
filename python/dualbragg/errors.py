"""Exceptions: one for each kind of failure."""


class Error(Exception):
    """A call failed. The text of the exception is the library's message."""


class UsageError(Error, ValueError):
    """Wrong use: an unknown name, a shape or a type that does not fit."""


class InputError(Error, ValueError):
    """A value or the content of a file cannot be used."""


class FileError(Error, OSError):
    """A file cannot be read or written."""


class OutOfMemoryError(Error, MemoryError):
    """The library could not allocate memory."""


class CancelledError(Error):
    """The caller's progress function has ended the work."""


class UnsupportedError(Error, NotImplementedError):
    """This build or version cannot do it."""


class DeviceError(Error, RuntimeError):
    """The device is missing, or has failed."""
