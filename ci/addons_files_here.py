"""Write small checkpoints of TensorFlow Addons' and keras-adamw's optimizers, with what this environment has of them.

    TF_KERAS=1 python ci/addons_files_here.py tests/state/addons/0.19.0

The folder gets a checkpoint for each case, an H5 file for one, ``expected.npz`` with the numbers read from the live
optimizer (slots, then the weights after each of five further steps), and ``provenance.json``.
"""

import datetime
import importlib.util
import json
import os
import shutil
import sys
import warnings

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
import tensorflow_addons as tfa  # noqa: E402

SEED = 20240301
STEPS, FURTHER = 4, 5
SHAPES = {"dense/kernel": (3, 2), "dense/bias": (2,)}
#: The package's class, its arguments, and for a wrapper what is inside.
CASES = {
    "AdaBelief": ("Addons>AdaBelief", {}, None),
    "AdamW": ("Addons>AdamW", dict(weight_decay=0.01), None),
    "COCOB": ("Addons>COCOB", {}, None),
    "ConditionalGradient": ("Addons>ConditionalGradient", dict(learning_rate=0.9, lambda_=0.5), None),
    "LAMB": ("Addons>LAMB", {}, None),
    "LazyAdam": ("Addons>LazyAdam", {}, None),
    "NovoGrad": ("Addons>NovoGrad", {}, None),
    "ProximalAdagrad": ("Addons>ProximalAdagrad", {}, None),
    "RectifiedAdam": ("Addons>RectifiedAdam", {}, None),
    "SGDW": ("Addons>SGDW", dict(weight_decay=0.01, momentum=0.9), None),
    "Yogi": ("Addons>Yogi", {}, None),
    "Lookahead_Nadam": ("Addons>Lookahead", dict(sync_period=3), ("Nadam", {})),
    "Lookahead_RectifiedAdam": ("Addons>Lookahead", dict(sync_period=3), ("Addons>RectifiedAdam", {})),
    "MovingAverage_Adam": ("Addons>MovingAverage", dict(average_decay=0.9, start_step=2, dynamic_decay=True), ("Adam", {})),
    "SWA_SGD": ("Addons>SWA", dict(start_averaging=1, average_period=2), ("SGD", dict(momentum=0.9))),
    "NadamW": ("keras_adamw>NadamW", {}, None),
}


def main(folder):
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    numbers, cases = {}, {}
    for name, (class_name, arguments, inside) in CASES.items():
        if importlib.util.find_spec("keras_adamw") is None and class_name.startswith("keras_adamw"):
            continue
        if not hasattr(tfa.optimizers, "AdaBelief") and name == "AdaBelief":  # before 0.15
            continue
        numbers[name], cases[name] = write(folder, name, class_name, arguments, inside)
    np.savez_compressed(os.path.join(folder, "expected.npz"), **numbers)
    provenance = {
        "tensorflow": tf.__version__,
        "tensorflow_addons": tfa.__version__,
        "numpy": np.__version__,
        "dtype": "float32",
        "seed": SEED,
        "steps": STEPS,
        "date": datetime.date.today().isoformat(),
        "written_by": "ci/addons_files_here.py",
        "variables": list(SHAPES.items()),
        "cases": cases,
    }
    with open(os.path.join(folder, "provenance.json"), "w") as file:
        file.write(json.dumps(provenance, sort_keys=True).replace("}, ", "},\n") + "\n")


def optimizer_of(class_name, arguments, inside=None):
    """The optimizer of a case, with a learning rate of 0.05 where it takes one."""
    package, _, name = class_name.rpartition(">")
    if package == "keras_adamw":
        module = importlib.import_module("keras_adamw.optimizers_v2")
    elif package:
        module = tfa.optimizers
    else:
        module = getattr(tf.keras.optimizers, "legacy", tf.keras.optimizers)
        module = module if hasattr(module, "Adam") else tf.keras.optimizers
    if inside is not None:
        return getattr(module, name)(optimizer_of(*inside), **arguments)
    rate = {} if name == "COCOB" else {"learning_rate": 0.05}
    return getattr(module, name)(**dict(rate, **arguments))


def write(folder, name, class_name, arguments, inside):
    """The numbers of a case, and what is told about it."""
    random = np.random.RandomState(SEED)
    values = [random.normal(size=shape).astype("float32") for shape in SHAPES.values()]
    variables = [tf.Variable(value, name=path) for value, path in zip(values, SHAPES)]
    optimizer = optimizer_of(class_name, arguments, inside)

    def step():
        rows = [tf.constant(random.normal(size=shape).astype("float32")) for shape in SHAPES.values()]
        optimizer.apply_gradients(list(zip(rows, variables)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for _ in range(STEPS):
            step()
        parts = [optimizer] + ([optimizer._optimizer] if inside else [])
        names = [(part, slot) for part in parts for slot in part.get_slot_names()]
        tf.train.Checkpoint(kernel=variables[0], bias=variables[1], optimizer=optimizer).write(os.path.join(folder, name))
        if name == "Lookahead_RectifiedAdam":
            write_h5(folder, name, optimizer, variables)
        slots = [part.get_slot(v, slot).numpy() for part, slot in names for v in variables]
        weights = [v.numpy() for v in variables]
        after = []
        for _ in range(FURTHER):
            step()
            after += [v.numpy() for v in variables]
        last = [part.get_slot(v, slot).numpy() for part, slot in names for v in variables]
    shapes = [[slot, [list(part.get_slot(v, slot).shape) for v in variables]] for part, slot in names]
    told = {"class_name": class_name.replace("keras_adamw>", ""), "config": arguments, "slots": shapes}
    if inside:
        told.update(class_name="%s(%s)" % (class_name, inside[0]), config=dict(arguments, **inside[1]))
    return np.concatenate([np.ravel(array) for array in weights + slots + after + last]).astype("float32"), told


def write_h5(folder, name, optimizer, variables):
    """The whole model with these weights and this optimizer."""
    layer = tf.keras.layers.Dense(2, name="dense")
    model = tf.keras.Sequential([tf.keras.Input((3,)), layer])
    model.set_weights([v.numpy() for v in variables])
    fresh = type(optimizer).from_config(optimizer.get_config())
    model.compile(fresh, "mse")
    fresh.iterations
    with tf.name_scope(fresh._name):  # as in a step
        fresh._create_all_weights(model.trainable_variables)
    fresh._optimizer._iterations = fresh.iterations
    for part, other in ((fresh, optimizer), (fresh._optimizer, optimizer._optimizer)):
        for slot in other.get_slot_names():
            for new, old in zip(model.trainable_variables, variables):
                part.get_slot(new, slot).assign(other.get_slot(old, slot))
    fresh.iterations.assign(optimizer.iterations)
    model.save(os.path.join(folder, name + ".h5"))


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
