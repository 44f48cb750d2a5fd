"""The encoder of tables, written slowly: rows of cells as dictionaries by the names of features."""

import datetime
import itertools
import math
import re
from collections import Counter

WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
MISSING = {"", "NA", "N/A", "#N/A", "NaN", "nan", "null", "NULL", "None", "?", "-"}
FORMATS = {
    0: ["%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M", "%Y/%m/%d", "%Y-%m-%d %H:%M:%S%z"],
    1: ["%m/%d/%Y", "%m/%d/%Y %I:%M %p"],
    2: ["%d.%m.%Y", "%d.%m.%Y %H:%M", "%d/%m/%Y"],
    3: ["%d %b %Y", "%B %d, %Y"],
    4: ["%Y%m%d"],
    5: ["%y%m%d%H"],
    6: ["%Y%m%d%H"],
}
EPOCH = datetime.datetime(1970, 1, 1)


def slow_moment(cell, form):
    """Return a date and time, in UTC, or None."""
    if form in (7, 8):
        return EPOCH + datetime.timedelta(seconds=int(cell) // (1 if form == 7 else 1000))
    for pattern in FORMATS[form]:
        try:
            found = datetime.datetime.strptime(cell, pattern)
        except ValueError:
            continue
        return found.astimezone(datetime.UTC).replace(tzinfo=None) if found.tzinfo else found
    return None


def slow_words(text, ngrams):
    """Return the words and runs of words of a text, as often as they come."""
    words = re.findall(r"[^\W_]+", text.lower())
    return ["_".join(words[i : i + n]) for n in range(1, ngrams + 1) for i in range(len(words) - n + 1)]


def slow_column(plan, name, cell):
    """Return the features of one cell as pairs of a name and a value."""
    role = plan.roles[name]
    cell = "" if cell is None else cell.strip(" \t\r")
    missing = cell in MISSING or cell in plan.missing
    if role == "number":
        x = plan.means[name] if missing else float(cell)
        if not missing and any(x == float(word) for word in plan.missing if re.fullmatch(r"-?[\d.]+", word)):
            missing, x = True, plan.means[name]
        return [(name, x)] * (x != 0) + [(f"{name}=missing", 1.0)] * missing
    if role == "category":
        return [(f"{name}={'missing' if missing else cell}", 1.0)]
    if role == "date":
        if missing:
            return [(f"{name}=missing", 1.0)]
        dates = plan.dates[name]
        when = slow_moment(cell, dates.form)
        days = (when - EPOCH).days - dates.first_day
        found = [(f"{name}:days", days / 365.25)] * (days != 0)
        found += [(f"{name}:hour={when.hour}", 1.0)] * dates.timed
        return [*found, (f"{name}:weekday={WEEKDAYS[when.weekday()]}", 1.0), (f"{name}:month={when.month}", 1.0)]
    if role == "text":
        counts = Counter(slow_words(cell, plan.ngrams))
        weights = {gram: 1 + math.log(count) for gram, count in counts.items()}
        length = math.sqrt(sum(w * w for w in weights.values()))
        return [(f"{name}:{gram}", w / length) for gram, w in weights.items()]
    return []


def slow_row(plan, row):
    """Return a row, given as its cells by name, as a dictionary of features."""
    features: dict[str, float] = {}
    by_column = {name: slow_column(plan, name, cell) for name, cell in row.items()}
    crossed = [
        (f"{one}*{other}", x * z)
        for a, b in plan.interactions
        for (i, (one, x)), (k, (other, z)) in itertools.product(enumerate(by_column[a]), enumerate(by_column[b]))
        if a != b or i <= k
    ]
    for name, x in [*itertools.chain.from_iterable(by_column.values()), *crossed]:
        features[name] = features.get(name, 0.0) + x
    return features
