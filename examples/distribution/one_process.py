"""One process, one device: what the other scripts have to equal.

    python one_process.py result.npz
"""

import argparse

import task


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("result")
    parser.add_argument("--target")
    parser.add_argument("--steps", type=int, default=task.STEPS)
    parser.add_argument("--without-clipping", action="store_true")
    parser.add_argument("--global-clipping", action="store_true", help="global_clipnorm instead of clipnorm")
    options = parser.parse_args()

    import tensorflow as tf

    changes = {"clipnorm": None} if options.without_clipping else {}
    if options.global_clipping:
        changes = {"clipnorm": None, "global_clipnorm": 0.5}
    model, optimizer = task.model(options.target), task.optimizer(options.target, **changes)
    optimizer.build(model.trainable_variables)
    step = tf.function(task.train_step(model, optimizer))
    for number in range(options.steps):
        step(*map(tf.constant, task.batch(number)))
    task.report(options.result, model, optimizer)


if __name__ == "__main__":
    main()
