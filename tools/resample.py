#!/usr/bin/env python3
"""Resamples observed traces to the times of an input's receivers.

    tools/resample.py traces.h5 OUT.h5 --every 0.004 --samples 1001
    tools/resample.py field.sgy obs/shot-*.h5 --name cable/p --every 0.004 --samples 1001

Frequencies that the new samples cannot carry are filtered out; beyond its ends a trace is its
mirror image, which fades out. Of SEG-Y (needs segyio) each field record becomes a file: * in OUT
stands for 1, 2, .. Positions of HDF5 files are kept. Needs h5py, numpy and scipy.
"""
import argparse

import h5py
import numpy as np
from scipy.interpolate import make_interp_spline

FINE = 16  # points per sample that the spline passes through


def resample(data, time, wanted):
    """data[.., sample] at even times, at the wanted ones."""
    n, step = len(time), (time[-1] - time[0]) / (len(time) - 1)
    pad, every = n // 2, wanted[1] - wanted[0] if len(wanted) > 1 else step
    rise = np.sin(np.pi / 2 * (np.arange(pad) + 0.5) / pad) ** 2
    fade = np.concatenate([rise, np.ones(n), rise[::-1]])
    beside = [(0, 0)] * (data.ndim - 1) + [(pad, pad)]
    long = fade * np.pad(data, beside, mode="reflect", reflect_type="odd")
    spectrum = np.fft.rfft(long)
    share = np.fft.rfftfreq(long.shape[-1], step) * 2 * max(every, step)  # of the new limit
    if every > step:
        spectrum = spectrum * np.cos(np.pi / 2 * np.clip((share - 0.9) / 0.1, 0, 1)) ** 2
    fine = np.fft.irfft(spectrum, FINE * long.shape[-1]) * FINE
    at = time[0] + (np.arange(fine.shape[-1]) / FINE - pad) * step
    return np.nan_to_num(make_interp_spline(at, fine, axis=-1)(wanted, extrapolate=False))


def from_h5(path):
    with h5py.File(path) as file:
        yield 1, {name: {key: value[...] for key, value in group.items()}
                  for name, group in file.items()
                  if isinstance(group, h5py.Group) and "time" in group}


def from_segy(path, name):
    import segyio
    group, field = name.split("/")
    with segyio.open(path, ignore_geometry=True) as file:
        records = file.attributes(segyio.TraceField.FieldRecord)[:]
        time = np.arange(len(file.samples)) * file.bin[segyio.BinField.Interval] * 1e-6
        time += file.header[0][segyio.TraceField.DelayRecordingTime] * 1e-3
        for number, record in enumerate(dict.fromkeys(records), 1):
            data = file.trace.raw[:][records == record].astype(float)
            yield number, {group: {"time": time, field: data}}


def main():
    raw = argparse.RawDescriptionHelpFormatter
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=raw)
    parser.add_argument("file")
    parser.add_argument("out", metavar="OUT.h5")
    parser.add_argument("--every", type=float, required=True, help="time between samples")
    parser.add_argument("--samples", type=int, required=True)
    parser.add_argument("--start", type=float, default=0.0, help="time of the first sample")
    parser.add_argument("--name", default="receivers-1/p", help="GROUP/FIELD of SEG-Y traces")
    args = parser.parse_args()
    wanted = args.start + args.every * np.arange(args.samples)
    segy = args.file.lower().endswith((".sgy", ".segy"))
    for number, groups in from_segy(args.file, args.name) if segy else from_h5(args.file):
        out = args.out.replace("*", str(number))
        with h5py.File(out, "w") as file:
            for name, sets in groups.items():
                for key, data in sets.items():
                    if key not in ("time", "position"):
                        data = resample(data, sets["time"], wanted)
                    file[f"{name}/{key}"] = wanted if key == "time" else data
        print(f"{out}: {args.samples} samples {args.every:g} apart from {args.start:g} on")


if __name__ == "__main__":
    main()
