"""Variables on parameter servers, steps on workers: the coordinator.

    TF_CONFIG='{"cluster": {"chief": [...], "ps": [...], "worker": [...]}, "task": {"type": "chief", "index": 0}}' \
        python parameter_server.py result.npz

`server.py` is what runs on the workers and servers; `launch.py parameter_server` starts all.
"""

import argparse
import sys

import task


def parameter_server_strategy(tf, resolver, shards):
    """The strategy; with `shards`, larger variables are cut along their first axis."""
    found = getattr(tf.distribute, "ParameterServerStrategy", None)
    found = found or tf.distribute.experimental.ParameterServerStrategy
    if not shards:
        return found(resolver)
    partitioners = tf.distribute.experimental.partitioners
    return found(resolver, variable_partitioner=partitioners.FixedShardsPartitioner(shards))


def coordinator_for(tf, strategy):
    """The ClusterCoordinator, under its name in this TensorFlow."""
    found = getattr(tf.distribute, "coordinator", None) or tf.distribute.experimental.coordinator
    return found.ClusterCoordinator(strategy)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("result")
    parser.add_argument("--target")
    parser.add_argument("--shards", type=int, default=0)
    parser.add_argument("--steps", type=int, default=task.STEPS)
    parser.add_argument("--at-once", action="store_true", help="schedule all steps, then wait; else one by one")
    parser.add_argument("--checkpoints", help="a folder: restored at the start, written at the end")
    parser.add_argument("--wait-after", type=int, help="after this many steps, wait for a line on stdin")
    options = parser.parse_args()

    import tensorflow as tf

    strategy = parameter_server_strategy(tf, tf.distribute.cluster_resolver.TFConfigClusterResolver(), options.shards)
    coordinator = coordinator_for(tf, strategy)
    # A piece of a variable has a norm of its own; the norm of all gradients is the same in any number of pieces.
    changes = {"clipnorm": None, "global_clipnorm": 0.5} if options.shards else {}
    with strategy.scope():
        model, optimizer = task.model(options.target), task.optimizer(options.target, **changes)
        optimizer.build(model.trainable_variables)
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    latest = options.checkpoints and tf.train.latest_checkpoint(options.checkpoints)
    if latest:
        checkpoint.restore(latest).assert_existing_objects_matched()
    first = int(optimizer.get_weights()[0])
    print("the coordinator starts at step %d" % first, flush=True)
    replica_step = task.train_step(model, optimizer)

    @tf.function
    def step(words, wanted):
        strategy.run(replica_step, args=(words, wanted))

    for number in range(first, options.steps):
        coordinator.schedule(step, args=tuple(map(tf.constant, task.batch(number))))
        if options.at_once:
            continue
        coordinator.join()
        print("step %d is made" % (number + 1), flush=True)
        if options.wait_after == number + 1:
            sys.stdin.readline()
    coordinator.join()
    if options.checkpoints:
        tf.train.CheckpointManager(checkpoint, options.checkpoints, max_to_keep=1).save()
    task.report(options.result, model, optimizer, first=first)
    print("done", flush=True)


if __name__ == "__main__":
    main()
