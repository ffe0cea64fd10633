"""Mutated files given to every reader: ``python -m tests.fuzz COUNT [SEED] [READER ...]``.

Whatever a file holds, it is read or refused in a sentence, within two seconds and a gigabyte. What is not is written to
tests/fuzz/regressions, made small, to be read by tests/fuzz/test_fuzz.py from then on; the exit code is 1.
"""

import random
import resource
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path

from experiments.runtime.errors import is_users, sentence
from tests.fuzz import mutators
from tests.fuzz.readers import readers, sealed

SECONDS, MEGABYTES = 2.0, 1000.0
REGRESSIONS = Path(__file__).parent / "regressions"


class HangError(BaseException):
    """A reader that does not come to an end."""


def problem(reader, path, content):
    """Return what is wrong with how a file is read; empty where it is read or refused in a sentence."""
    path.write_bytes(content)
    begun = time.process_time()
    signal.setitimer(signal.ITIMER_PROF, 5 * SECONDS)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            reader.read(path)
    except HangError:
        return "hangs"
    except Exception as error:  # noqa: BLE001  (whatever it is: that is what is looked for)
        if not is_users(error):
            last = traceback.extract_tb(error.__traceback__)[-1]
            return f"{type(error).__name__}: {error} ({Path(last.filename).name}, line {last.lineno})"
        if len(sentence(error)) > 2_100:
            return "says too much"
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0.0)
    took = time.process_time() - begun
    return f"takes {took:.1f} s" if took > SECONDS else ""


def smaller(reader, path, content, found):
    """Return the shortest content that still has the problem's kind, found by leaving pieces out."""
    kind, piece = found.partition(":")[0], max(1, len(content) // 2)
    while piece:
        start = 0
        while start < len(content):
            shorter = content[:start] + content[start + piece :]
            if problem(reader, path, shorter).partition(":")[0] == kind:
                content = shorter
            else:
                start += piece
        piece //= 2 if len(content) < 20_000 else 4
    return content


def fuzz(count, seed=0, names=(), seconds=float("inf"), say=print):
    """Give `count` mutated files to the readers in turn; return problems by reader, each with a small file."""
    signal.signal(signal.SIGPROF, _stop)
    rng, found, begun = random.Random(seed), {}, time.monotonic()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        known = {key: one for key, one in readers(folder).items() if not names or key in names}
        pieces = [content for one in known.values() for content in one.seeds]
        for number in range(count):
            if time.monotonic() - begun > seconds:
                break
            key = list(known)[number % len(known)]
            one, path = known[key], folder / f"mutated{known[key].ending}"
            content = mutators.mutated(rng.choice(one.seeds), pieces, rng)
            content = sealed(content) if one.sealed and rng.randrange(4) else content
            wrong = problem(one, path, content)
            if wrong and (key, wrong.rpartition("(")[2]) not in found:
                small = smaller(one, path, content, wrong) if "hangs" not in wrong else content
                found[key, wrong.rpartition("(")[2]] = (wrong, small)
                say(f"{key}: {wrong}: {small[:200]!r}", flush=True)
            if number and number % 20_000 == 0:
                say(
                    f"{number} files, {len(found)} problems, {_peak():.0f} MB, {time.monotonic() - begun:.0f} s",
                    flush=True,
                )
    return found


def _stop(*_):
    raise HangError


def _peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024.0


def main(words):
    """Fuzz, and write what was found."""
    count, seed, names = int(words[0]), int(words[1]) if len(words) > 1 else 0, words[2:]
    begun = time.monotonic()
    found = fuzz(count, seed, names)
    for number, ((key, _), (_, content)) in enumerate(found.items()):
        REGRESSIONS.mkdir(exist_ok=True)
        (REGRESSIONS / f"{key.replace(' ', '_')}-{seed}-{number}").write_bytes(content)
    print(f"{count} files: {len(found)} problems; largest memory {_peak():.0f} MB; {time.monotonic() - begun:.0f} s")
    raise SystemExit(bool(found) or _peak() > MEGABYTES)


if __name__ == "__main__":
    main(sys.argv[1:])
