"""Several machines in step: one worker of tf.distribute's MultiWorkerMirroredStrategy.

    TF_CONFIG='{"cluster": {"worker": [...]}, "task": {"type": "worker", "index": 0}}' \
        python multi_worker.py result.npz --checkpoints folder

Each worker runs this. `launch.py multi_worker` starts two on this machine.
"""

import argparse
import json
import os
import time

import task
from mirrored import run_replicas


def multi_worker_strategy(tf):
    """The strategy, under its name in this TensorFlow."""
    found = getattr(tf.distribute, "MultiWorkerMirroredStrategy", None)
    return (found or tf.distribute.experimental.MultiWorkerMirroredStrategy)()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("result")
    parser.add_argument("--target")
    parser.add_argument("--checkpoints", required=True, help="a folder; what is in it is restored")
    parser.add_argument("--hang-after", type=int, help="stop working after this many steps (to be killed)")
    options = parser.parse_args()
    index = json.loads(os.environ["TF_CONFIG"])["task"]["index"]

    import tensorflow as tf

    strategy = multi_worker_strategy(tf)
    with strategy.scope():
        model, optimizer = task.model(options.target), task.optimizer(options.target)
        optimizer.build(model.trainable_variables)
        checkpoint = tf.train.Checkpoint(model=model, optimizer=optimizer)
    # Every worker writes a checkpoint, and only that of the first one is kept: reading it is the same everywhere.
    folder = options.checkpoints if index == 0 else os.path.join(options.checkpoints, "of_worker_%d" % index)
    manager = tf.train.CheckpointManager(checkpoint, folder, max_to_keep=1)
    latest = tf.train.latest_checkpoint(options.checkpoints)
    if latest:
        checkpoint.restore(latest).assert_existing_objects_matched()
    first = int(optimizer.get_weights()[0])
    print("worker %d starts at step %d" % (index, first), flush=True)

    replica_step = task.train_step(model, optimizer)
    share = task.GLOBAL_BATCH // strategy.num_replicas_in_sync

    @tf.function
    def step(words, wanted):
        def in_replica():
            start = tf.distribute.get_replica_context().replica_id_in_sync_group * share
            replica_step(words[start : start + share], wanted[start : start + share])

        run_replicas(strategy)(in_replica)

    for number in range(first, task.STEPS):
        step(*map(tf.constant, task.batch(number)))
        manager.save()
        print("worker %d has made step %d" % (index, number + 1), flush=True)
        if options.hang_after == number + 1:
            time.sleep(3600)
    task.report(options.result, model, optimizer, replicas=strategy.num_replicas_in_sync, first=first)


if __name__ == "__main__":
    main()
