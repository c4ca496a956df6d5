"""The Python package: python3 model.py HTWAVE DEVICE-KEY. Prints TAP."""
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import warnings

import numpy as np

import htwave

try:
    import h5py
except ImportError:
    h5py = None

program, device = sys.argv[1:]
count = failed = 0


def judge(what, good):
    global count, failed
    count, failed = count + 1, failed + (not good)
    print("ok -" if good else "not ok -", what, flush=True)


def skip(what):
    global count
    count += 1
    print("ok # skip", what, flush=True)


def refuses(what, part, call, *arguments, kind=htwave.Error, **named):
    try:
        call(*arguments, **named)
        judge(f"{what}: nothing is raised", False)
    except kind as error:
        judge(f"{what}: {error}", part in str(error))


CONFIG = {
    "system": "acoustic",
    "grid": {"cells": [40, 30], "upper": [0.4, 0.3], "order": 4},
    "time": {"end": 0.6, "scheme": "fd", "step": 0.004},
    "boundary": {"x1": ["rigid", "rigid"], "x2": "rigid"},
    "medium": {"spacing": [0.01, 0.01], "origin": [0.005, 0.005]},
    "sources": [{"position": [0.1, 0.15], "frequency": 8.0},
                {"position": (0.2, np.float64(0.15)), "frequency": 8.0}],
    "receivers": [{"type": "line", "from": [0.3, 0.1], "to": [0.3, 0.2], "count": 3, "every": 0.01},
                  {"name": "v", "position": [0.2, 0.2], "fields": ["p", "v2"], "every": 0.02}],
    "output": {"snapshots": False, "pictures": False, "directory": "out"},
}
random = np.random.default_rng(1)
c0 = 1 + 0.3 * random.random((30, 40))


def model(**arrays):
    return htwave.Model(CONFIG, device, **arrays)


def by_program():
    """Traces of `htwave run` of shot 0, whose model is a file."""
    c0.astype("<f4").tofile("c.f32")
    keys = htwave._config.keys_of(CONFIG)
    keys += ["medium.type=file", "medium.c=c.f32", "medium.shape=[40,30]", device,
             "shots=({sources=[1];})"]
    subprocess.run([program, "run", "none.cfg", "--quiet", *keys], check=True)
    with h5py.File("out/shot-001/traces.h5") as file:
        return [np.concatenate([file[name][field][...] for field in fields])
                for name, fields in (("receivers-1", ["p"]), ("v", ["p", "v2"]))]


def traces():
    with model(c=c0.astype("<f4")) as m:
        found = m.forward()
        judge(f"traces by group: {[t.shape for t in found]}",
              [t.shape for t in found] == [(3, 61), (2, 31)])
        if h5py:
            judge("they are those of htwave run, bit for bit",
                  all(np.array_equal(a.astype(b.dtype), b) and np.abs(b).max() > 0
                      for a, b in zip(found, by_program())))
        else:
            skip("no h5py: traces are not compared with those of htwave run")
        other = m.forward(1)
        judge("another shot has others", np.abs(found[0] - other[0]).max() > 1e-3)
        judge("and the first one the same again", np.array_equal(m.forward(0)[0], found[0]))
        lines = m.receivers()
        judge("receivers: names, fields, positions, times",
              [r.name for r in lines] == ["receivers-1", "v"] and lines[1].fields == ["p", "v2"] and
              np.allclose(lines[0].positions, [[0.3, 0.1, 0], [0.3, 0.15, 0], [0.3, 0.2, 0]]) and
              np.allclose(lines[0].times, 0.01 * np.arange(61)))
        judge(f"{m.shots} shots, {m.steps} steps of {m.step} to {m.end}",
              m.shots == 2 and m.steps == 150 and abs(m.step - 0.004) < 1e-12 and m.end == 0.6)


def arrays():
    with model(c=c0) as m, model(c=np.asfortranarray(c0)) as n:
        found = m.forward()[0]
        judge("an array of other strides is the same model", np.array_equal(n.forward()[0], found))
        judge("get gives what was set", np.array_equal(m.get("c"), c0) and m.shape("c") == (30, 40))
        wide = np.repeat(c0, 2, axis=1)
        m.set(c=0.9 * c0)
        judge("two models at a time: one changes",
              np.abs(m.forward()[0] - found).max() > 1e-3 and np.array_equal(n.forward()[0], found))
        m.set(c=wide[:, ::2])
        judge("and changes back", np.array_equal(m.forward()[0], found))
        refuses("another shape", "shape (40, 30): must be (30, 40)", m.set, c=c0.T)
        refuses("complex numbers", "complex128", m.set, c=c0 + 0j)
        refuses("texts", "<U1", m.set, c=np.full(c0.shape, "a"))
        bad = c0.copy()
        bad[1, 2] = np.nan
        refuses("NaN", "value 42 is nan", m.set, c=bad)
        refuses("what the medium forbids", "gives -", m.set, c=-c0)
        judge("after which the model is as before", np.array_equal(m.get("c"), wide[:, ::2]))
        refuses("no such parameter", "rho: no such array: the model's are c", m.set, rho=c0)
        m.set(c=4 * c0)
        refuses("a model too fast for the step", "time.step = 0.004: unstable", m.forward)
        m.set(c=c0)
        judge("after which others work", np.array_equal(m.forward()[0], found))
        refuses("no such shot", "shot 2: must be 0 to 1", m.forward, 2)
    refuses("closed", "the model is closed", m.forward)
    m.close()
    refuses("two shapes", "must be one shape", model, c=c0, rho=c0.T)
    refuses("a key", "did you mean grid.cells", htwave.Model, {"grid": {"cels": [3]}})
    refuses("a value", "grid.cells: must be a number", htwave.Model, {"grid": {"cells": {3}}})
    refuses("a file", "no.cfg", htwave.Model, "no.cfg")


def snapshots():
    seen = []
    with model(c=c0) as m:
        found = m.forward(snapshots=seen.append, every=0.2)
        judge(f"snapshots at {[round(s.time, 6) for s in seen]}",
              [s.step for s in seen] == [0, 50, 100, 150] and seen[0].values.shape == (31, 41) and
              seen[0].field == "p" and np.allclose(seen[0].spacing, 0.01))
        x = np.abs(seen[2].values[20, 20] - found[1][0, 20]) / np.abs(found[1][0]).max()
        judge(f"their values are those of a receiver there, off by {x:.1e}", x < 1e-6)

        def fails(snapshot):
            if snapshot.step > 0:
                raise ZeroDivisionError("of a callback")

        refuses("what a callback raises", "of a callback", m.forward, snapshots=fails, every=0.1,
                kind=ZeroDivisionError)
        refuses("the model in its own callback", "cannot be used by a function",
                m.forward, snapshots=lambda s: m.forward())
        judge("then it runs as before", np.array_equal(m.forward()[0], found[0]))


def ends():
    long = htwave.Model(CONFIG, device, "time.end=2000", c=c0)
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(1, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    start = time.monotonic()
    refuses("Ctrl-C", "", long.forward, kind=KeyboardInterrupt)
    took = time.monotonic() - start
    judge(f"ended after {took:.1f} s, handlers as before",
          took < 20 and signal.getsignal(signal.SIGINT) is before)
    long.close()


def threads():
    alone = [shot_of(0.9), shot_of(1.0)]
    found = [None, None]

    def work(i):
        found[i] = shot_of((0.9, 1.0)[i])

    workers = [threading.Thread(target=work, args=(i,)) for i in range(2)]
    for worker in workers:
        worker.start()
    ticks = 0
    while any(worker.is_alive() for worker in workers):
        ticks += 1
        time.sleep(0.001)
    judge("models of two threads have their traces",
          all(np.array_equal(a, b) for a, b in zip(alone, found)))
    judge(f"other threads of Python run meanwhile: {ticks} rounds", ticks > 3)


def shot_of(factor):
    with model(c=factor * c0) as m:
        return np.concatenate([m.forward(i % 2)[0] for i in range(3)])


def signals():
    with model(c=c0) as m:
        found = m.forward()[0]
        t = 0.001 * np.arange(400)
        a = np.pi * 8.0 * (t - 5 / (np.pi * 8.0))  # the wavelet that the input names
        m.set_signal(0, (1 - 2 * a**2) * np.exp(-a**2), 0.001)
        worst = np.abs(m.forward()[0] - found).max() / np.abs(found).max()
        judge(f"a sampled Ricker wavelet gives the traces of Ricker's: {worst:.1e}", worst < 1e-6)
        refuses("derivatives by a signal of no run", "backward", m.backward_signal, 0)
        traces = m.forward(0, record=True)
        residual = [random.standard_normal(t.shape) for t in traces]
        m.backward(residual)
        whole = sum((r * t).sum() for r, t in zip(residual, traces))
        size = sum((r**2).sum() for r in residual)**0.5 * sum((t**2).sum() for t in traces)**0.5
        apart = abs(m.backward_signal(0) @ ((1 - 2 * a**2) * np.exp(-a**2)) - whole) / size
        judge(f"derivatives by a signal times it are the traces' number: {apart:.1e}", apart < 1e-6)
        refuses("a signal of texts", "real numbers", m.set_signal, 0, ["a"] * 9, 0.001)
        refuses("parameters that are none", "rho: no such array", setattr, m, "parameters", ["rho"])


def quotients(m, data, kind, widths=(1e-3, 1e-4), **at):
    """Errors of the derivative along a random direction against differences, by their width."""
    chi, g = m.misfit(data, kind, **at)
    step = {name: (g[name] != 0) * random.standard_normal(v.shape) for name, v in at.items()}
    size = np.prod([sum(np.linalg.norm(x[name])**2 for name in at)**0.5 for x in (g, step)])
    for eps in widths:
        low, high = (m.misfit(data, kind, gradient=False,
                              **{name: v + e * step[name] for name, v in at.items()})
                     for e in (-eps, eps))
        yield abs((high - low) / (2 * eps) - sum(np.vdot(g[name], step[name]) for name in at)) / size


def gradients():
    with model(c=c0) as m:
        m.set(c=1.05 * c0)
        data = [m.forward(shot) for shot in range(2)]
        for kind in ("l2", "correlation", "envelope"):
            far, near = quotients(m, data, kind, c=c0)
            judge(f"{kind}: gradient and differences of 1e-3, 1e-4 are apart by {far:.1e}, {near:.1e}",
                  near < 3e-8 and near < far / 50)
        chi, g = m.misfit(data, c=c0)
        light = m.illumination("c")
        judge("illumination: one positive number per sample", light.shape == c0.shape and
              light.min() > 0)
        total = 0
        for shot in range(2):
            p = m.forward(shot, record=True)
            r = [every * (a - b) for every, a, b in zip((0.01, 0.02), p, data[shot])]
            total = total + m.backward(r)["c"]
        worst = np.abs(total - g["c"]).max() / np.abs(g["c"]).max()
        judge(f"backward of both shots adds up to the gradient: {worst:.1e}", worst < 1e-13)
        refuses("backward twice", "needs a call of forward(record=True)", m.backward, r)
        m.forward(0, record=True)
        refuses("a residual of another shape", "must be (3, 61)", m.backward, [r[1], r[1]])
        m.set(c=c0)
        refuses("backward after another model", "needs a call", m.backward, r)
        refuses("one shot's data", "1 shots: must be 2", m.misfit, data[:1])
        refuses("another misfit", "must be l2, correlation or envelope", m.misfit, data, "l1")
        bad = [data[0], [data[1][0] * np.nan, data[1][1]]]
        refuses("NaN in data", "data of shot 1: value 0 is nan", m.misfit, bad)
        none = [[0 * group for group in shot] for shot in data]
        refuses("data of zeros", "data of shot 1: all values are 0", m.misfit, [data[0], none[1]])
        same = m.misfit(data, c=1.05 * c0)
        judge("no misfit to its own traces", same[0] == 0 and not same[1]["c"].any())
        weights = [[np.zeros_like(group) for group in shot] for shot in data]
        judge("nor with weights of 0", m.misfit(data, weights=weights, c=c0)[0] == 0)
    ones = np.ones(c0.shape)
    with htwave.Model(CONFIG, device, c=1.05 * c0, rho=ones) as m:
        other = [m.forward(shot) for shot in range(2)]
        judge("a density that is the same everywhere: no misfit to its own traces",
              m.misfit(other)[0] == 0)
        m.set(c=c0)
        for what, rho in ("uniform", ones), ("random", 1 + 2 * random.random(c0.shape)):
            far, near = quotients(m, other, "l2", (1e-4, 1e-5), rho=rho)
            judge(f"{what} density: gradient and differences are apart by {far:.1e}, {near:.1e}",
                  near < 3e-8 and near < far / 50)
        m.parameters = ["c"]
        judge("by c alone", m.misfit(other)[1].keys() == {"c"})
    turned = {**CONFIG, "medium": {**CONFIG["medium"], "axes": ["x2", "x1"], "scale": 0.001}}
    with htwave.Model(turned, device, c=1000 * c0.T) as m:
        other = m.misfit(data)[1]["c"].T * 1000
        worst = np.abs(other - g["c"]).max() / np.abs(g["c"]).max()
        judge(f"other axes and units of the array, the same gradient: {worst:.1e}", worst < 1e-9)
    with htwave.Model(CONFIG, device) as m:
        refuses("a model without arrays", "has none", m.misfit, data)
    with htwave.Model(CONFIG, device, "time.step=0", c=c0) as m:
        refuses("a step that the model chooses", "time.step", m.misfit, [m.forward(0), m.forward(1)])


def solids():
    """Water over a rough solid below a free side: by both speeds and the density."""
    solid = {**CONFIG, "system": "elastic", "time": {"end": 0.3, "scheme": "fd", "step": 0.002},
             "boundary": {"x1": "periodic", "x2": ["antisymmetric", "free"]},
             "medium": {**CONFIG["medium"], "couplings": False},
             "sources": [{"kind": "force", "direction": [0.5, 1.0], "position": [0.1, 0.2],
                          "frequency": 6.0}],
             "receivers": [{"position": [0.3, 0.22], "fields": ["v1", "s11"], "every": 0.01}]}
    at = {"vp": 2 * c0, "vs": 1 + 0.3 * random.random(c0.shape), "rho": 1 + random.random(c0.shape)}
    at["vs"][:8] = 0
    with htwave.Model(solid, device, **at) as m:
        data = [m.forward()]
        at = {name: v * (1 + 0.1 * random.random(v.shape)) for name, v in at.items()}
        far, near = quotients(m, data, "l2", (1e-4, 1e-5), **at)
        judge(f"water over a solid: gradient and differences are apart by {far:.1e}, {near:.1e}",
              near < 3e-8 and near < far / 50)
        judge("vs of water has the gradient 0", not m.misfit(data)[1]["vs"][:8].any())


def tensors():
    try:
        import torch
    except ImportError:
        skip("no torch: htwave.torch is not tried")
        return
    from htwave.torch import Propagator
    with model(c=1.05 * c0) as m:
        data = [torch.from_numpy(m.forward(shot)[0]) for shot in range(2)]
        c = torch.from_numpy(c0.copy()).requires_grad_()
        p = Propagator(m)
        loss = sum(0.005 * ((p(c, shot=shot)[0] - data[shot])**2).sum() for shot in range(2))
        loss.backward()
        own = 0
        m.set(c=c0)
        for shot in range(2):
            traces = m.forward(shot, record=True)
            own = own + m.backward([0.01 * (traces[0] - data[shot].numpy()), 0 * traces[1]])["c"]
        judge("torch: the gradient of two shots", np.allclose(c.grad.numpy(), own, rtol=1e-12))
        judge("torch: derivatives of all traces along random directions",
              torch.autograd.gradcheck(lambda x: p(x, shot=1), c, eps=1e-5, atol=1e-7, rtol=1e-6,
                                       fast_mode=True, raise_exception=False))
        single = p(c.float(), shot=1)
        judge("torch: single precision", single[0].dtype == torch.float32 and
              np.abs(single[0].detach().numpy() - p(c, shot=1)[0].detach().numpy()).max() < 1e-5)
        refuses("torch: two tensors", "2 tensors: must be those of c", p, c, c)
        half = p(c, shot=0)[1].sum()
        p(c, shot=1)  # comes between: backward runs shot 0 again
        c.grad = None
        half.backward()
        m.set(c=c0)
        q = m.forward(0, record=True)
        own = m.backward([0 * q[0], np.ones(q[1].shape)])["c"]
        judge("torch: after another call", np.allclose(c.grad.numpy(), own, rtol=1e-12))


def messages():
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        with htwave.Model(CONFIG, device, {"medium": {"origin": [0.3, 0.2]}}, c=c0) as m:
            m.forward()
            m.set(c=0.9 * c0)
            m.forward()
    texts = [str(w.message) for w in caught]
    judge(f"warnings are Python's: {texts[:1]}", "look at medium.spacing" in texts[0] and
          all(w.filename == __file__ for w in caught))
    judge("each is given once", len(set(texts)) == len(texts))


warnings.simplefilter("ignore")
with tempfile.TemporaryDirectory() as folder:
    os.chdir(folder)
    with open("none.cfg", "w") as file:
        file.write('system = "acoustic";')
    for test in (traces, arrays, snapshots, signals, gradients, solids, tensors, ends, threads, messages):
        test()
    os.chdir("/")
print(f"1..{count}")
sys.exit(failed > 0)
