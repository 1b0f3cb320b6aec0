"""The workload `trajectory`: given first values and gradients, the same everywhere.

========================  =============================================================
run                       gradients
========================  =============================================================
``dense``                 dense, for a vector, a matrix, a scalar and a rank-3 array
``compiled``              the same, in a compiled train step
``sparse``                rows of a table, repeated and unsorted, beside a dense vector
``summed``                the same with repeated rows summed: each row once
========================  =============================================================

Gradients reach from 1e-3 to 1, so that it shows where an epsilon stands.
"""

import numpy as np

DENSE = (("vector", (6,)), ("matrix", (4, 3)), ("scalar", ()), ("cube", (2, 3, 2)))
SPARSE = (("table", (7, 3)), ("offset", (4,)))


def problem(steps, seed):
    """(first values, gradients) of the dense runs: arrays in float64."""
    random = np.random.RandomState(seed)
    values = [np.asarray(random.normal(size=shape)) for _, shape in DENSE]
    scales = [10.0 ** random.uniform(-3, 0, size=shape) for _, shape in DENSE]
    gradients = [[np.asarray(random.normal(size=np.shape(s)) * s) for s in scales] for _ in range(steps)]
    return values, gradients


def sparse_problem(steps, seed):
    """(first values, gradients with repeated rows, the same summed, the same dense)."""
    random = np.random.RandomState(seed + 1)
    (_, shape), (_, other) = SPARSE
    values = [np.asarray(random.normal(size=shape)), np.asarray(random.normal(size=other))]
    repeated, summed, dense = [], [], []
    for step in range(steps):
        unique = random.permutation(shape[0])[:3]
        rows = [unique[0], unique[1], unique[0], unique[2], unique[0], unique[1]]
        parts = random.normal(size=(len(rows), shape[1])) * 10.0 ** random.uniform(-3, 0, size=(1, shape[1]))
        beside = random.normal(size=other)
        whole = np.zeros(shape)
        np.add.at(whole, rows, parts)
        order = sorted(int(row) for row in unique)
        repeated.append([([int(row) for row in rows], parts, shape), beside])
        summed.append([(order, whole[order], shape), beside])
        dense.append([whole, beside])
    return values, repeated, summed, dense


def run(stage, make, steps, seed):
    """{run: {key: array}}, the keys as in `record`; and {run: why it was left out}."""
    traces, left_out = {}, {}
    values, gradients = problem(steps, seed)
    traces["dense"] = record(stage, make(), DENSE, values, gradients)
    if stage.has_graph:
        traces["compiled"] = record(stage, make(), DENSE, values, gradients, compiled=True)
    else:
        left_out["compiled"] = "the %s backend has no compiled train step" % stage.target.backend
    if stage.has_sparse:
        values, repeated, summed, _ = sparse_problem(steps, seed)
        traces["sparse"] = record(stage, make(), SPARSE, values, repeated)
        traces["summed"] = record(stage, make(), SPARSE, values, summed)
    else:
        for name in ("sparse", "summed"):
            left_out[name] = "the %s backend has no sparse gradients" % stage.target.backend
    return traces, left_out


def record(stage, optimizer, names, values, gradients, compiled=False):
    """Run an optimizer and write down all it did.

    Returns:
        ``var/<name>``: the variable's values, first axis the step, 0 the first value;
        ``slot/<name>/<slot>``: the slot's, first axis the step from 1.
    """
    names = [name for name, _ in names]
    variables = [stage.variable(value, name) for value, name in zip(values, names)]
    step = stage.step(optimizer, variables, compiled)
    history = [[stage.numpy(v) for v in variables]]
    slots = {}
    for row in gradients:
        step([stage.gradient(gradient) for gradient in row])
        history.append([stage.numpy(v) for v in variables])
        for (number, slot), value in stage.slots(optimizer, variables, names).items():
            slots.setdefault("slot/%s/%s" % (names[number], slot), []).append(value)
    trace = {"var/" + name: np.stack([row[i] for row in history]) for i, name in enumerate(names)}
    trace.update((key, np.stack(each)) for key, each in slots.items() if len(each) == len(gradients))
    return trace


def reference(rule, arguments, steps, seed):
    """{run: {key: array}} of the NumPy reference in float64."""
    from compat_opt.adapters.reference import run_reference

    values, gradients = problem(steps, seed)
    found = {"dense": _reference(run_reference, rule, DENSE, values, gradients, arguments)}
    found["compiled"] = found["dense"]
    values, _, _, dense = sparse_problem(steps, seed)
    found["sparse"] = _reference(run_reference, rule, SPARSE, values, dense, arguments)
    found["summed"] = found["sparse"]
    return found


def _reference(run_reference, rule, names, values, gradients, arguments):
    done = run_reference(rule, values, gradients, **arguments)
    rows = [done.initial] + list(done)
    return {"var/" + name: np.stack([row[i] for row in rows]) for i, (name, _) in enumerate(names)}
