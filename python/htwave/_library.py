"""The shared library: where it is, its functions (include/htwave/api.h), its errors."""
import ctypes as c
import os
from pathlib import Path

NAME = "libhtwave.so.0"
NEEDS = 1  # of HT_API_VERSION
INTERRUPTED = 7  # HT_API_INTERRUPTED


class Error(Exception):
    """What htwave refuses or fails at, with its message; `code` is that of htwave/api.h."""

    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code


class Group(c.Structure):  # struct ht_api_group
    _fields_ = [("name", c.c_char * 64), ("receivers", c.c_int64), ("readings", c.c_int64),
                ("samples", c.c_int64), ("start", c.c_double), ("every", c.c_double)]


class Field(c.Structure):  # struct ht_api_snapshot
    _fields_ = [("field", c.c_char_p), ("step", c.c_int64), ("time", c.c_double),
                ("rank", c.c_int), ("shape", c.c_int64 * 3), ("lower", c.c_double * 3),
                ("spacing", c.c_double * 3), ("values", c.POINTER(c.c_double))]


STOP = c.CFUNCTYPE(c.c_int, c.c_void_p)
MESSAGE = c.CFUNCTYPE(None, c.c_void_p, c.c_char_p)
SNAPSHOT = c.CFUNCTYPE(c.c_int, c.c_void_p, c.POINTER(Field))

_handle, _number, _text, _reals = c.c_void_p, c.c_int, c.c_char_p, c.POINTER(c.c_double)
_out = c.POINTER
FUNCTIONS = {  # result, arguments
    "version": (c.c_int, []),
    "release": (c.c_char_p, []),
    "error": (c.c_char_p, []),
    "open": (c.c_int, [_text, _number, _out(_text), _out(_handle)]),
    "close": (None, [_handle]),
    "stop": (None, [_handle, STOP, c.c_void_p]),
    "messages": (None, [_handle, MESSAGE, c.c_void_p]),
    "model_name": (c.c_int, [_handle, _number, _text]),
    "model_shape": (c.c_int, [_handle, _text, _out(_number), _out(c.c_int64)]),
    "model_get": (c.c_int, [_handle, _text, _reals]),
    "model_set": (c.c_int, [_handle, _text, _reals]),
    "signal_set": (c.c_int, [_handle, _number, c.c_int64, c.c_double, _reals]),
    "shots": (c.c_int, [_handle, _out(_number)]),
    "time": (c.c_int, [_handle, _reals, _out(c.c_int64), _reals]),
    "groups": (c.c_int, [_handle, _number, _out(_number)]),
    "group": (c.c_int, [_handle, _number, _number, _out(Group)]),
    "positions": (c.c_int, [_handle, _number, _number, _reals]),
    "reading": (c.c_int, [_handle, _number, _number, _number, _text]),
    "snapshots": (c.c_int, [_handle, c.c_double, SNAPSHOT, c.c_void_p]),
    "forward": (c.c_int, [_handle, _number, _number, _reals]),
    "parameters": (c.c_int, [_handle, _number, _out(_text)]),
    "illumination": (c.c_int, [_handle, _number, _reals]),
    "backward": (c.c_int, [_handle, _reals, _out(_reals)]),
    "backward_signal": (c.c_int, [_handle, _number, _out(c.c_int64), _reals]),
    "misfit": (c.c_int, [_handle, _text, _reals, _reals, _reals, _out(_reals)]),
}


def _places():
    """HTWAVE_LIBRARY, beside the package, a build tree around it, where the system looks."""
    here = Path(__file__).resolve().parent
    if os.environ.get("HTWAVE_LIBRARY"):
        return [os.environ["HTWAVE_LIBRARY"]]
    near = [here / NAME, here.parents[1] / "build" / NAME]
    return [str(place) for place in near if place.exists()] + [NAME]


def _open():
    tried = []
    for place in _places():
        try:
            library = c.CDLL(place)
            library.ht_api_version.restype = c.c_int
            if library.ht_api_version() < NEEDS:
                raise ImportError(f"htwave: {place} is older than this package: install both anew")
            return library
        except OSError as error:
            tried.append(f"{place}: {error}")
    raise ImportError(f"htwave: no {NAME}: `make library` builds it, HTWAVE_LIBRARY names it "
                      f"({'; '.join(tried)})")


_library = _open()
for _name, (_result, _arguments) in FUNCTIONS.items():
    _function = getattr(_library, "ht_api_" + _name)
    _function.restype, _function.argtypes = _result, _arguments


def raw(name):
    return getattr(_library, "ht_api_" + name)


def call(name, *arguments):
    code = raw(name)(*arguments)
    if code:
        raise Error(raw("error")().decode(errors="replace"), code)


def release():
    """The version of the library, as "0.1.0"."""
    return raw("release")().decode()


def reals(array):
    """The address of a contiguous array of doubles, for a call."""
    return array.ctypes.data_as(c.POINTER(c.c_double))
