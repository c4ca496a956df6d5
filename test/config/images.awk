# Traces in a box with rigid walls against the exact solution, sums of mirror
# images of point sources in free space, p = rho amplitude s'(t - delay - r/c)/
# (4 pi r). Reads first a table of sources, a line "x1 x2 x3 delay" each, then
# traces_GROUP.csv. Prints, relative to the exact solution: the root mean square
# of the error over all traces, its largest value; the exact and the computed
# largest value of each trace with its receiver's number.
#
#     awk -f images.awk -v box="4 3 2.5" -v from="2.9 1.9 1.4" \
#         -v to="3.5 2.3 0.3" -v c=343 -v rho=1.2 -v signal=ricker -v f=350 \
#         -v cycles=5 sources.txt traces_room.csv

function ricker_slope(t,    a2) {
    a2 = (pi * f * t) ^ 2
    return pi * pi * f * f * t * (4 * a2 - 6) * exp(-a2)
}

# Of sin(w t) (1 - cos(w t/cycles))/2.
function burst_slope(t,    w, v) {
    w = 2 * pi * f
    v = w / cycles
    return (w * cos(w * t) * (1 - cos(v * t)) + v * sin(w * t) * sin(v * t)) / 2
}

# One image at distance r of receiver k.
function add_image(k, r, delay,    first, last, i, t, slope) {
    first = int((delay + r / c + begin) / interval)
    last = int((delay + r / c + length_s) / interval) + 1
    if (first < 0) first = 0
    if (last >= samples) last = samples - 1
    for (i = first; i <= last; i++) {
        t = i * interval - delay - r / c
        if (t < begin || t > length_s) continue
        slope = signal == "ricker" ? ricker_slope(t) : burst_slope(t)
        exact[k, i] += rho / (4 * pi * r) * slope
    }
}

# All images of a source that reach receiver k before the end.
function add_source(k, s,    n1, n2, n3, s1, s2, s3, d1, d2, d3, r, reach) {
    reach = c * (samples * interval - delay[s] - begin)
    for (n1 = -most(1, reach); n1 <= most(1, reach); n1++)
        for (s1 = -1; s1 <= 1; s1 += 2) {
            d1 = s1 * x[s, 1] + 2 * n1 * L[1] - y[k, 1]
            if (d1 * d1 > reach * reach) continue
            for (n2 = -most(2, reach); n2 <= most(2, reach); n2++)
                for (s2 = -1; s2 <= 1; s2 += 2) {
                    d2 = s2 * x[s, 2] + 2 * n2 * L[2] - y[k, 2]
                    if (d1 * d1 + d2 * d2 > reach * reach) continue
                    for (n3 = -most(3, reach); n3 <= most(3, reach); n3++)
                        for (s3 = -1; s3 <= 1; s3 += 2) {
                            d3 = s3 * x[s, 3] + 2 * n3 * L[3] - y[k, 3]
                            r = sqrt(d1 * d1 + d2 * d2 + d3 * d3)
                            if (r < reach) add_image(k, r, delay[s])
                        }
                }
        }
}

function most(axis, reach) { return int(reach / (2 * L[axis])) + 1 }

BEGIN {
    pi = atan2(0, -1)
    split(box, L, " ")
    split(from, low, " ")
    split(to, high, " ")
    begin = signal == "ricker" ? -2 / f : 0
    length_s = signal == "ricker" ? 2 / f : cycles / f
}
FNR == NR { # the sources
    sources++
    for (axis = 1; axis <= 3; axis++) x[sources, axis] = $axis
    delay[sources] = $4
    next
}
FNR == 1 { # the names of the traces
    receivers = split($0, name, ",") - 1
    next
}
{
    split($0, field, ",")
    if (FNR == 3) interval = field[1]
    for (k = 1; k <= receivers; k++) p[k, samples + 0] = field[k + 1]
    samples++
}
END {
    for (k = 1; k <= receivers; k++) {
        part = receivers > 1 ? (k - 1) / (receivers - 1) : 0
        for (axis = 1; axis <= 3; axis++)
            y[k, axis] = low[axis] + part * (high[axis] - low[axis])
        for (s = 1; s <= sources; s++) add_source(k, s)
    }
    for (k = 1; k <= receivers; k++) {
        top = found = 0
        for (i = 0; i < samples; i++) {
            value = exact[k, i] + 0
            off = p[k, i] - value
            square += off * off
            whole += value * value
            if (off * off > worst) worst = off * off
            if (value * value > top) top = value * value
            if (p[k, i] ^ 2 > found) found = p[k, i] ^ 2
        }
        if (top > largest) largest = top
        printf "receiver %d exact %.6g computed %.6g\n", k, sqrt(top),
            sqrt(found)
    }
    printf "rms %.3e worst %.3e\n", sqrt(square / whole), sqrt(worst / largest)
}
