"""A raw table to try things on: flats and their rents, as messy as real ones, made by a seed.

`python -m gossamer.cli.rents` writes it; `examples/rents.csv` is its output. The rents follow a formula, so that what a
model finds can be compared with the truth: place, size, words of the description, season, and noise of 45 a month.
"""

from __future__ import annotations

import datetime
import random
import sys

ROWS, NEW, SEED = 1500, 5, 17
HEADER = "id,listed,city,zip,area,rooms,floor,heating,furnished,description,rent"
PER_METRE = 14.0
CITIES = {  # the rent of a place, and the zip codes with what they add
    "Zurich": (700, {8001: 160, 8004: 40, 8037: 0, 8051: -90}),
    "Geneva": (610, {1201: 70, 1205: 110, 1219: -80}),
    "Basel": (350, {4051: 60, 4057: -20, 4058: -60}),
    "Bern": (330, {3005: 80, 3012: 20, 3018: -70}),
    "Chur": (120, {7000: 0}),
}
PHRASES = {
    "quiet courtyard": 0,
    "close to the station": 35,
    "large balcony": 70,
    "view of the lake": 130,
    "new kitchen": 45,
    "wooden floor": 0,
    "needs renovation": -140,
    "busy street": -60,
    "lift": 20,
    "garden": 30,
    "cellar and attic": 0,
    "pets welcome": 0,
    "ideal for couples": 0,
}
STYLES = ("Bright flat", "Flat", "Nice flat", "Sunny rooms", "Top floor flat", "Old building")
HEATING = {"gas": 0, "district": 10, "heat pump": 25, "oil": -15}
GAPS = ("NA", "?", "", "-")


def lines(rows: int = ROWS + NEW, seed: int = SEED) -> list[str]:
    """Return the header and the rows."""
    draw = random.Random(seed)
    return [HEADER, *(_row(draw, number) for number in range(rows))]


def _row(draw: random.Random, number: int) -> str:
    city = draw.choices(list(CITIES), (30, 22, 18, 18, 12))[0]
    base, zips = CITIES[city]
    code = draw.choice(list(zips))
    rooms = draw.choices((1, 2, 3, 4, 5), (14, 26, 30, 20, 10))[0]
    area = round(max(16.0, 24.0 * rooms + draw.gauss(8, 9)), 1)
    floor, heating, furnished = draw.randrange(0, 8), draw.choice(list(HEATING)), draw.random() < 0.2
    listed = datetime.date(2024, 1, 1) + datetime.timedelta(days=draw.randrange(366))
    phrases = draw.sample(list(PHRASES), draw.randrange(2, 5))
    rent = base + zips[code] + PER_METRE * area + 18 * rooms + 6 * floor + HEATING[heating] + 160 * furnished
    rent += sum(PHRASES[phrase] for phrase in phrases) + (40 if listed.month in (8, 9) else 0) + draw.gauss(0, 45)
    words = f"{draw.choice(STYLES)} with {rooms} room{'s' * (rooms > 1)}: {'; '.join(phrases)}."

    def or_gap(cell: object, share: float) -> str:
        return draw.choice(GAPS) if draw.random() < share else str(cell)

    cells = [
        f"R{100_000 + 7 * number}",
        listed.isoformat(),
        or_gap(city, 0.02),
        str(code),
        or_gap(area, 0.05),
        or_gap(rooms, 0.03),
        str(floor),
        or_gap(heating, 0.08),
        "yes" if furnished else "no",
        words,
        f"{rent:.2f}",
    ]
    return ",".join(cells)


def known() -> str:
    """Return the rows to learn from, as text."""
    return "\n".join(lines()[: ROWS + 1]) + "\n"


def new() -> str:
    """Return some more flats, as text, without their rents."""
    made = lines()
    return "\n".join(line.rsplit(",", 1)[0] for line in (made[0], *made[ROWS + 1 :])) + "\n"


if __name__ == "__main__":
    sys.stdout.write(known())
