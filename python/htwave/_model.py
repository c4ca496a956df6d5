"""Model: a handle of the library."""
import ctypes as c
import os
import signal
import sys
import threading
import warnings
from collections import namedtuple
from contextlib import contextmanager

import numpy as np

from ._config import keys_of
from ._library import INTERRUPTED, MESSAGE, SNAPSHOT, STOP, Error, Group, call, raw, reals

_HERE = os.path.dirname(__file__)

Receivers = namedtuple("Receivers", "name fields positions times")
Receivers.__doc__ = """A group of receivers in a shot: its name, the fields that it records, positions
[receiver, axis] in units of length, times [sample]. Its traces are [trace, sample], all receivers of
the first field before those of the second."""

Snapshot = namedtuple("Snapshot", "field time step values lower spacing")
Snapshot.__doc__ = """A field at a time: values[x3, x2, x1] (fewer axes in fewer dimensions) at lower +
spacing times index, which are per axis in the order x1, x2, x3."""


class _Signals:
    """SIGINT ends a call between batches of steps; its handler, KeyboardInterrupt as a rule, follows.

    Python's own handlers wait for the end of a call of C; ours only notes the signal, when the
    library asks whether to stop."""

    def __init__(self):
        self.came = self.before = None
        if threading.current_thread() is threading.main_thread():
            before = signal.getsignal(signal.SIGINT)
            if callable(before):
                self.before = before
                signal.signal(signal.SIGINT, self.note)

    def note(self, number, frame):
        self.came = (number, frame)

    def end(self):
        if self.before is None:
            return
        signal.signal(signal.SIGINT, self.before)
        if self.came:
            self.before(*self.came)


class Model:
    """A run whose model can change between calls.

    config    an input file, its text, or a dict of its keys: {"grid": {"cells": [100, 80]}, ..}
    settings  more of them, which come after: texts "grid.order=8" or dicts
    arrays    of the medium, by parameter: c=c0 with c0[x3, x2, x1], as a model file's dataset has
              it (medium.axes says otherwise), in the input's units. They replace the samples of a
              file that the input names, or become the medium (type "memory").

    record is what the last forward(record=True) has left for backward(), or None.

    Errors of the input, of arrays and of devices are htwave.Error. A model is used by one thread at
    a time, others wait; several models may exist. Close it, or use it in a `with` statement."""

    def __init__(self, config=None, *settings, **arrays):
        self._api, self._lock, self._owner = c.c_void_p(), threading.Lock(), None
        self._error = self._signals = None  # of a call
        # as long as the handle, which holds their addresses
        self._stop, self._say = STOP(self._wants_stop), MESSAGE(self._warn)
        keys = keys_of(config) if isinstance(config, dict) else []
        for setting in settings:
            keys += keys_of(setting) if isinstance(setting, dict) else [str(setting)]
        file = None if config is None or isinstance(config, dict) else os.fspath(config)
        arrays = {name: np.asarray(value) for name, value in arrays.items()}
        try:
            self._open(file, keys)
            if not arrays.keys() <= set(self._names):
                self._open(file, keys + _memory(arrays))
            self.set(**arrays)
        except BaseException:
            self.close()
            raise

    def _open(self, file, keys):
        self.close()
        self._names, self._parameters, self.record = [], None, None
        texts = (c.c_char_p * len(keys))(*(key.encode() for key in keys))
        call("open", file.encode() if file is not None else None, len(keys), texts,
             c.byref(self._api))
        name = c.create_string_buffer(64)
        while raw("model_name")(self._api, len(self._names), name) == 0:
            self._names.append(name.value.decode())
        raw("stop")(self._api, self._stop, None)
        raw("messages")(self._api, self._say, None)

    def close(self):
        """Frees memory and device; later calls raise htwave.Error."""
        if self._owner == threading.get_ident():
            raise Error("a model cannot be closed by a function that it calls")
        with self._lock:
            raw("close")(self._api)
            self._api = c.c_void_p()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def __del__(self):
        if getattr(self, "_api", None):
            self.close()

    # ---- calls ----

    def _wants_stop(self, _):
        return int(self._error is not None or self._signals.came is not None)

    def _warn(self, _, text):
        head, _, text = text.decode(errors="replace").partition(": ")
        level, frame = 1, sys._getframe()
        while frame.f_back and os.path.dirname(frame.f_code.co_filename) == _HERE:
            level, frame = level + 1, frame.f_back
        try:
            if head == "warning":
                warnings.warn(text, RuntimeWarning, stacklevel=level)
        except Warning as error:  # as the user's filter has it
            self._error = error

    @contextmanager
    def _used(self):
        """The handle, for calls of one thread. What callbacks raise and signals end them."""
        if self._owner == threading.get_ident():
            raise Error("a model cannot be used by a function that it calls")
        with self._lock:
            if not self._api:
                raise Error("the model is closed")
            self._owner, self._error, self._signals = threading.get_ident(), None, _Signals()
            try:
                yield self._api
            finally:
                self._owner = None
                self._signals.end()
                if self._error is not None:
                    raise self._error

    def _shape(self, name):
        rank, shape = c.c_int(), (c.c_int64 * 3)()
        call("model_shape", self._api, name.encode(), c.byref(rank), shape)
        return tuple(shape[:rank.value])

    @property
    def names(self):
        """The parameters of the medium that are arrays: ["c"]."""
        return list(self._names)

    def shape(self, name):
        """The shape of the array of a parameter: shape("c") is (80, 100)."""
        with self._used():
            return self._shape(name)

    def get(self, name):
        """A copy of the array of a parameter, in the units of the input."""
        values = np.empty(self.shape(name))
        with self._used() as api:
            call("model_get", api, name.encode(), reals(values))
        return values

    def set(self, **arrays):
        """Replaces arrays of the medium: set(c=c1). Any strides and real types; copied."""
        self.record = None
        for name, value in arrays.items():
            value = _doubles(name, value, self.shape(name))
            with self._used() as api:
                call("model_set", api, name.encode(), reals(value))

    def set_signal(self, source, values, apart):
        """The signal of group number `source` of "sources", from 0 on: values at the times 0, apart, ..,
        at least 4, with a cubic spline between them; 0 elsewhere."""
        values = np.asarray(values)
        values = _doubles("values", values, (values.size,))
        self.record = None
        with self._used() as api:
            call("signal_set", api, source, values.size, apart, reals(values))

    @property
    def parameters(self):
        """The names of the arrays by which gradients are, all at first; can be set."""
        return list(self._parameters or self._names)

    @parameters.setter
    def parameters(self, names):
        names = list(names)
        texts = (c.c_char_p * len(names))(*(name.encode() for name in names))
        with self._used() as api:
            call("parameters", api, len(names), texts)
        self._parameters, self.record = names, None

    # ---- facts ----

    @property
    def shots(self):
        """The number of shots."""
        count = c.c_int()
        with self._used() as api:
            call("shots", api, c.byref(count))
        return count.value

    def _time(self):
        step, steps, end = c.c_double(), c.c_int64(), c.c_double()
        with self._used() as api:
            call("time", api, c.byref(step), c.byref(steps), c.byref(end))
        return step.value, steps.value, end.value

    @property
    def step(self):
        """The time step."""
        return self._time()[0]

    @property
    def steps(self):
        """The number of time steps."""
        return self._time()[1]

    @property
    def end(self):
        """The time at which a run ends; it begins at 0."""
        return self._time()[2]

    def receivers(self, shot=0):
        """A list of Receivers, in the order of the traces of forward()."""
        with self._used() as api:
            return [_receivers(api, shot, n) for n in range(_groups(api, shot))]

    # ---- runs ----

    def forward(self, shot=0, snapshots=None, every=0.0, record=False):
        """The traces of a shot: an array [trace, sample], or a list of them where there are several
        groups of receivers. record: what backward() needs is kept, too.

        snapshots(Snapshot) is called with each field at the steps nearest to multiples of the time
        `every`, 0: at the end alone; its values are copies. What it raises ends the run."""
        if record and snapshots:
            raise Error("forward: snapshots are of runs without record")
        take = SNAPSHOT(lambda _, field: self._take(snapshots, field.contents))
        with self._used() as api:
            self.record = None
            shapes = _shapes(api, shot)
            traces = np.empty(_size(shapes))
            call("snapshots", api, every, take if snapshots else SNAPSHOT(), None)
            try:
                call("forward", api, shot, int(record), reals(traces))
            finally:
                call("snapshots", api, 0.0, SNAPSHOT(), None)
            self.record = (shot, shapes) if record else None
        return _split(traces, shapes)

    def backward(self, residual):
        """{"c": g, ..}, the derivatives by the model's arrays of a number whose derivative by the
        traces of the last forward(record=True) is residual, which has their form. Samples near
        absorbing layers are held fixed: their derivative is 0 (docs/gradients.md)."""
        with self._used() as api:
            if self.record is None:
                raise Error("backward needs a call of forward(record=True) before")
            shot, shapes = self.record
            flat = _flat(f"residual of shot {shot}", residual, shapes)
            self.record = None
            gradients, places = self._gradients()
            call("backward", api, reals(flat), places)
        return gradients

    def backward_signal(self, source):
        """Directly after backward(): the derivatives of the same number by the values of the signal of a
        source of the shot, which are numbered from 0 on in the shot's order."""
        with self._used() as api:
            count = c.c_int64()
            call("backward_signal", api, source, c.byref(count), None)
            values = np.empty(count.value)
            call("backward_signal", api, source, c.byref(count), reals(values))
        return values

    def misfit(self, data, kind="l2", weights=None, gradient=True, **arrays):
        """chi, {"c": g, ..}: the misfit of the traces of all shots to data, summed, and its
        derivatives by the model's arrays; chi alone with gradient=False.

        data     for each shot what forward() gives of it
        kind     "l2", 1/2 sum (p - d)^2 times the time between samples; "correlation";
                 "envelope" (docs/gradients.md)
        weights  of the form of data, or None
        arrays   of the medium, which are set before

        For scipy.optimize.minimize(jac=True): lambda x: (chi, g["c"].ravel())."""
        self.set(**arrays)
        with self._used() as api:
            self.record = None
            shots = c.c_int()
            call("shots", api, c.byref(shots))
            shapes = [_shapes(api, shot) for shot in range(shots.value)]
            values = _all_shots("data", data, shapes)
            weights = None if weights is None else _all_shots("weights", weights, shapes)
            chi = np.empty(shots.value)
            gradients, places = self._gradients() if gradient else ({}, None)
            call("misfit", api, kind.encode(), reals(values), None if weights is None else
                 reals(weights), reals(chi), places)
        return (chi.sum(), gradients) if gradient else chi.sum()

    def illumination(self, name):
        """How much of the sources' waves each sample has seen in the last gradient, [..] as the array
        of a parameter: what a gradient may be divided by."""
        with self._used() as api:
            values = np.empty(self._shape(name))
            call("illumination", api, self.parameters.index(name), reals(values))
        return values

    def _gradients(self):
        """Arrays by name, and their addresses for a call."""
        gradients = {name: np.empty(self._shape(name)) for name in self.parameters}
        return gradients, (c.POINTER(c.c_double) * len(gradients))(
            *(reals(array) for array in gradients.values()))

    def _take(self, snapshots, field):
        try:
            rank = field.rank
            values = np.ctypeslib.as_array(field.values, tuple(field.shape[:rank])).copy()
            snapshots(Snapshot(field.field.decode(), field.time, field.step, values,
                               tuple(field.lower[:rank]), tuple(field.spacing[:rank])))
            return 0
        except BaseException as error:  # the call raises it
            self._error = error
            return INTERRUPTED


def _memory(arrays):
    """Settings by which arrays are the medium."""
    shapes = {value.shape for value in arrays.values()}
    if len(shapes) > 1 or () in shapes:
        raise Error(f"arrays of the medium have the shapes {sorted(shapes)}: must be one shape of 1 "
                    "to 3 axes; numbers are keys, as \"medium.rho=1000\"")
    return [f"medium.shape={list(reversed(shapes.pop()))}", "medium.type=memory"] + [
        f"medium.{name}=array" for name in arrays]


def _doubles(name, value, shape):
    value = np.asarray(value)
    if value.shape != shape:
        raise Error(f"{name} has shape {value.shape}: must be {shape}")
    if value.dtype.kind not in "fiu":
        raise Error(f"{name} is an array of {value.dtype}: must be of real numbers")
    return np.ascontiguousarray(value, dtype=np.float64)


def _size(shapes):
    return sum(count * samples for count, samples in shapes)


def _shapes(api, shot):
    """The shapes of the traces of a shot's groups."""
    return [_traces(api, shot, n) for n in range(_groups(api, shot))]


def _flat(what, traces, shapes):
    """The traces of a shot, as forward() gives them, one group after the other."""
    parts = [traces] if len(shapes) == 1 else list(traces)
    if len(parts) != len(shapes):
        raise Error(f"{what}: {len(parts)} groups of receivers: must be {len(shapes)}")
    return np.concatenate([_doubles(what, part, shape).ravel()
                           for part, shape in zip(parts, shapes)])


def _all_shots(what, shots, shapes):
    shots = list(shots)
    if len(shots) != len(shapes):
        raise Error(f"{what}: {len(shots)} shots: must be {len(shapes)}")
    return np.concatenate([_flat(f"{what} of shot {n}", shot, of)
                           for n, (shot, of) in enumerate(zip(shots, shapes))])


def _groups(api, shot):
    count = c.c_int()
    call("groups", api, shot, c.byref(count))
    return count.value


def _group(api, shot, n):
    group = Group()
    call("group", api, shot, n, c.byref(group))
    return group


def _traces(api, shot, n):
    """The shape of a group's traces."""
    group = _group(api, shot, n)
    return group.receivers * group.readings, group.samples


def _receivers(api, shot, n):
    group, fields, name = _group(api, shot, n), [], c.create_string_buffer(64)
    positions = np.empty((group.receivers, 3))
    call("positions", api, shot, n, reals(positions))
    for reading in range(group.readings):
        call("reading", api, shot, n, reading, name)
        fields.append(name.value.decode())
    times = group.start + group.every * np.arange(group.samples)
    return Receivers(group.name.decode(), fields, positions, times)


def _split(traces, shapes):
    """All traces of a shot by groups."""
    parts, at = [], 0
    for count, samples in shapes:
        parts.append(traces[at:at + count * samples].reshape(count, samples))
        at += count * samples
    return parts[0] if len(parts) == 1 else parts
