"""The workloads: lists of variable shapes, gradients, and how they are stepped."""

import numpy as np


def resnet_50():
    """Shapes of ResNet-50's trainable variables (He et al., 2016): 161 of them, 25.6M elements."""
    shapes = [(7, 7, 3, 64), (64,), (64,)]
    channels = 64
    for width, blocks in ((64, 3), (128, 4), (256, 6), (512, 3)):
        for block in range(blocks):
            shapes += [(1, 1, channels, width), (3, 3, width, width), (1, 1, width, 4 * width)]
            shapes += [(width,)] * 4 + [(4 * width,)] * 2
            if block == 0:
                shapes += [(1, 1, channels, 4 * width), (4 * width,), (4 * width,)]
            channels = 4 * width
    return shapes + [(2048, 1000), (1000,)]


def bert_base():
    """Shapes of BERT-base's trainable variables (Devlin et al., 2019): 199 of them, 109M elements."""
    shapes = [(30522, 768), (512, 768), (2, 768), (768,), (768,)]
    for _ in range(12):
        shapes += [(768, 768), (768,)] * 4 + [(768,), (768,)]
        shapes += [(768, 3072), (3072,), (3072, 768), (768,), (768,), (768,)]
    return shapes + [(768, 768), (768,)]


#: {name: (rule, hypers, shapes, mode)}; mode is "graph", "eager", or "sparse exact" or "sparse lazy".
STEPS = {
    "Adam, 300 x 1k, graph": ("Adam", {}, [(1000,)] * 300, "graph"),
    "Adam, 300 x 1k, eager": ("Adam", {}, [(1000,)] * 300, "eager"),
    # tf-keras-team/keras#19307, tensorflow/tensorflow#59438: many small variables are slow when eager.
    "Adam, 100 x 4, eager": ("Adam", {}, [(4,)] * 100, "eager"),
    "Adam, 10 x 1M": ("Adam", {}, [(1000, 1000)] * 10, "graph"),
    "Adam, 1 x 8M": ("Adam", {}, [(8000, 1000)], "graph"),
    "AdamW, 10 x 1M": ("AdamW", {}, [(1000, 1000)] * 10, "graph"),
    "Lion, 10 x 1M": ("Lion", {}, [(1000, 1000)] * 10, "graph"),
    "momentum SGD, 10 x 1M": ("SGD", {"momentum": 0.9}, [(1000, 1000)] * 10, "graph"),
    "Adam, ResNet-50": ("Adam", {}, resnet_50(), "graph"),
    "Adam, BERT-base": ("Adam", {}, bert_base(), "graph"),
    "sparse SGD, 1M x 16": ("SGD", {}, [(1000000, 16)], "sparse exact"),
    "sparse Adagrad, 1M x 16": ("Adagrad", {}, [(1000000, 16)], "sparse exact"),
    "sparse momentum SGD, lazy, 1M x 16": ("SGD", {"momentum": 0.9}, [(1000000, 16)], "sparse lazy"),
    "sparse Adam, lazy, 1M x 16": ("Adam", {}, [(1000000, 16)], "sparse lazy"),
    "sparse Adam, exact, 1M x 16": ("Adam", {}, [(1000000, 16)], "sparse exact"),
}

#: The step time of a table of 400k rows over that of one of 2k rows (tf-keras#45, keras#18279, keras#19992).
GROWTH = {
    "growth, sparse SGD": ("SGD", {}, "sparse exact"),
    "growth, sparse Adagrad": ("Adagrad", {}, "sparse exact"),
    "growth, sparse momentum SGD, lazy": ("SGD", {"momentum": 0.9}, "sparse lazy"),
    "growth, sparse Adam, lazy": ("Adam", {}, "sparse lazy"),
}

#: Tables between which the growth is measured.
TABLES = ((2000, 16), (400000, 16))

#: A small classifier trained with fit, an epoch at a time.
FIT = {"fit, Adam, 5 layers": ("Adam", {}), "fit, momentum SGD, 5 layers": ("SGD", {"momentum": 0.9})}

#: Peak memory of a process that makes five steps.
MEMORY = {
    "memory, Adam, 10 x 1M": ("Adam", {}, [(1000, 1000)] * 10, "graph"),
    "memory, Lion, 10 x 1M": ("Lion", {}, [(1000, 1000)] * 10, "graph"),
    "memory, Adam, 300 x 1k": ("Adam", {}, [(1000,)] * 300, "graph"),
    "memory, sparse Adam, exact, 1M x 16": ("Adam", {}, [(1000000, 16)], "sparse exact"),
}

#: Rows that a sparse gradient touches.
TOUCHED = 1024


def gradients(shapes, mode, seed=0):
    """NumPy gradients: arrays, or (rows, values) where sparse."""
    random = np.random.RandomState(seed)
    if mode.startswith("sparse"):
        return [
            (random.choice(shape[0], TOUCHED), random.normal(size=(TOUCHED,) + shape[1:]).astype("float32"))
            for shape in shapes
        ]
    return [random.normal(size=shape).astype("float32") for shape in shapes]
