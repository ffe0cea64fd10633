"""Counter-based unit noise: any sample of any stream from its numbers alone.

Philox-4x32 with 10 rounds (Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011). The key is the CRC of
the situation's name and the low word of its seed; the counter is the sample pair, the stream and the high word of the
seed. The same numbers result for any batch, lane, thread or order, and no stream depends on which others exist.

The functions below are printed into the kernels as they stand; called from Python they are the reference.
"""

from __future__ import annotations

import math
import zlib

import numpy as np

BLOCK = 1024
OFF, GAUSSIAN, UNIFORM, RECORDED = 0, 1, 2, 3
MASK = 0xFFFFFFFF


def philox(c0, c1, c2, c3, k0, k1):
    """Four 32-bit words from a counter of four and a key of two."""
    for _ in range(10):
        p0 = c0 * 0xD2511F53
        p1 = c2 * 0xCD9E8D57
        c0, c2 = ((p1 >> 32) & MASK) ^ c1 ^ k0, ((p0 >> 32) & MASK) ^ c3 ^ k1
        c1, c3 = p1 & MASK, p0 & MASK
        k0 = (k0 + 0x9E3779B9) & MASK
        k1 = (k1 + 0xBB67AE85) & MASK
    return c0, c1, c2, c3


def unit_pair(code, pair, stream, k0, k1, high):
    """Two independent samples of mean 0 and variance 1: Gaussian (Box-Muller) or uniform."""
    a, b, c, d = philox(pair & MASK, pair >> 32, stream, high, k0, k1)
    first = ((a >> 5) * 67108864.0 + (b >> 6) + 0.5) * (1.0 / 9007199254740992.0)
    second = ((c >> 5) * 67108864.0 + (d >> 6) + 0.5) * (1.0 / 9007199254740992.0)
    if code == 2:
        return (2.0 * first - 1.0) * math.sqrt(3.0), (2.0 * second - 1.0) * math.sqrt(3.0)
    radius = math.sqrt(-2.0 * math.log(first))
    angle = 2.0 * math.pi * second
    return radius * math.cos(angle), radius * math.sin(angle)


def fill(out, code, block, key, series):
    """Fill `out` [1024] with samples block * 1024 ... of one stream.

    key: stream, CRC, seed low, seed high, number of the series where it is recorded, else how many samples to skip.
    """
    first = int(block) * 1024  # an integer of Python where the source is interpreted: it does not wrap around
    if code == 3:
        last = series.shape[1] - 1
        for j in range(1024):
            out[j] = series[key[4], min(first + j, last)]
    elif code > 0:
        stream, k0, k1, high = int(key[0]), int(key[1]), int(key[2]), int(key[3])
        first += int(key[4])
        odd = first % 2  # samples are made in pairs: the first pair may begin before what is asked for
        for j in range(512 + odd):
            a, b = unit_pair(code, first // 2 + j, stream, k0, k1, high)
            if 2 * j >= odd:
                out[2 * j - odd] = a
            if 2 * j + 1 - odd < 1024:
                out[2 * j + 1 - odd] = b
    else:
        for j in range(1024):
            out[j] = 0.0


def fill_table(codes, keys, series, table):
    """Fill `table` [stream, block, 1024] with the first samples of streams, each with its code and key as of `fill`."""
    for stream in range(table.shape[0]):
        for block in range(table.shape[1]):
            fill(table[stream, block], codes[stream], block, keys[stream], series)


def stream_key(name: str, seed: int, stream: str) -> tuple[int, int, int, int]:
    """Return (stream, CRC of the name, low and high word of the seed) for a situation and a stream's name."""
    if not 0 <= seed < 2**64:
        raise ValueError(f"a seed is an integer from 0 to 2**64 - 1, got {seed}")
    return zlib.crc32(stream.encode()), zlib.crc32(name.encode()), seed & MASK, seed >> 32


def samples(code: int, count: int, key: tuple[int, int, int, int]) -> np.ndarray:
    """Return the first `count` samples [count] of a Gaussian or uniform stream, as the kernels make them."""
    pairs = [unit_pair(code, j, *key) for j in range((count + 1) // 2)]
    return np.array(pairs, dtype=float).reshape(-1)[:count]


def streams(code: int, first: int, count: int, keys: np.ndarray) -> np.ndarray:
    """Return samples `first` ... of many streams at once, as the kernels make them but for rounding of log, sin, cos.

    Parameters
    ----------
    code : int
        `GAUSSIAN`, `UNIFORM`, or `OFF` for zeros.
    first, count : int, even
    keys : ndarray of uint64 [n, 4]
        Rows as of `stream_key`.

    Returns
    -------
    ndarray [count, n]
    """
    if code == OFF:
        return np.zeros((count, len(keys)))
    stream, k0, k1, high = np.ascontiguousarray(keys.T, np.uint64)[:, None, :]
    pair = np.arange(first // 2, (first + count) // 2, dtype=np.uint64)[:, None] + 0 * stream
    a, b, c, d = philox(pair & MASK, pair >> 32, stream + 0 * pair, high + 0 * pair, k0, k1)
    one = ((a >> 5) * 67108864.0 + (b >> 6) + 0.5) * (1.0 / 9007199254740992.0)
    two = ((c >> 5) * 67108864.0 + (d >> 6) + 0.5) * (1.0 / 9007199254740992.0)
    if code == UNIFORM:
        pairs = [(2.0 * u - 1.0) * math.sqrt(3.0) for u in (one, two)]
    else:
        radius, angle = np.sqrt(-2.0 * np.log(one)), 2.0 * math.pi * two
        pairs = [radius * np.cos(angle), radius * np.sin(angle)]
    return np.stack(pairs, axis=1).reshape(count, len(keys))
