"""One machine, several devices: tf.distribute.MirroredStrategy, here on two logical CPUs.

    python mirrored.py result.npz
"""

import argparse

import task


def split_cpu(tf, parts):
    """Make `parts` logical devices of the CPU; on a machine with GPUs this is not needed."""
    config = getattr(tf.config, "LogicalDeviceConfiguration", None)
    if config is None:
        config = tf.config.experimental.VirtualDeviceConfiguration
        cpu = tf.config.experimental.list_physical_devices("CPU")[0]
        tf.config.experimental.set_virtual_device_configuration(cpu, [config()] * parts)
    else:
        tf.config.set_logical_device_configuration(tf.config.list_physical_devices("CPU")[0], [config()] * parts)


def run_replicas(strategy):
    """strategy.run, under its first name in TensorFlow 2.0 and 2.1."""
    return getattr(strategy, "run", None) or strategy.experimental_run_v2


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("result")
    parser.add_argument("--target")
    options = parser.parse_args()

    import tensorflow as tf

    split_cpu(tf, 2)
    strategy = tf.distribute.MirroredStrategy(["/cpu:0", "/cpu:1"])
    with strategy.scope():
        model, optimizer = task.model(options.target), task.optimizer(options.target)
        optimizer.build(model.trainable_variables)
    replica_step = task.train_step(model, optimizer)
    share = task.GLOBAL_BATCH // strategy.num_replicas_in_sync

    @tf.function
    def step(words, wanted):
        def in_replica():
            start = tf.distribute.get_replica_context().replica_id_in_sync_group * share
            replica_step(words[start : start + share], wanted[start : start + share])

        run_replicas(strategy)(in_replica)

    for number in range(task.STEPS):
        step(*map(tf.constant, task.batch(number)))
    task.report(options.result, model, optimizer, replicas=strategy.num_replicas_in_sync)


if __name__ == "__main__":
    main()
