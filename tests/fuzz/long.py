"""Fuzz for some seconds: random changes of right inputs, or with --atheris what coverage of the Python side suggests.

`make fuzz ARGS=600` runs it on the build with the address and undefined-behaviour sanitizers.
"""

import random
import sys
import time

from inputs import mutated, one_input, seeds


def main(seconds: float) -> None:
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
    import atheris

    atheris.instrument_all()
    atheris.Setup([sys.argv[0], f"-max_total_time={int(seconds)}"], one_input)
    atheris.Fuzz()


if __name__ == "__main__":
    by_coverage = "--atheris" in sys.argv
    numbers = [float(word) for word in sys.argv[1:] if not word.startswith("-")]
    (with_atheris if by_coverage else main)(numbers[0] if numbers else 60.0)
