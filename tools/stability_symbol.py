"""The symbol of the Hermite-Taylor half step and its spectral radius, for
tools/stability.py, whose head says what theta, cfl and q are.

The symbol. Coefficient j is multiplied by (-i)^|j| BALANCE^|j| (velocities by
i besides). Then interpolation weighs by cos(theta/2) where the parities of
input and output agree and by sin(theta/2) where they differ, and derivatives
are real. Each entry of a power of L belongs to one parity per axis, so that

    S(theta, cfl, q) = W(theta) * sum over m <= q of cfl^m M_m, entry by entry,

with matrices M_m made once per order. Advection mixes parities: a sum over the
2^d parities of the derivatives, real for even, imaginary for odd. Where theta
is 0 or pi along an axis, or two angles are equal, S falls into blocks.

The spectral radius. Matrices are squared up to S^(2^30); growth per half step
is log(|S^n|)/n. A matrix is settled as soon as its norm is below 1, above 1e9
(no stable one exceeds 1e4) or too small for a growth of TOLERANCE/2. From
LOW_SIZE unknowns on, squarings after the first 12 are in single precision
(TF32 on a GPU), with relative errors of at most 1e-3 that sum up to 5e-7 per
half step; what then seems to grow by more than SUSPECT is judged again in
double precision. So growth up to 1e-6 can pass there.

PyTorch, on a GPU where there is one, else numpy.
"""
import math
from fractions import Fraction

import numpy as np

try:
    import torch
except ImportError:
    torch = None

TOLERANCE = 1e-7
TOLERANCE_PAIR = 1e-6
SUSPECT = 1e-6
SQUARINGS = 30
LOOKS = (12, 16, 20, 24, 27, 30)
LARGE = math.log(1e9)
BALANCE = 0.35
LOW_SIZE = 400
SECTOR_SIZE = 60


# ---- arrays ----

class Arrays:
    """What is needed of numpy or PyTorch."""

    def __init__(self):
        self.gpu = torch is not None and torch.cuda.is_available()
        self.room = 2e8 if self.gpu else 2e6  # numbers in a batch
        if torch is not None:
            self.device = "cuda" if self.gpu else "cpu"
            torch.backends.cuda.matmul.allow_tf32 = True

    def tidy(self):
        if self.gpu:
            torch.cuda.empty_cache()

    def put(self, a):
        a = np.ascontiguousarray(a)
        return torch.from_numpy(a).to(self.device) if torch else a

    def get(self, a):
        return a.cpu().numpy() if torch else np.asarray(a)

    def zeros(self, shape):
        if torch:
            return torch.zeros(shape, dtype=torch.float64, device=self.device)
        return np.zeros(shape)

    def largest(self, a):
        """Per matrix of a batch; not zero."""
        if torch:
            return abs(a).amax(dim=(1, 2)).double().clamp(min=1e-290)
        return np.maximum(np.abs(a).max(axis=(1, 2)).astype(float), 1e-290)

    def log(self, a):
        return torch.log(a) if torch else np.log(a)

    def complex(self, re, im):
        return torch.complex(re, im) if torch else re + 1j * im

    def single(self, a):
        if torch:
            return a.to(torch.complex64 if a.is_complex() else torch.float32)
        return a.astype(np.complex64 if np.iscomplexobj(a) else np.float32)

    def choose(self, same, cos, sin):
        """[B, n, n]: cos where same, else sin (of each sample)."""
        if torch:
            return torch.where(same[None], cos[:, None, None],
                               sin[:, None, None])
        return np.where(same[None], cos[:, None, None], sin[:, None, None])

    def krons(self, a, b):
        """Of each pair of two batches."""
        n = a.shape[1] * b.shape[1]
        einsum = torch.einsum if torch else np.einsum
        return einsum("nij,nkl->nikjl", a, b).reshape(len(a), n, n)

    def kron(self, a, b):
        return torch.kron(a, b) if torch else np.kron(a, b)


xp = Arrays()


# ---- the pieces of the symbol ----

def multiply(a, b):
    out = [Fraction(0)] * (len(a) + len(b) - 1)
    for i, x in enumerate(a):
        for j, y in enumerate(b):
            out[i + j] += x * y
    return out


def interpolation(order):
    """[2N+2][N+1]: weight of coefficient i in coefficient j of the interpolant,
    without cos or sin (docs/developers/method.md 3; balanced, made real)."""
    m, n = order + 1, 2 * order + 2
    z, low = [Fraction(1, 2), Fraction(1)], [Fraction(-1, 2), Fraction(1)]
    out = np.zeros((n, m))
    for i in range(m):
        total = [Fraction(0)] * n
        for k in range(m - i):
            p = [Fraction((-1) ** k * math.comb(order + k, k))]
            for _ in range(m):
                p = multiply(p, z)
            for _ in range(k + i):
                p = multiply(p, low)
            for j, c in enumerate(p):
                total[j] += c
        for j in range(n):
            shift = i - j
            sign = -1 if (shift + shift % 2) % 4 else 1
            out[j, i] = sign * 2 * float(total[j]) * BALANCE ** (j - i)
    return out


def derivative(x, axis, n):
    """The n-th balanced derivative of cell polynomials along an axis."""
    count = x.shape[axis]
    out = x * 0
    to = [slice(None)] * x.ndim
    of = [slice(None)] * x.ndim
    to[axis], of[axis] = slice(0, count - n), slice(n, count)
    factor = np.ones(count - n)
    for i in range(1, n + 1):
        factor *= (np.arange(count - n) + i) / BALANCE
    shape = [1] * x.ndim
    shape[axis] = count - n
    out[tuple(to)] = x[tuple(of)] * xp.put(factor.reshape(shape))
    return out


class Problem:
    """A system at one order; ratio: cfl along each axis over the largest."""

    def __init__(self, kind, dims, order, ratio=None):
        self.kind, self.dims, self.order = kind, dims, order
        self.ratio = ratio or (1.0,) * dims
        self.equal = ratio is None
        self.fields = {"advection": 1, "wave": 1 + dims, "pair": 2}[kind]
        self.nodes = (order + 1) ** dims
        self.size = self.fields * self.nodes
        self.full = (2 * dims * order + 1 if kind == "pair"
                     else dims * (2 * order + 1))
        self.tolerance = TOLERANCE_PAIR if kind == "pair" else TOLERANCE
        self.low = kind != "pair" and self.size >= LOW_SIZE
        flat = np.arange(self.nodes)
        digits = [flat // (order + 1) ** (dims - 1 - k) % (order + 1)
                  for k in range(dims)]
        self.digits = digits
        self.line = None
        if kind == "advection":
            self.build_advection()
        else:
            self.build_fields()

    def parities(self):
        """[axis][unknown]; a velocity counts as odd along its axis."""
        out = []
        for k in range(self.dims):
            per = [(self.digits[k] + (self.kind == "wave" and f == 1 + k)) % 2
                   for f in range(self.fields)]
            out.append(np.concatenate(per))
        return np.array(out)

    def build_fields(self):
        m, c, d = self.order + 1, 2 * self.order + 2, self.dims
        one = xp.put(interpolation(self.order))
        tensor = one
        for _ in range(d - 1):
            tensor = xp.kron(tensor, one)
        w = xp.zeros((self.fields, c ** d, self.size))
        for f in range(self.fields):
            w[f, :, f * self.nodes:(f + 1) * self.nodes] = tensor
        w = w.reshape((self.fields,) + (c,) * d + (self.size,))
        keep = (slice(None),) + (slice(0, m),) * d
        self.series = xp.zeros((self.full + 1, self.size, self.size))
        for q in range(self.full + 1):
            if q > 0:
                w = self.generator(w, 0.5 / q)
            self.series[q] = w[keep].reshape(self.size, self.size)
        self.parity = self.parities()
        p = self.parity
        self.same = [xp.put(p[k][:, None] == p[k][None, :]) for k in range(d)]

    def generator(self, w, step):
        out = w * 0
        if self.kind == "pair":
            out[0] += step * w[1]
        for k in range(self.dims):
            r = self.ratio[k] * step
            if self.kind == "pair":
                # step is that of dt c/h, whose square is the Laplacian's
                out[1] -= self.ratio[k] ** 2 * step * derivative(w[0], k, 2)
            else:
                out[0] += r * derivative(w[1 + k], k, 1)
                out[1 + k] -= r * derivative(w[0], k, 1)
        return out

    def build_advection(self):
        """series[p][n]: the part with derivatives of parity p of degree 2n
        (p even) or 2n+1."""
        m, c, d = self.order + 1, 2 * self.order + 2, self.dims
        one = interpolation(self.order)
        part = []
        for a in range(c):
            e = np.zeros((m, m))
            for i in range(m):
                if i + a < c:
                    e[i] = math.comb(i + a, a) * BALANCE ** -a * one[i + a]
            part.append(e / 2 ** a)
        total = {(): {0: xp.put(np.ones((1, 1)))}}
        for k in range(d):
            grown = {}
            for p, by_degree in total.items():
                for degree, matrix in by_degree.items():
                    for a in range(c):
                        to = grown.setdefault(p + (a % 2,), {})
                        e = xp.put(part[a] * self.ratio[k] ** a)
                        new = xp.kron(matrix, e)
                        at = degree + a
                        to[at] = to[at] + new if at in to else new
            total = grown
        self.series, self.degrees, self.same = {}, {}, {}
        for p, by_degree in total.items():
            degrees = sorted(by_degree)
            self.degrees[p] = np.array(degrees)
            sign = [(-1.0) ** (q // 2) for q in degrees]
            self.series[p] = (torch.stack if torch else np.stack)(
                [s * by_degree[q] for s, q in zip(sign, degrees)])
            self.same[p] = [
                xp.put((self.digits[k][:, None] - self.digits[k][None, :]
                        - p[k]) % 2 == 0) for k in range(d)]

    def weights(self, theta, same):
        out = None
        for k in range(self.dims):
            cos, sin = np.cos(theta[:, k] / 2), np.sin(theta[:, k] / 2)
            cos[np.abs(cos) < 1e-15] = 0
            w = xp.choose(same[k], xp.put(cos), xp.put(sin))
            out = w if out is None else out * w
        return out

    def sums(self, series, degrees, cfl, stages, rest=None):
        """Sum of cfl^m M_m over the degrees up to each sample's stages; minus
        the degrees above for samples of which only the rest is wanted."""
        taken = (degrees[None] <= stages[:, None]).astype(float)
        if rest is not None:
            taken -= rest[:, None]
        power = taken * cfl[:, None] ** degrees[None]
        flat = series.reshape(len(degrees), -1)
        return (xp.put(power) @ flat).reshape(-1, self.size, self.size)

    def symbol(self, theta, cfl, stages):
        if self.kind != "advection":
            a = self.sums(self.series, np.arange(self.full + 1), cfl, stages)
            return a * self.weights(theta, self.same)
        re = im = 0
        many = 1.0 * (stages > self.full / 2) * (self.dims > 1)
        for p, series in self.series.items():
            a = (self.sums(series, self.degrees[p], cfl, stages, many)
                 * self.weights(theta, self.same[p]))
            if sum(p) % 2:
                im = im + a
            else:
                re = re + a
        out = xp.complex(re, im)
        at = np.nonzero(many)[0]
        if len(at):
            out[xp.put(at)] += self.exact(theta[at], cfl[at])
        return out

    def exact(self, theta, cfl):
        """Full stages, a product over the axes. Sums over all degrees cancel:
        at N = 8 in 3-D only 4 digits are left of them."""
        if not self.line:
            self.line = Problem("advection", 1, self.order)
        out = None
        for k in range(self.dims):
            a = self.line.symbol(theta[:, k:k + 1], self.ratio[k] * cfl,
                                 np.full(len(cfl), self.line.full))
            out = a if out is None else xp.krons(out, a)
        return out

    def blocks(self, family):
        """Index sets (rows, via, swapped) that split S; via: the other
        parity, through which it comes back after two half steps."""
        everything = np.arange(self.size)
        if self.kind == "advection" or self.size < SECTOR_SIZE:
            return [(everything, None, None)]
        kept = [k for k in range(self.dims) if family[k] in "0p"]
        flip = [int(family[k] == "p") for k in kept]
        out = []
        for code in range(2 ** len(kept)):
            bits = [code >> n & 1 for n in range(len(kept))]
            other = [b ^ f for b, f in zip(bits, flip)]
            if other < bits:
                continue
            rows = self.sector(kept, bits)
            out.append((rows, self.sector(kept, other) if any(flip) else None,
                        None))
        if self.equal and family[:2] == "tt":
            out = [half for rows, via, _ in out for half in
                   ((rows, via, 1), (rows, via, -1))]
        return out

    def sector(self, axes, bits):
        inside = np.ones(self.size, bool)
        for k, b in zip(axes, bits):
            inside &= self.parity[k] == b
        return np.nonzero(inside)[0]

    def exchanged(self):
        """Each unknown's partner when axes 1 and 2 change places."""
        d, m = self.digits, self.order + 1
        flat = d[1] * m ** (self.dims - 1) + d[0] * m ** (self.dims - 2)
        if self.dims > 2:
            flat = flat + d[2]
        fields = np.arange(self.fields)
        if self.kind == "wave":
            fields[1], fields[2] = 2, 1
        return np.concatenate([f * self.nodes + flat for f in fields])

    def fold(self, a, rows, columns, sign):
        """The block of a between two sectors; with a sign, of what is even or
        odd under the exchange."""
        if sign is None:
            return take(a, rows, columns)
        partner = self.exchanged()
        rows = rows[partner[rows] > rows] if sign < 0 else \
            rows[partner[rows] >= rows]
        columns = columns[partner[columns] > columns] if sign < 0 else \
            columns[partner[columns] >= columns]
        other = sign * (partner[columns] != columns).astype(float)
        return take(a, rows, columns) + \
            take(a, rows, partner[columns]) * xp.put(other)

    def growth(self, family, theta, cfl, stages):
        """Per half step, of each sample."""
        s = self.symbol(theta, cfl, stages)
        worst = np.full(len(cfl), -1.0)
        for rows, via, sign in self.blocks(family):
            if via is None:
                a, steps = self.fold(s, rows, rows, sign), 1
            else:
                a = (self.fold(s, rows, via, sign)
                     @ self.fold(s, via, rows, sign))
                steps = 2
            if a.shape[1]:
                worst = np.maximum(worst, self.block_growth(a) / steps)
        return worst

    def block_growth(self, a):
        if not self.low:
            return spectral(a, False)
        out = spectral(a, True)
        again = np.nonzero(~(out <= SUSPECT))[0]
        out = np.minimum(out, 0)
        if len(again):
            out[again] = spectral(a[xp.put(again)], False)
        return out


def take(a, rows, columns):
    if len(rows) == len(columns) == a.shape[1]:
        if (rows == columns).all() and (np.diff(rows) == 1).all():
            return a
    return a[:, xp.put(rows)][:, :, xp.put(columns)]


def spectral(a, low):
    """log of the spectral radius, or a value on the same side of TOLERANCE."""
    out = np.zeros(a.shape[0])
    alive = np.arange(a.shape[0])
    log = np.zeros(a.shape[0])
    every = 2 if low else 4
    for turn in range(SQUARINGS + 1):
        if turn % every == 0 or turn in LOOKS:
            norm = xp.largest(a)
            a = scaled(a, norm)
            log = log + xp.get(xp.log(norm))
        if turn in LOOKS:
            # |S^n| of a stable matrix lies between 1 / LARGE and LARGE
            size = math.log(a.shape[1])
            done = ((log > LARGE) | (log + size < 0)
                    | (log + size < TOLERANCE / 2 * 2 ** turn)
                    | (turn == SQUARINGS))
            out[alive[done]] = log[done] / 2 ** turn
            if done.all():
                return out
            left = ~done
            alive, log = alive[left], log[left]
            a = a[xp.put(np.nonzero(left)[0])]
            if low and turn == LOOKS[0]:
                a = xp.single(a)
        a = a @ a
        log = 2 * log
    return out


def scaled(a, norm):
    norm = norm[:, None, None]
    return a / (norm.to(a.dtype) if torch else norm)
