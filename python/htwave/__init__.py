"""Linear waves through a model that Python holds: libhtwave by ctypes and numpy.

    import htwave
    with htwave.Model("marmousi.cfg", c=c0) as model:
        traces = model.forward(shot=0)        # [trace, sample]

docs/library.md has the whole; docs/options.md the keys of an input.
"""
from ._library import Error, release
from ._model import Model, Receivers, Snapshot

__all__ = ["Error", "Model", "Receivers", "Snapshot", "release"]
__version__ = release()
