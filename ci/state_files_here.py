"""Write small files of optimizer state with the TensorFlow of this environment; see make_state_files.py.

    python ci/state_files_here.py FOLDER

FOLDER/<namespace>/ gets, for each target: the files; ``expected.npz`` with the numbers read from the live optimizer; and
``provenance.json``, which says what wrote them and names the numbers. The gradients are random numbers of a fixed seed.
"""

import datetime
import importlib
import json
import os
import shutil
import sys
import warnings
import zipfile

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402

import compat_opt as co  # noqa: E402
from compat_opt.adapters import compile_rule  # noqa: E402

SEED = 20240229
STEPS, FURTHER = 3, 5
#: Keyword arguments of the optimizers, by case; a case is written where the class and the arguments exist. The class is
#: the part before the underscore, `compiled_` one that is compiled from the rule.
CASES = {
    "Adam": {},
    "Adam_amsgrad": dict(amsgrad=True),
    "Adam_ema": dict(use_ema=True, ema_momentum=0.9),
    "Adam_accumulating": dict(gradient_accumulation_steps=2),
    "Adam_schedule": {},
    "Adam_scaled": {},
    "Adam_backup": {},
    "Adamax": {},
    "AdamW": dict(weight_decay=0.01),
    "Nadam": {},
    "SGD": {},
    "SGD_momentum": dict(momentum=0.9),
    "RMSprop": {},
    "RMSprop_centered": dict(momentum=0.9, centered=True),
    "Adagrad": {},
    "Adadelta": dict(learning_rate=1.0),
    "Ftrl": {},
    "Adafactor": {},
    "Lion": {},
    "Lamb": {},
    "Muon": {},
    "ScheduleFreeAdamW": {},
    "compiled_Adam": {},
    "compiled_Adam_ema": dict(use_ema=True, ema_momentum=0.9, gradient_accumulation_steps=2),
    "compiled_Nadam": {},
    "compiled_RMSprop": dict(momentum=0.9, centered=True),
    "compiled_Adafactor": {},
    "compiled_Adam_schedule": {},
}
#: Cases that are written in every format; the others as a checkpoint.
EVERY_FORMAT = ("Adam", "compiled_Adam")


def main():
    out = sys.argv[1]
    for target in co.targets():
        folder = os.path.join(out, target.namespace)
        shutil.rmtree(folder, ignore_errors=True)
        os.makedirs(folder)
        TargetFiles(target, folder).write()


class TargetFiles:
    """The files of one target."""

    def __init__(self, target, folder):
        self.target, self.folder = target, folder
        first, *rest = target.namespace.split(".")
        self.keras = tf.keras if first == "tf" else importlib.import_module(first)
        self.optimizers = self.keras.optimizers
        for name in rest[1:] if first == "tf" else rest:
            self.optimizers = getattr(self.optimizers, name)
        self.numbers, self.cases = {}, {}

    def write(self):
        """Write every case that this target has, and what is to be read from it."""
        for case, kwargs in CASES.items():
            arguments = dict({"learning_rate": 0.05}, **kwargs)
            optimizer = self.optimizer(case, dict(arguments))
            if optimizer is not None:
                self.write_case(case, optimizer, arguments)
        self.write_two()
        if self.target.generation != "keras3":
            self.write_shards()
        np.savez_compressed(os.path.join(self.folder, "expected.npz"), **self.numbers)
        import h5py

        provenance = {
            "tensorflow": tf.__version__,
            "keras": self.target.keras,
            "namespace": self.target.namespace,
            "generation": self.target.generation,
            "numpy": np.__version__,
            "h5py": h5py.__version__,
            "python": sys.version.split()[0],
            "dtype": "float32",
            "seed": SEED,
            "steps": STEPS,
            "date": datetime.date.today().isoformat(),
            "written_by": "ci/state_files_here.py",
            "cases": self.cases,
        }
        with open(os.path.join(self.folder, "provenance.json"), "w") as file:
            text = json.dumps(provenance, sort_keys=True)
            file.write(text.replace(', "', ',\n"').replace("}, ", "},\n") + "\n")

    def optimizer(self, case, kwargs):
        """The optimizer of a case, or None where this target has none such."""
        compiled, name = case.startswith("compiled_"), case.replace("compiled_", "").split("_")[0]
        if case.endswith("schedule"):
            kwargs["learning_rate"] = self.keras.optimizers.schedules.ExponentialDecay(0.05, 2, 0.5)
        if compiled:
            return compile_rule(getattr(co.rules, name), self.target)(**kwargs)
        try:
            optimizer = getattr(self.optimizers, name)(**kwargs)
            if case.endswith("backup"):
                getattr(self.keras.callbacks, "BackupAndRestore", None) or self.keras.callbacks.experimental.BackupAndRestore
            if case.endswith("scaled"):
                optimizer = self.keras.mixed_precision.LossScaleOptimizer(optimizer)
        except (AttributeError, TypeError, ValueError) as error:
            print("%s has no %s: %s" % (self.target, case, str(error)[:80]))
            return None
        return optimizer

    def model(self):
        """An embedding and a dense layer: 6, 8 and 2 numbers."""
        self.keras.backend.clear_session()
        layers, given = self.keras.layers, self.keras.Input((2,), dtype="int32", name="given")
        flat = layers.Flatten(name="flat")(layers.Embedding(3, 2, name="words")(given))
        model = self.keras.Model(given, layers.Dense(2, name="scores")(flat), name="net")
        random = np.random.RandomState(SEED)
        model.set_weights([random.normal(size=w.shape).astype("float32") for w in model.get_weights()])
        return model

    def write_case(self, case, optimizer, arguments):
        """Three steps, the files, what the optimizer then holds, five further steps."""
        model = self.model()
        model.compile(optimizer=optimizer, loss=self.keras.losses.MeanSquaredError())
        optimizer = model.optimizer
        random = np.random.RandomState(SEED + 1)
        for _ in range(STEPS):
            self.step(optimizer, model, random)
        formats = self.back_up(case, model) if case.endswith("backup") else self.save(case, model, optimizer)
        slots, iterations = self.slots(optimizer, model), self.value(optimizer.iterations)
        weights = [self.value(v) for v in model.trainable_variables]
        after = []
        for _ in range(FURTHER):
            self.step(optimizer, model, random)
            after += [self.value(v) for v in model.trainable_variables]
        self.expect(case, formats, arguments, iterations, model.trainable_variables, weights, slots, after)

    def expect(self, case, formats, arguments, iterations, variables, weights, slots, after=()):
        """Note what is to be read from a case's files, and where the weights go from there."""
        arrays = weights + [array for _, _, array in slots] + list(after)
        self.numbers[case] = np.concatenate([np.ravel(a).astype("float32") for a in arrays])
        self.cases[case] = {
            "formats": formats,
            "iterations": int(iterations),
            "variables": [[self.name(v), list(w.shape)] for v, w in zip(variables, weights)],
            "slots": [[name, index, list(array.shape)] for name, index, array in slots],
            "arguments": arguments,
        }

    def write_two(self):
        """Two optimizers in one checkpoint, as of a GAN."""
        parts = {}
        for name, kwargs in (("generator", dict(learning_rate=0.1)), ("discriminator", dict(learning_rate=0.2))):
            optimizer, variable = self.optimizers.Adam(**kwargs), tf.Variable([1.0, 2.0], name=name)
            for number in range(STEPS):
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    optimizer.apply_gradients([(tf.constant([1.0 + number, -3.0]), variable)])
            parts[name], parts[name + "_optimizer"] = variable, optimizer
        tf.train.Checkpoint(**parts).write(os.path.join(self.folder, "two.ckpt"))
        for name in ("generator", "discriminator"):
            optimizer, variable = parts[name + "_optimizer"], parts[name]
            model = type("Holder", (), {"trainable_variables": [variable]})
            slots = self.slots(optimizer, model)
            self.expect(
                "two_" + name, {"checkpoint": "two.ckpt"}, {}, self.value(optimizer.iterations), [variable],
                [self.value(variable)], slots,
            )  # fmt: skip

    def write_shards(self):
        """A variable in two shards, as a parameter server has it."""
        try:
            from tensorflow.python.distribute.sharded_variable import ShardedVariable
        except ImportError:  # before TF 2.3
            return
        shards = [tf.Variable(np.full((2 - i, 3), 1.0 + i, "float32"), name="table/part_%d" % i) for i in range(2)]
        whole, optimizer = ShardedVariable(shards, name="table"), self.optimizers.Adam(0.1)
        gradients = [tf.constant(np.full((2 - i, 3), 2.0 + i, "float32")) for i in range(2)]
        for _ in range(STEPS):
            optimizer.apply_gradients(zip(gradients, shards))
        tf.train.Checkpoint(table=whole, optimizer=optimizer).write(os.path.join(self.folder, "shards.ckpt"))
        model = type("Holder", (), {"trainable_variables": shards})
        joined = {}
        for name, index, array in self.slots(optimizer, model):
            joined.setdefault(name, []).append(array)
        slots = [(name, 0, np.concatenate(arrays)) for name, arrays in joined.items()]
        weights = [np.concatenate([self.value(shard) for shard in shards])]
        self.expect("shards", {"checkpoint": "shards.ckpt"}, {}, self.value(optimizer.iterations), [whole], weights, slots)

    def step(self, optimizer, model, random):
        """One step with the next random gradients; a loss scale is in them where the optimizer takes it out."""
        gradients = [random.normal(size=v.shape).astype("float32") for v in model.trainable_variables]
        if self.target.generation == "keras3" and hasattr(optimizer, "dynamic_scale"):
            if not optimizer.built:
                optimizer.build(model.trainable_variables)
            gradients = [g * self.value(optimizer.dynamic_scale) for g in gradients]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            optimizer.apply_gradients([(tf.constant(g), v) for g, v in zip(gradients, model.trainable_variables)])

    # What the live optimizer holds

    @staticmethod
    def value(variable):
        return np.array(variable.numpy() if hasattr(variable, "numpy") else variable)

    @staticmethod
    def name(variable):
        return getattr(variable, "path", None) or variable.name.split(":")[0]

    def slots(self, optimizer, model):
        """[(slot or attribute, number of the variable or None, array)] by each generation's own way to ask for it."""
        inner = getattr(optimizer, "inner_optimizer", None) or getattr(optimizer, "_optimizer", None)
        optimizer = inner if isinstance(inner, self.optimizers.Optimizer) else optimizer
        variables = model.trainable_variables
        found = []
        if hasattr(optimizer, "get_slot"):
            for name in optimizer.get_slot_names():
                for index, variable in enumerate(variables):
                    try:
                        found.append((name, index, self.value(optimizer.get_slot(variable, name))))
                    except (KeyError, ValueError):  # a slot that this variable does not have
                        continue
            return found
        for attribute, value in sorted(vars(optimizer).items()):
            if attribute in ("_variables", "_trainable_variables", "_self_unconditional_checkpoint_dependencies"):
                continue
            if isinstance(value, dict):
                value = [value.get(self.key(v)) for v in variables]
            if isinstance(value, (list, tuple)):
                for index, item in enumerate(value):
                    if hasattr(item, "assign"):
                        found.append((attribute, index, self.value(item)))
            elif attribute == "_u_product" and hasattr(value, "assign"):
                found.append((attribute, None, self.value(value)))
        return found

    @staticmethod
    def key(variable):
        return getattr(variable, "_unique_id", None) or id(variable)

    # Files

    def save(self, case, model, optimizer):
        """Write the case in each format that it is due in; returns {format: file}."""
        path = os.path.join(self.folder, case)
        written = {"checkpoint": case + ".ckpt"}
        tf.train.Checkpoint(model=model, optimizer=optimizer).write(path + ".ckpt")
        if case not in EVERY_FORMAT:
            return written
        model.save(path + ".keras")  # before the H5 file, with which Keras 3.15 forgets the optimizer's config
        if zipfile.is_zipfile(path + ".keras"):
            written["keras"] = case + ".keras"
        elif os.path.isdir(path + ".keras"):
            shutil.rmtree(path + ".keras")
        else:
            os.remove(path + ".keras")  # H5 once more, before TF 2.12
        model.save(path + ".h5")
        written["h5"] = case + ".h5"
        if self.target.namespace == "keras":
            model.save_weights(path + ".weights.h5")
            written["weights.h5"] = case + ".weights.h5"
        else:
            model.save_weights(path + ".tf", save_format="tf")
            written["weights"] = case + ".tf"
            model.save(path + ".saved", save_format="tf")
            written["savedmodel"] = case + ".saved"
            for name in os.listdir(path + ".saved"):
                if name != "variables":  # the graphs of all functions: large, and nobody reads them here
                    inside = os.path.join(path + ".saved", name)
                    shutil.rmtree(inside) if os.path.isdir(inside) else os.remove(inside)
        if os.path.exists(os.path.join(self.folder, "checkpoint")):  # names the latest one, and they share it
            os.remove(os.path.join(self.folder, "checkpoint"))
        return written

    def back_up(self, case, model):
        """One epoch of fit, backed up, and an interruption in the second one."""
        callbacks = self.keras.callbacks
        backup = getattr(callbacks, "BackupAndRestore", None) or callbacks.experimental.BackupAndRestore

        class Interruption(callbacks.Callback):
            def on_epoch_begin(self, epoch, logs=None):
                if epoch == 1:
                    raise KeyboardInterrupt

        x, y = np.array([[0, 1], [2, 1]], "int32"), np.array([[0.5, -0.5], [1.0, 2.0]], "float32")
        folder = os.path.join(self.folder, case)
        try:
            model.fit(x, y, epochs=2, verbose=0, callbacks=[backup(folder), Interruption()])
        except KeyboardInterrupt:
            return {"backup": case}


if __name__ == "__main__":
    main()
