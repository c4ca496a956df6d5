"""Traces of a Ricker wavelet's source from a solution of its frequency."""
import numpy as np


def traces(time, peak, count, solution):
    """[count][time]: solution(w) gives `count` values of a source exp(i w t), w below the real axis:
    what is periodic in time has died."""
    step, samples = time[1] - time[0], 4 * len(time)
    damping = np.log(1e4) / (samples * step)
    t = step * np.arange(samples)
    phase = (np.pi * peak * (t - 5 / (np.pi * peak))) ** 2
    source = np.fft.rfft((1 - 2 * phase) * np.exp(-phase - damping * t))
    omega = 2 * np.pi * np.fft.rfftfreq(samples, step) - 1j * damping
    out = np.zeros((count, len(omega)), complex)
    for i in np.flatnonzero(omega.real < 2 * np.pi * 4 * peak):
        out[:, i] = source[i] * solution(omega[i])
    return (np.fft.irfft(out, samples, axis=1) * np.exp(damping * t))[:, : len(time)]


def print_errors(given, exact):
    """Relative, in L2, of each trace."""
    print(*(f"{e:.4g}" for e in
            np.linalg.norm(given - exact, axis=1) / np.linalg.norm(exact, axis=1)))
