"""The guide's snippets run as they are written, and do what it says; its table has every transform."""

import re
from pathlib import Path

import numpy as np
import pytest

import compat_opt as co
from compat_opt import rules, transforms

GUIDE = (Path(__file__).resolve().parent.parent.parent / "docs" / "guide.md").read_text(encoding="utf-8")


def snippet(title):
    """The first Python block below a title."""
    return re.search(r"\n## %s.*?```python\n(.*?)```" % title, GUIDE, re.S).group(1)


def model_of(on):
    """Token ids to one number, by layers named as in the guide."""
    on.keras.backend.clear_session()  # TensorFlow 2.0 numbers the names of a second model's variables
    layers = on.keras.layers
    given = on.keras.Input((3,), dtype="int32")
    hidden = layers.Dense(4, name="hidden")(layers.Flatten()(layers.Embedding(7, 2, name="embedding")(given)))
    return on.keras.Model(given, layers.Dense(1, name="head")(layers.LayerNormalization(name="norm")(hidden)))


@pytest.mark.parametrize("title", ["Groups", "Transforms", "Schedules"])
def test_a_snippet_trains(on, title):
    names = {"co": co, "compat_opt": co, "model": model_of(on), "AdamW": co.compile_rule(rules.AdamW, on.target)}
    exec(compile(snippet(title), "guide.md", "exec"), names)
    optimizer, model = names["optimizer"], names["model"]
    if type(optimizer).target != on.target:
        pytest.skip("this snippet compiles for the default target")
    on.compile(model, optimizer)
    on.fit(model, np.arange(12).reshape(4, 3) % 7, np.ones((4, 1), "float32"))
    assert int(on.value(optimizer.iterations)) == 1
    if title == "Groups":
        counts = [len(group.variables) for group in optimizer.groups.values()]
        assert counts == [3, 1, 2], "hidden's bias, gamma and beta; the embedding; the head's kernel and bias"
        assert float(on.value(optimizer.groups["head"].learning_rate)) == pytest.approx(1e-3)


def test_the_table_of_transforms_is_complete():
    section = GUIDE.split("\n## Transforms\n")[1].split("\n## ")[0]
    cells = "".join(line.split("|")[1] for line in section.splitlines() if line.startswith("| `"))
    assert sorted(re.findall(r"`(\w+)`", cells)) == transforms.names()
