"""Counter-based unit noise: the published generator, its compiled twin, and the statistics of its streams.

Statistical tests use fixed seeds, so they are the same in every run. Their bounds are 5 standard errors: on fresh seeds
each would fail once in two million (two-sided, normal).
"""

import numpy as np
import pytest
from scipy import stats

from plants.core.kernel import kernel as kernels
from plants.core.kernel import machine_code
from plants.core.kernel.kernel import ALIVE, KernelDesign, Stream, stream_items
from plants.core.signals import noise

BLOCKS = 500
COUNT = BLOCKS * noise.BLOCK
FIVE_SIGMA = stats.norm.sf(5.0) * 2.0


FILL = """
def rollout(out, code, block, key, series):
    fill(out, code, block, key, series)
"""
WORDS = """
def rollout(w):
    w[0], w[1], w[2], w[3] = philox(w[0], w[1], w[2], w[3], w[4], w[5])
"""


def compiled(entry, arguments):
    """Compile a function that stands behind the text of a kernel that has nothing but a stream."""
    design = KernelDesign("unit noise")
    design.rows.add("sample")
    design.rows.add(ALIVE)
    design.integers.append("every")
    design.before.append(stream_items(design, Stream("noise", "sample", "every")))
    design.results = ("sample",)
    text = f"{kernels.build(design).text}\n{entry}"
    return machine_code.MachineCode(machine_code.compiled(text, arguments), arguments)


@pytest.fixture(scope="module")
def fill():
    """Return the compiled function that fills a block."""
    return compiled(FILL, ("float64[::1]", "int64", "int64", "int64[::1]", "float64[:,::1]"))


@pytest.fixture(scope="module")
def philox():
    """Return the compiled generator."""
    return compiled(WORDS, ("int64[::1]",))


def draw(fill, code, name="situation", seed=0, stream="channel", blocks=BLOCKS):
    key = np.array([*noise.stream_key(name, seed, stream), 0])
    out = np.empty((blocks, noise.BLOCK))
    for block in range(blocks):
        fill(out[block], code, block, key, np.zeros((1, 1)))
    return out.ravel()


@pytest.mark.parametrize(
    ("counter", "key", "words"),
    [
        # Known answers of philox4x32-10 in the Random123 library (kat_vectors).
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers(philox, counter, key, words):
    assert noise.philox(*counter, *key) == words
    given = np.array([*counter, *key])
    philox(given)
    assert tuple(given[:4].tolist()) == words


@pytest.mark.parametrize("code", [noise.GAUSSIAN, noise.UNIFORM])
@pytest.mark.parametrize("seed", [0, 2**32 + 5])
def test_compiled_samples_are_those_of_the_twin(fill, code, seed):
    ours = draw(fill, code, seed=seed, blocks=2)
    twin = noise.samples(code, 2 * noise.BLOCK, noise.stream_key("situation", seed, "channel"))
    # The same library calls of log, sin and cos; a compiler may still round one of them otherwise.
    np.testing.assert_allclose(ours, twin, rtol=4e-15, atol=1e-15)


@pytest.mark.parametrize(("code", "kurtosis", "law"), [(noise.GAUSSIAN, 3.0, "norm"), (noise.UNIFORM, 1.8, "uniform")])
def test_moments_and_distribution(fill, code, kurtosis, law):
    x = draw(fill, code)
    error = COUNT**-0.5
    # Standard errors of the first four moments of samples with variance 1, from the moments of the exact law.
    even = {"norm": (1.0, 3.0, 15.0, 105.0), "uniform": (1.0, 9.0 / 5.0, 27.0 / 7.0, 9.0)}[law]
    second, fourth, sixth, eighth = even
    assert abs(x.mean()) < 5.0 * error
    assert abs((x**2).mean() - 1.0) < 5.0 * error * (fourth - second**2) ** 0.5
    assert abs((x**3).mean()) < 5.0 * error * sixth**0.5
    assert abs((x**4).mean() - kurtosis) < 5.0 * error * (eighth - fourth**2) ** 0.5
    frozen = stats.norm() if law == "norm" else stats.uniform(-(3.0**0.5), 2.0 * 3.0**0.5)
    assert stats.kstest(x, frozen.cdf).pvalue > FIVE_SIGMA


@pytest.mark.parametrize("code", [noise.GAUSSIAN, noise.UNIFORM])
def test_samples_of_one_stream_are_independent(fill, code):
    x = draw(fill, code)
    for lag in (1, 2, 3, noise.BLOCK):
        for y in (x, np.abs(x) - np.abs(x).mean()):  # magnitudes as well: a pair shares its radius
            correlation = np.corrcoef(y[lag:], y[:-lag])[0, 1]
            assert abs(correlation) < 5.0 * COUNT**-0.5


@pytest.mark.parametrize("other", [{"name": "other"}, {"seed": 1}, {"seed": 2**32}, {"stream": "other"}])
def test_streams_are_independent(fill, other):
    x, y = draw(fill, noise.GAUSSIAN, blocks=100), draw(fill, noise.GAUSSIAN, blocks=100, **other)
    for transformed in (lambda v: v, np.abs, lambda v: v**2):
        correlation = np.corrcoef(transformed(x), transformed(y))[0, 1]
        assert abs(correlation) < 5.0 * len(x) ** -0.5
    assert not np.intersect1d(x, y).size


def test_a_seed_that_is_none_is_refused():
    with pytest.raises(ValueError, match=r"from 0 to 2\*\*64 - 1, got -1"):
        noise.stream_key("situation", -1, "channel")


@pytest.mark.parametrize("code", [noise.GAUSSIAN, noise.UNIFORM, noise.OFF])
def test_many_streams_at_once_are_the_single_ones(code):
    keys = [("a", 0, "x"), ("a", 2**40 + 7, "x"), ("b", 1, "y")]
    table = noise.streams(code, 4, 6, np.array([noise.stream_key(*key) for key in keys], np.uint64))
    for column, key in zip(table.T, keys, strict=True):
        single = noise.samples(code, 10, noise.stream_key(*key))[4:] if code else np.zeros(6)
        np.testing.assert_allclose(column, single, rtol=4e-15, atol=1e-15)  # as for the compiled twin
