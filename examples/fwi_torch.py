"""The inversion of fwi_marmousi.py in PyTorch: its L-BFGS, a loss of tensors, gradients by autograd.

    python3 fwi_torch.py [marmousi_vp_1601x401.f32 [shots [gradients, of each band]]]

Writes fwi_torch.npz. It takes 85 s of CPU time; ends of the bands, with 5 shots, and the model error at the
start, 0.0982:

    2.2 Hz: misfit 0.0881, model error 0.0752
    4.0 Hz: misfit 0.1213, model error 0.0613
"""
import sys
import time

import numpy as np
import torch

import htwave
from fwi_marmousi import begin, config, run
from htwave.torch import Propagator


def invert(c, true, free, frequency, shots, most):
    """The model after so many gradients, from c, which changes where `free`."""
    began = time.time()
    with htwave.Model(config(frequency, shots), c=true) as model:
        data, first, gradient, scale, free = begin(model, c, free)
        data = [torch.from_numpy(traces) for traces in data]
        propagate, base, where = Propagator(model), torch.from_numpy(c), torch.from_numpy(free)
        # the first step of LBFGS is as long as this makes it: 2 % of the speed
        unit = 0.05 * np.abs(gradient * scale).sum() / np.abs(gradient * scale**2).max()
        scale = torch.from_numpy(unit * scale)
        x = torch.zeros(int(free.sum()), dtype=torch.float64, requires_grad=True)

        def trial():
            return base.index_put((where,), base[where] + scale * x)

        def closure():
            optimizer.zero_grad()
            chi = 0.0
            for shot in range(model.shots):  # a shot's backward uses what its run has recorded
                part = 0.01 * ((propagate(trial(), shot=shot) - data[shot])**2).sum() / first
                part.backward()
                chi += part.detach()
            error = np.sqrt(np.mean((trial().detach().numpy() / true - 1)[free]**2))
            print(f"  {frequency} Hz: misfit {chi:.4f}, model error {error:.4f}, "
                  f"{time.time() - began:.0f} s", flush=True)
            return chi

        optimizer = torch.optim.LBFGS([x], max_iter=most, max_eval=most, history_size=8,
                                      line_search_fn="strong_wolfe")
        optimizer.step(closure)
        return trial().detach().numpy()


run(sys.argv[1:], invert, 5, [13, 21], "fwi_torch.npz")
