"""Files with wrong values: a tree of JSON with one value changed, and a file with the checksum made anew."""

import copy
import json

from gossamer.model import file_format

DROP = object()  # a value that is not there


def places(value, path=(), items=3):
    """Yield the path of every value in a tree of JSON; of a list, of its first items."""
    yield path
    inner = value.items() if isinstance(value, dict) else enumerate(value[:items]) if isinstance(value, list) else ()
    for key, item in inner:
        yield from places(item, (*path, key), items)


def changed(tree, path, value):
    """Return the tree with another value at a path, or without it."""
    tree = copy.deepcopy(tree)
    at = tree
    for key in path[:-1]:
        at = at[key]
    if value is DROP:
        del at[path[-1]]
    else:
        at[path[-1]] = value
    return tree


def sealed(header, arrays, magic=file_format.MAGIC):
    """Return a file as `file_format.write` makes it, also of what JSON should not hold."""
    listed = [[name, a.dtype.str, len(a)] for name, a in arrays.items()]
    words = json.dumps(header | {"arrays": listed}).encode()
    data = magic + len(words).to_bytes(8, "little") + words + b"".join(a.tobytes() for a in arrays.values())
    return data + file_format.SUMS[magic][1]([data])
