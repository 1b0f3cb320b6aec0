"""Optimizer state of the size of ResNet-50's: moving it, beside TensorFlow's own restore of the same checkpoint.

    python benchmarks/state.py [--target tf_keras.legacy:optimizer_v2]

Each way runs in a process of its own, three times, one after the other in turn; printed are the median of the seconds,
and the peak of memory over what the process had before. The checkpoint is an Adam's with 25.6 million parameters in 161
variables: 307 MB with the weights.
"""

import argparse
import json
import os
import resource
import statistics
import subprocess
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

WAYS = ("TensorFlow's restore", "read_file", "read_file and write", "write_file", "save", "load")


def shapes():
    """Shapes of ResNet-50's weights: 53 convolutions, each with a scale and an offset, and a dense layer."""
    found, channels = [(7, 7, 3, 64), (64,), (64,)], 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            parts = [(1, 1, channels, width), (3, 3, width, width), (1, 1, width, 4 * width)]
            parts += [(1, 1, channels, 4 * width)] if block == 0 else []
            for shape in parts:
                found += [shape, shape[-1:], shape[-1:]]
            channels = 4 * width
    return found + [(2048, 1000), (1000,)]


def make(target, folder=None):
    """(variables, optimizer) of the target's own Adam, after a step."""
    import tensorflow as tf

    sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "tests", "state"))
    from actors import Actor

    import compat_opt as co

    actor = Actor(next(t for t in co.targets() if t.key == target), "Adam", True)
    variables = [actor._variable(tf.zeros(shape), "layer%d/w" % i) for i, shape in enumerate(shapes())]
    optimizer = actor.make(learning_rate=0.001)
    optimizer.apply_gradients([(tf.ones(v.shape), v) for v in variables])
    return variables, optimizer


def checkpoint_of(variables, optimizer):
    """The checkpoint of both."""
    import tensorflow as tf

    return tf.train.Checkpoint(optimizer=optimizer, variables=[getattr(v, "value", v) if not hasattr(v, "assign_add") else v for v in variables])


def measure(way, target, folder):
    """Run one way; {"seconds", "megabytes"}."""
    source, record = os.path.join(folder, "resnet"), os.path.join(folder, "resnet.state")
    from compat_opt import state
    from compat_opt.state.files.writing import write_file

    live = way in ("TensorFlow's restore", "read_file and write")
    variables, optimizer = make(target) if live else (None, None)
    loaded = state.read_file(source) if way in ("write_file", "save") else None
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    started = time.perf_counter()
    if way == "TensorFlow's restore":
        checkpoint_of(variables, optimizer).read(source).assert_existing_objects_matched()
    elif way == "read_file":
        state.read_file(source)
    elif way == "read_file and write":
        state.write(optimizer, state.read_file(source), variables)
    elif way == "write_file":
        write_file(loaded, os.path.join(folder, "out"), source)
    elif way == "save":
        state.save(loaded, record)
    else:
        state.load(record)
    seconds = time.perf_counter() - started
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {"seconds": seconds, "megabytes": (after - before) / 1000}


def main():
    """Make the checkpoint, run every way, print a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--target", default="tf_keras.legacy:optimizer_v2")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--measure", nargs=2, metavar=("WAY", "FOLDER"), help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.measure:
        print(json.dumps(measure(options.measure[0], options.target, options.measure[1])))
        return
    with tempfile.TemporaryDirectory() as folder:
        if not os.fork():
            checkpoint_of(*make(options.target)).write(os.path.join(folder, "resnet"))
            os._exit(0)
        os.wait()
        results = {way: [] for way in WAYS}
        for _ in range(options.rounds):
            for way in WAYS:
                command = [sys.executable, __file__, "--target", options.target, "--measure", way, folder]
                output = subprocess.run(command, stdout=subprocess.PIPE, check=True).stdout
                results[way].append(json.loads(output.decode().splitlines()[-1]))
                print("%s: %s" % (way, results[way][-1]), file=sys.stderr, flush=True)
        print("%-22s %8s %14s" % ("", "seconds", "peak MB above"))
        for way, runs in results.items():
            seconds, memory = (statistics.median(run[key] for run in runs) for key in ("seconds", "megabytes"))
            print("%-22s %8.2f %14.0f" % (way, seconds, memory))


if __name__ == "__main__":
    main()
