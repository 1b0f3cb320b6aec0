"""One table: public legacy optimizers, unmodified, on the bridge. Their packages are no part of this project.

    python ci/bridge_table.py fetch PACKAGES                      install the packages, each into a folder of its own
    python ci/bridge_table.py run PACKAGES home.json --plain      in an old TensorFlow: the classes by themselves
    python ci/bridge_table.py run PACKAGES home.json --plain --standalone    with the package keras 2.3
    python ci/bridge_table.py run PACKAGES new.json               in TensorFlow 2.15 or 2.21: on the bridge
    python ci/bridge_table.py show new.json ... --home home.json ...

ci/bridge_classes.tsv lists the classes, and the TensorFlow or Keras on which each trains by itself (`home`). `run`
makes five steps of two models from fixed weights; it goes on where it was stopped. A package for one version of
Python only needs a second `fetch` with an --installer for that version.
"""

import argparse
import csv
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import traceback
import types

HERE = os.path.dirname(os.path.abspath(__file__))
#: What some of the packages import, beside TensorFlow.
SUPPORT = (("typeguard", "2.13.3"), ("tabulate", "0.9.0"), ("colorama", "0.4.6"), ("gin-config", "0.5.0"), ("py-cpuinfo", "9.0.0"), ("sigfig", "1.3.3"), ("sortedcontainers", "2.4.0"), ("packaging", "23.2"), ("pyyaml", "6.0.2"), ("setuptools", "69.5.1"))
HOOKS = (
    "_resource_apply_dense _resource_apply_sparse apply_gradients update_step get_updates "
    "_prepare_local _prepare _create_slots _decayed_lr _compute_gradients get_gradients"
).split()


def classes():
    """The rows of bridge_classes.tsv."""
    with open(os.path.join(HERE, "bridge_classes.tsv")) as file:
        return list(csv.DictReader(file, delimiter="\t"))


def folder_of(row, packages):
    return os.path.join(packages, "%s-%s" % (row["package"], row["version"]))


def fetch(arguments):
    """Install each package, without what it depends on, with the command given by --installer."""
    wanted = sorted({(row["package"], row["version"]) for row in classes()} | set(SUPPORT))
    for package, version in wanted:
        folder = os.path.join(arguments.packages, "%s-%s" % (package, version))
        if not os.path.isdir(folder):
            command = arguments.installer.split() + ["--no-deps", "--target", folder, "%s==%s" % (package, version)]
            if subprocess.call(command):
                shutil.rmtree(folder, ignore_errors=True)
                print("not fetched: %s %s" % (package, version))


# In an environment with TensorFlow


def run(arguments):
    """Every class in this environment; writes what it did to a JSON file."""
    import tensorflow as tf

    sys.path[:0] = [os.path.join(arguments.packages, "%s-%s" % item) for item in SUPPORT]
    keras = importlib.import_module("keras") if arguments.standalone else tf.keras
    home = "keras %s" % keras.__version__ if arguments.standalone else tf.__version__
    found = {"tensorflow": home, "plain": arguments.plain, "classes": {}}
    if os.path.exists(arguments.out):
        with open(arguments.out) as file:
            found = json.load(file)
    for row in classes():
        name = name_of(row)
        if arguments.only and not is_wanted(name, arguments.only):
            continue
        if name in found["classes"] and not arguments.only:
            continue
        if arguments.plain and row["home"] != home.rpartition(".")[0]:
            continue
        if arguments.apart:  # what one class leaves in this process would be seen by the next
            flags = [flag for flag in ("--plain", "--standalone", "--verbose") if getattr(arguments, flag[2:])]
            subprocess.call([sys.executable, __file__, "run", arguments.packages, arguments.out, "--only", name] + flags)
            with open(arguments.out) as file:
                found = json.load(file)
            continue
        found["classes"][name] = outcome(row, arguments, keras)
        print(name, {k: v for k, v in found["classes"][name].items() if k != "trajectory"}, flush=True)
        with open(arguments.out, "w") as file:
            json.dump(found, file)


def is_wanted(name, words):
    """Whether words are this name or parts of it; a name of a class is no part of another's."""
    names = {name_of(row) for row in classes()}
    return any(word == name or word in name and word not in names for word in words)


def name_of(row):
    name = "%s %s %s" % (row["package"], row["version"], row["location"])
    return name + (" (%s)" % row["written_for"] if row["written_for"] else "")


def outcome(row, arguments, keras):
    """What one class did: for each model a trajectory, the hooks that ran, and whether its state came back."""
    folder = folder_of(row, arguments.packages)
    before, environ = list(sys.path), dict(os.environ)
    os.environ.update(item.split("=") for item in filter(None, row["environ"].split(",")))
    sys.path.insert(0, folder)
    forget_other_packages(folder, arguments.packages)
    result = {"trajectory": {}, "hooks": [], "restored": None}
    try:
        make = maker(row, folder, arguments.plain)
        for kind in ("dense", "embedding"):
            try:
                result["trajectory"][kind], result[kind] = train(make, kind, keras, result)
            except Exception as error:
                result[kind] = message(error, arguments)
        if not arguments.plain:
            try:
                result["restored"] = restored(make, keras)
            except Exception as error:
                result["restored"] = message(error, arguments)
    except Exception as error:
        result["dense"] = result["embedding"] = message(error, arguments)
    finally:
        sys.path[:] = before
        os.environ.clear()
        os.environ.update(environ)
    return result


def forget_other_packages(folder, packages):
    """Some packages share the names of their modules."""
    for name, module in list(sys.modules.items()):
        file = str(getattr(module, "__file__", None) or list(getattr(module, "__path__", [""]))[:1])
        support = any("%s-%s" % item in file for item in SUPPORT)
        if packages in file and folder + os.sep not in file and not support:
            del sys.modules[name]


def message(error, arguments):
    if arguments.verbose:
        traceback.print_exc()
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    useful = [line for line in lines if line[:5] not in ("in us", "File ")]
    return "%s: %s" % (type(error).__name__, (useful[-1] if "in user code" in str(error) and useful else lines[0] if lines else "")[:300])


def maker(row, folder, plain):
    """A function that makes an optimizer of the class for a model."""
    import tensorflow as tf

    file, _, name = row["location"].partition(":")
    names = {"tf": tf}
    if plain:
        legacy = getattr(tf.keras.optimizers, "legacy", tf.keras.optimizers)
        names.update(adam=legacy.Adam, sgd=legacy.SGD)
        cls = eval(name, vars(plain_module(folder, file)))
    else:
        from compat_opt import bridge
        from compat_opt.bridge.frameworks import optimizers_of, target_with

        uncalled = tuple(filter(None, row["uncalled"].split(",")))
        legacy = optimizers_of(target_with("optimizer_v2"))
        names.update(adam=legacy.Adam, sgd=legacy.SGD)
        written_for = row["written_for"] or None
        cls = bridge.load(os.path.join(folder, file) + ":" + name, uncalled=uncalled, written_for=written_for)
    return lambda model: cls(**eval(row["arguments"] or "{}", dict(names, model=model)))


def plain_module(folder, file):
    """The module as Python imports it; parents whose own imports fail are left empty."""
    name = file[: -len(".py")].replace("/", ".")
    try:
        return importlib.import_module(name)
    except ImportError:
        parts = name.split(".")
        for count in range(1, len(parts)):
            parent = ".".join(parts[:count])
            if parent not in sys.modules:
                module = types.ModuleType(parent)
                module.__path__ = [os.path.join(folder, *parts[:count])]
                sys.modules[parent] = module
        return importlib.import_module(name)


def model_of(kind, keras):
    import numpy as np

    if kind == "dense":
        given = keras.Input((3,))
        last = keras.layers.Dense(4, activation="tanh", name="hidden")(given)
    else:
        given = keras.Input((3,), dtype="int32")
        last = keras.layers.Flatten()(keras.layers.Embedding(9, 4, name="words")(given))
    model = keras.Model(given, keras.layers.Dense(1, name="head")(last))
    random = np.random.RandomState(0)
    model.set_weights([random.uniform(-1, 1, np.shape(w)).astype("float32") for w in model.get_weights()])
    x = random.uniform(-1, 1, (8, 3)).astype("float32") if kind == "dense" else random.randint(0, 7, (8, 3))
    return model, x, random.uniform(-1, 1, (8, 1)).astype("float32")


def steps(model, x, y, count):
    trajectory = []
    for _ in range(count):
        model.train_on_batch(x, y)
        trajectory.append([w.tolist() for w in model.get_weights()])
    return trajectory


def train(make, kind, keras, result):
    """Five steps: (trajectory, "yes" or what is wrong with it)."""
    import numpy as np

    keras.backend.clear_session()
    model, x, y = model_of(kind, keras)
    first = [w.tolist() for w in model.get_weights()]
    model.compile(make(model), keras.losses.MeanSquaredError())
    called = set()

    def watch(frame, event, argument):
        if event == "call" and frame.f_code.co_name in HOOKS and not is_framework(frame.f_code.co_filename):
            called.add(frame.f_code.co_name)

    sys.setprofile(watch)
    try:
        trajectory = steps(model, x, y, 1)
    finally:
        sys.setprofile(None)
    trajectory += steps(model, x, y, 4)
    result["hooks"] = sorted(set(result["hooks"]) | called)
    values = np.concatenate([np.ravel(w) for w in trajectory[-1]])
    moved = max(np.max(np.abs(np.subtract(a, b))) for a, b in zip(first, trajectory[-1]))
    word = "yes" if np.all(np.isfinite(values)) and moved > 0 else "does not move" if moved == 0 else "not finite"
    return [first] + trajectory, word


def is_framework(file):
    parts = file.replace("\\", "/").split("/")
    return any(name in parts for name in ("tensorflow", "keras", "tf_keras", "compat_opt")) and "packages" not in parts


def restored(make, keras):
    """Three steps, save, load, two more: against five without a stop."""
    import numpy as np

    keras.backend.clear_session()
    model, x, y = model_of("embedding", keras)
    model.compile(make(model), keras.losses.MeanSquaredError())
    steps(model, x, y, 3)
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "model.keras")
        model.save(path)
        loaded = keras.models.load_model(path)
    apart = max(
        np.max(np.abs(np.subtract(a, b)))
        for a, b in zip(steps(model, x, y, 2)[-1], steps(loaded, x, y, 2)[-1])
    )
    return "yes" if apart < 1e-6 else "differs by %.1e" % apart


# Anywhere


def show(arguments):
    """The table, as Markdown, and its sums; of a class that is in several files the last one counts."""
    import numpy as np

    homes = [json.load(open(path)) for path in arguments.home]
    rows, at_home = {}, {name_of(row): row["home"] for row in classes()}
    for path in arguments.results:
        found = json.load(open(path))
        for name in set(at_home) & set(found["classes"]):
            result = found["classes"][name]
            there = [h for h in homes if h["tensorflow"].rpartition(".")[0] == at_home[name]]
            home = [h for h in there if name in h["classes"] and h["classes"][name]["trajectory"]]
            equal = compared(result, home[-1]["classes"][name], np) if home else "no reference"
            alone = home[-1]["tensorflow"] if home else "-"
            hooks = "yes" if result["hooks"] else "none"
            outcomes = [short(result[kind], arguments.whole) for kind in ("dense", "embedding", "restored")]
            rows[name, found["tensorflow"]] = (name, found["tensorflow"], *outcomes[:2], hooks, outcomes[2], equal, alone)
    print("| class | TF | trains dense | trains embedding | own hooks ran | restored | equals its own | own on |\n|" + "---|" * 8)
    for key in sorted(rows):
        print("| %s |" % " | ".join(rows[key]))
    for version in sorted({version for _, version in rows}):
        sums([row for row in rows.values() if row[1] == version], version)


def short(outcome, whole):
    """A cell: a message without its details, which --whole shows."""
    text = str(outcome)
    return text if whole or text[:7] in ("yes", "differs") or ": " not in text else text.split(": ")[0]


def sums(rows, version):
    """What the rows of one TensorFlow come to."""
    alone = [row for row in rows if row[7] != "-"]
    same = [row for row in alone if row[6].startswith("yes") and row[4] != "none"]
    print("\nTF %s: %d classes\n" % (version, len(rows)))
    for column, label in ((2, "train the dense model"), (3, "train the embedding model"), (5, "state restored")):
        print("- %s: %d" % (label, sum(row[column] == "yes" for row in rows)))
    print("- train by themselves on a TensorFlow or Keras that was tried: %d" % len(alone))
    print("- of these, own hooks run and the trajectory is equal: %d" % len(same))
    print("- of these, in every column: %d" % sum(row[2] == row[3] == row[5] == "yes" for row in same))


def compared(result, home, np):
    """The largest difference from the reference, relative to how far the variables moved."""
    worst = None
    for kind, reference in home["trajectory"].items():
        mine = result["trajectory"].get(kind)
        if mine is None:
            continue
        moved = max(np.max(np.abs(np.subtract(a, b))) for a, b in zip(reference[0], reference[-1])) or 1.0
        for step, other in zip(mine, reference):
            for a, b in zip(step, other):
                worst = max(worst or 0.0, float(np.max(np.abs(np.subtract(a, b)))) / moved)
    if worst is None:
        return "no trajectory"
    return "%s (%.1e)" % ("yes" if worst <= 1e-5 else "no", worst)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command")
    one = commands.add_parser("fetch")
    one.add_argument("packages")
    one.add_argument("--installer", default="%s -m pip install -q" % sys.executable)
    two = commands.add_parser("run")
    two.add_argument("packages")
    two.add_argument("out")
    two.add_argument("--plain", action="store_true", help="without the bridge")
    two.add_argument("--standalone", action="store_true", help="with the package keras in place of tf.keras")
    two.add_argument("--only", nargs="*")
    two.add_argument("--apart", action="store_true", help="each class in a process of its own")
    two.add_argument("--verbose", action="store_true")
    three = commands.add_parser("show")
    three.add_argument("results", nargs="+")
    three.add_argument("--home", nargs="*", default=[])
    three.add_argument("--whole", action="store_true", help="error messages whole")
    arguments = parser.parse_args()
    {"fetch": fetch, "run": run, "show": show}[arguments.command](arguments)


if __name__ == "__main__":
    main()
