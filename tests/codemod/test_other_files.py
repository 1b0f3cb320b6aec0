"""Functions and numbers that the class's file imports from its own package are followed; nothing is imported or run."""

import numpy as np
import pytest

from compat_opt import run_reference
from compat_opt.codemod.migrate import migrate_class
from compat_opt.codemod.module import Module
from compat_opt.codemod.rewrite import migrate_text
from compat_opt.testing.compare import assert_close

SOURCE = '''
import tensorflow as tf
from .maths import softened, SHRINK
from %(absolute)s import pulled, checked


class Softened(tf.keras.optimizers.Optimizer):
    def __init__(self, learning_rate=0.1, names=None, name="Softened", **kwargs):
        super().__init__(name, **kwargs)
        self._set_hyper("learning_rate", learning_rate)
        self.names = names

    def _resource_apply_dense(self, grad, var):
        if checked(self.names):
            return tf.no_op()
        step = softened(grad, by=SHRINK)
        return var.assign_sub(pulled(self, step, var) * self._decayed_lr(var.dtype))
'''

FILES = {
    "pack/__init__.py": "raise SystemExit('this must not be imported')\n",
    "pack/maths.py": "import tensorflow as tf\nfrom .numbers import SHRINK\n\n\ndef softened(x, by=1.0):\n    return tf.tanh(x) * by\n",
    "pack/numbers.py": "SHRINK = 0.25\n",
    "pack/deep/__init__.py": "",
    "pack/deep/more.py": "def checked(names):\n    if names:\n        return [n for n in names]\n    return False\n\n\n"
    "def pulled(self, x, var):\n    return x + 2.0 * var\n",
}


@pytest.fixture
def package(tmp_path):
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


@pytest.mark.parametrize("absolute", ["pack.deep.more", ".deep.more"])
def test_functions_of_other_files_are_followed(package, absolute):
    text = SOURCE % {"absolute": absolute}
    result = migrate_class(Module(text, str(package / "pack" / "optimizers.py")), "Softened")
    assert result.text is not None, result.reason
    names = {}
    exec("from compat_opt import Hyper, UpdateRule\n" + result.text, names)
    var, grads = np.array([0.5, -2.0]), np.array([[1.0, 0.3], [-0.2, 4.0]])
    found = run_reference(names["Softened"], [var], [[g] for g in grads])
    expected = []
    for g in grads:
        var = var - 0.1 * (0.25 * np.tanh(g) + 2.0 * var)
        expected.append(var)
    assert_close([step[0] for step in found], expected, 1e-14, what="Softened")


def test_without_a_path_they_are_not_known():
    result = migrate_class(Module(SOURCE % {"absolute": "pack.deep.more"}), "Softened")
    assert result.outcome == "refused" and "comes from a module that is not known" in result.reason


def test_a_function_is_not_taken_for_a_frameworks_by_its_name(package):
    text = SOURCE.replace("from .maths import softened", "from elsewhere import sqrt as softened") % {"absolute": ".deep.more"}
    result = migrate_class(Module(text, str(package / "pack" / "optimizers.py")), "Softened")
    assert result.outcome == "refused" and "the function sqrt comes from a module that is not known" in result.reason


def test_a_refusal_in_another_file_names_the_line_of_the_call(package):
    (package / "pack" / "maths.py").write_text("SHRINK = 1.0\n\n\ndef softened(x, by):\n    return magic(x)\n")
    from compat_opt.codemod.module import read_module

    read_module.cache_clear()
    module = Module(SOURCE % {"absolute": ".deep.more"}, str(package / "pack" / "optimizers.py"))
    result = migrate_class(module, "Softened")
    assert result.outcome == "refused" and "magic" in result.reason
    assert "softened(grad, by=SHRINK)" in module.lines[result.line - 1]


def test_a_whole_file_drops_imports_that_are_followed(package):
    text = SOURCE % {"absolute": ".deep.more"}
    once = migrate_text(text, path=str(package / "pack" / "optimizers.py")).text
    assert "from .maths" not in once and "deep" not in once
