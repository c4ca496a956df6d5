"""segy.py READER DIRECTORY: traces_cable_FIELD.sgy by segyio or obspy against traces.h5; of the
directory "down" x3 is depth. And what traces.h5 says of the source."""

import sys

import h5py
import numpy as np

SOURCE = np.array([430.63217, 5210.77128, 0.7])
reader, folder = sys.argv[1:]
down = folder == "down"
checks = 0


def judge(ok, text):
    global checks
    checks += 1
    print(f"{'ok' if ok else 'not ok'} - {reader}: {text}", flush=True)


def by_segyio(path):
    import segyio

    with segyio.open(path, ignore_geometry=True) as f:
        k = segyio.TraceField
        heads = [{
            "shot": h[k.FieldRecord], "point": h[k.EnergySourcePoint], "trace": h[k.TraceNumber],
            "offset": h[k.offset], "scalars": (h[k.SourceGroupScalar], h[k.ElevationScalar]),
            "start": h[k.DelayRecordingTime] * 1e-3, "step": h[k.TRACE_SAMPLE_INTERVAL] * 1e-6,
            "source": (h[k.SourceX], h[k.SourceY], h[k.SourceSurfaceElevation]),
            "depth": h[k.SourceDepth],
            "receiver": (h[k.GroupX], h[k.GroupY], h[k.ReceiverGroupElevation]),
        } for h in f.header]
        return f.text[0].decode(), heads, f.trace.raw[:]


def by_obspy(path):
    from obspy.io.segy.segy import _read_segy

    f = _read_segy(path)
    heads = [{
        "shot": h.original_field_record_number, "point": h.energy_source_point_number,
        "trace": h.trace_number_within_the_original_field_record,
        "offset":
            h.distance_from_center_of_the_source_point_to_the_center_of_the_receiver_group,
        "scalars": (h.scalar_to_be_applied_to_all_coordinates,
                    h.scalar_to_be_applied_to_all_elevations_and_depths),
        "start": h.delay_recording_time * 1e-3,
        "step": h.sample_interval_in_ms_for_this_trace * 1e-6,
        "source": (h.source_coordinate_x, h.source_coordinate_y, h.surface_elevation_at_source),
        "depth": h.source_depth_below_surface,
        "receiver": (h.group_coordinate_x, h.group_coordinate_y, h.receiver_group_elevation),
    } for h in (trace.header for trace in f.traces)]
    text = f.textual_file_header
    return (text.decode("ascii" if text[:1] == b"C" else "cp500"), heads,
            np.array([t.data for t in f.traces]))


def places(heads, what):
    scale = np.array([[-1.0 / h["scalars"][0]] * 2 + [-1.0 / h["scalars"][1]] for h in heads])
    x = np.array([h[what] for h in heads])
    if what == "source":
        x[:, 2] -= [h["depth"] for h in heads]
    return x * scale * [1, 1, -1 if down else 1] / 1e3


with h5py.File(f"{folder}/traces.h5") as file:
    time, x = file["cable/time"][:], file["cable/position"][:]
    step = float(file.attrs["time_step"])
    known = file["sources"]
    t, signal = known["signal_time"][:], known["signal"][0]
    a = (np.pi * 1.5 * (t - 1.0)) ** 2  # a Ricker wavelet, of amplitude 1
    worst = abs(signal - (1 - 2 * a) * np.exp(-a)).max()
    judge((known["position"][:] == SOURCE).all() and (known["points"][:] == 1).all()
          and worst < 1e-6  # of single precision
          and abs(t[1] - step) < 1e-15 and "frequency = 1.5;" in file["input.cfg"][()].decode()
          and file.attrs.get("down") == (b"x3" if down else None),
          f"source and input in traces.h5, signal off by {worst:.1e}")
    for field in "p", "p_x3":
        read = by_segyio if reader == "segyio" else by_obspy
        text, heads, data = read(f"{folder}/traces_cable_{field}.sgy")
        words = ("SEG Y REV1", f"field {field} ", "acoustic by fd, order 8, 1 shot",
                 "box, in the units of the input, from (430, 5210, 0) ",
                 "to (432, 5211.6, 1.8), cells 20 x 16 x 18 ", "medium uniform, speeds 1 to 1",
                 f"time step {step:.9g} ", "x3: source at byte 45 (less 49), receiver at 41"
                 + (": elevations, -x" if down else "  "))
        judge(text.startswith("C 1 htwave ") and all(w in text for w in words), text[:60])
        stored = file[f"cable/{field}"]
        judge(data.shape == stored.shape and (data == stored[:].astype("f4")).all(),
              f"{field}: values of {data.shape}")
        judge(all((h["shot"], h["point"], h["trace"]) == (1, 1, i + 1)
                  for i, h in enumerate(heads)), "numbers")
        apart = round(time[1] - time[0], 6)  # in whole microseconds
        judge(all(abs(h["step"] - apart) < 1e-12 and abs(h["start"] - time[0]) < 1e-12
                  for h in heads), "times")
        judge(all(h["depth"] == (-0.7e3 * h["scalars"][1] if down else 0) for h in heads), "depths")
        worst = max(np.abs(places(heads, "receiver") / x - 1).max(),
                    np.abs(places(heads, "source") / SOURCE - 1).max())
        judge(worst < 1e-6, f"positions off by {worst:.1e}")
        offset = 1e3 * np.linalg.norm((x - SOURCE)[:, :2], axis=1) * np.sign(x[:, 0] - SOURCE[0])
        judge(max(abs(offset - [h["offset"] for h in heads])) < 0.51, "offsets")
print(f"1..{checks}")
