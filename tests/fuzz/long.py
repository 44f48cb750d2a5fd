"""Fuzz for some seconds: random changes of right inputs, or with --atheris what coverage of the Python side suggests.

`make fuzz ARGS=600` runs it on the build with the address and undefined-behaviour sanitizers.
"""

import random
import sys
import tempfile
import time
from pathlib import Path


def main(seconds: float) -> None:
    from inputs import mutated, one_input, seeds

    start, count, rng = time.monotonic(), 0, random.Random(time.time_ns())
    pool = seeds()
    while time.monotonic() - start < seconds:
        data = mutated(rng, rng.choice(pool))
        try:
            one_input(data)
        except BaseException:
            print(f"failed on {data!r}")
            raise
        count += 1
        if rng.random() < 0.02 and len(data) < 5000:
            pool.append(data)  # changes of changes
    print(f"{count:,} inputs in {seconds:g} s, none of them did harm")


def with_atheris(seconds: float) -> None:
    """Let coverage guide the changes: of the Python parts only, the compiled ones are not instrumented."""
    import atheris

    with atheris.instrument_imports(include=["gossamer", "inputs"]):
        import inputs

        for data in inputs.seeds():
            inputs.one_input(data)  # imports all formats
    with tempfile.TemporaryDirectory() as corpus:
        for number, data in enumerate(inputs.seeds()):
            Path(corpus, str(number)).write_bytes(data)
        atheris.Setup([sys.argv[0], f"-max_total_time={int(seconds)}", corpus], inputs.one_input)
        atheris.Fuzz()


if __name__ == "__main__":
    by_coverage = "--atheris" in sys.argv
    numbers = [float(word) for word in sys.argv[1:] if not word.startswith("-")]
    (with_atheris if by_coverage else main)(numbers[0] if numbers else 60.0)
