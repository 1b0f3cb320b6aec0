"""Variables of a parameter server: Keras 2 keeps slots for each shard, ``table/part_0``, ``table/part_1``, ..."""

import re

from compat_opt.state.raw import RawEntry


def joined(raw, axis_of):
    """`raw` with the slots of the shards of one variable joined, where the checkpoint has the whole variable.

    Args:
        raw: a `RawState`; it is changed.
        axis_of: a function of a variable's path that returns the axis along which it is cut, or None.
    """
    import numpy as np

    parts = {}
    for path, _, _ in raw.variables:
        match = re.match(r"(.+)/part_(\d+)$", str(path))
        if match and axis_of(match.group(1)) is not None:
            parts.setdefault(match.group(1), {})[int(match.group(2))] = path
    whole = {path: base for base, numbered in parts.items() for path in numbered.values()}
    entries = []
    for entry in raw.entries:
        base = whole.get(entry.variable)
        if base is None:
            entries.append(entry._replace(index=len(entries)))
        elif entry.variable == parts[base][0]:
            pieces = {e.variable: e.value for e in raw.entries if e.name == entry.name and e.role == entry.role}
            arrays = [pieces[parts[base][number]] for number in sorted(parts[base])]
            value = np.concatenate(arrays, axis_of(base))
            entries.append(RawEntry(entry.role, base, entry.name, len(entries), value))
    raw.entries = entries
    raw.variables = list({(whole.get(path, path), None if path in whole else shape, dtype): 0 for path, shape, dtype in raw.variables})
    return raw
