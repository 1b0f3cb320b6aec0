"""How long a step takes, beside the native optimizer of the same name."""

import time

import numpy as np

VARIABLES, SIZE, STEPS = 8, 64, 25


def measure(stage, make, native):
    """{"step_ms", "native_ms", "ratio"}: the fastest of 25 compiled steps each, taken in turns.

    The fastest, because other cells and other programs run beside this one.

    Args:
        stage: a float32 `Stage` for the optimizer, and `native` one of (stage, make) or None.
        make: makes the optimizer.
    """
    tried = [("step_ms", stage, make)]
    if native:
        tried.append(("native_ms",) + native)
    random = np.random.RandomState(0)
    arrays = [random.normal(size=(SIZE, SIZE)) for _ in range(VARIABLES)]
    steps = []
    for name, place, function in tried:
        variables = [place.variable(array, "kernel_%d" % i) for i, array in enumerate(arrays)]
        gradients = [place.gradient(array) for array in arrays]
        step = place.step(function(), variables, place.has_graph)
        steps.append((name, place, variables, gradients, step, []))
    for turn in range(STEPS + 3):
        for _, place, variables, gradients, step, times in steps:
            started = time.perf_counter()
            step(gradients)
            place.numpy(variables[-1])
            if turn >= 3:
                times.append(time.perf_counter() - started)
    found = {name: round(1000 * min(times), 4) for name, _, _, _, _, times in steps}
    if native:
        found["ratio"] = round(found["step_ms"] / found["native_ms"], 3)
    return found
