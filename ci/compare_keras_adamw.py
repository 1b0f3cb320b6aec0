"""Runs keras-adamw's AdamW beside examples/keras_adamw.py, and writes the package's trajectory.

    TF_KERAS=1 python ci/compare_keras_adamw.py [--write tests/groups/keras_adamw_1_38.json]

It needs keras-adamw 1.38 and a TensorFlow that it supports (2.2 to 2.4), with termcolor and NumPy. The file is
what tests/groups/test_keras_adamw.py compares the example with on every target. Exits 1 on a difference.
"""

import argparse
import importlib.util
import json
import os
import sys

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
SETTINGS = dict(
    learning_rate=0.02,
    total_iterations=7,
    lr_multipliers={"hidden": 0.5, "head": 1.5},
    weight_decays={"hidden/kernel": 0.1, "head/kernel": 0.03, "head/bias": 0.05},
    eta_min=0.1,
)
NAMES, SHAPES = ["hidden/kernel", "hidden/bias", "head/kernel", "head/bias", "other/kernel"], [(3, 4), (4,), (4, 2), (2,), (2, 2)]
STEPS = 20


def problem():
    """(first values, gradients over steps), float32."""
    random = np.random.RandomState(0)
    values = [random.normal(size=shape).astype("float32") for shape in SHAPES]
    return values, [[random.normal(size=shape).astype("float32") for shape in SHAPES] for _ in range(STEPS)]


def package_trajectory():
    """The values of all variables after each step of the package's AdamW."""
    import tensorflow as tf
    from keras_adamw import AdamW

    values, rows = problem()
    variables = [tf.Variable(value, name=name) for value, name in zip(values, NAMES)]
    decays = {"%s:0" % name: (0, decay) for name, decay in SETTINGS["weight_decays"].items()}
    optimizer = AdamW(use_cosine_annealing=True, init_verbose=False, **dict(SETTINGS, weight_decays=decays))
    trajectory = []
    for row in rows:
        optimizer.apply_gradients([(tf.constant(g), v) for g, v in zip(row, variables)])
        trajectory.append([variable.numpy() for variable in variables])
    return trajectory


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--write", metavar="FILE", help="write the package's trajectory")
    arguments = parser.parse_args()
    sys.path.insert(0, ROOT)
    import tensorflow as tf

    spec = importlib.util.spec_from_file_location("keras_adamw_example", os.path.join(ROOT, "examples", "keras_adamw.py"))
    example = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(example)
    expected = package_trajectory()
    values, rows = problem()
    variables = [tf.Variable(value, name=name) for value, name in zip(values, NAMES)]
    optimizer, largest = example.adamw(variables, **SETTINGS), 0.0
    for row, wanted in zip(rows, expected):
        optimizer.apply_gradients([(tf.constant(g), v) for g, v in zip(row, variables)])
        for variable, value in zip(variables, wanted):
            largest = max(largest, float(np.max(np.abs(variable.numpy() - value) / np.maximum(np.abs(value), 1e-2))))
    print("keras-adamw 1.38 on TensorFlow %s, %d steps: largest relative difference %.2g" % (tf.__version__, STEPS, largest))
    if arguments.write:
        written = {
            "generator": "ci/compare_keras_adamw.py, keras-adamw 1.38, TensorFlow %s, NumPy %s, float32" % (tf.__version__, np.__version__),
            "trajectory": [[np.round(value.astype("float64"), 8).ravel().tolist() for value in step] for step in expected],
        }
        with open(arguments.write, "w") as stream:
            json.dump(written, stream)
    return int(largest > 1e-4)


if __name__ == "__main__":
    sys.exit(main())
