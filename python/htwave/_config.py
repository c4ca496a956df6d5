"""Python values as settings "key=value" in the syntax of input files."""
import math
import os

import numpy as np

from ._library import Error


def _number(key, value, real):
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int) and not real:
        return str(value) if abs(value) < 2**31 else f"{value}L"
    if not math.isfinite(value):
        raise Error(f"{key} = {value}: must be finite")
    return repr(float(value))


def _text(value):
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n") + '"'


def _list(key, value):
    value = [item.item() if isinstance(item, np.generic) else item for item in value]
    if any(isinstance(item, dict) for item in value):
        return "(" + ", ".join(text_of(f"{key}.{n + 1}", v) for n, v in enumerate(value)) + ")"
    if any(isinstance(item, float) for item in value):  # an array has values of one type
        value = [float(item) if isinstance(item, int) else item for item in value]
    return "[" + ", ".join(text_of(key, item) for item in value) + "]"


def text_of(key, value):
    """A value, of a key for messages, as text."""
    if isinstance(value, (np.ndarray, np.generic)):
        value = value.tolist()
    if isinstance(value, os.PathLike):
        value = os.fspath(value)
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, (bool, int, float)):
        return _number(key, value, isinstance(value, float))
    if isinstance(value, dict):
        return "{ " + " ".join(f"{k} = {text_of(f'{key}.{k}', v)};" for k, v in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return _list(key, value)
    raise Error(f"{key}: must be a number, text, list or dict, not a {type(value).__name__}")


def keys_of(settings, head=""):
    """A dict, whose dicts are sections, as a list of "key=value"."""
    keys = []
    for name, value in settings.items():
        key = head + str(name)
        keys += keys_of(value, key + ".") if isinstance(value, dict) else [
            f"{key}={text_of(key, value)}"]
    return keys
