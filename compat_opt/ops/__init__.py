"""The operations that a rule may use: one closed table, one meaning on every executor.

``table`` says which operations there are; ``Ops`` gives them to a rule as ``ops.<name>``;
``numpy_executor``, ``tensorflow_executor``, ``jax_executor`` and ``torch_executor`` carry them out. Names and
arguments follow the Python array API standard (2023.12), https://data-apis.org/array-api/.
"""

from compat_opt.ops.dispatch import Ops
from compat_opt.ops.table import OPERATIONS, describe
from compat_opt.ops.value import Value

__all__ = ["OPERATIONS", "Ops", "Value", "describe", "numpy_ops"]


def numpy_ops():
    """The operations on NumPy arrays, for trying out a rule's update() by hand."""
    from compat_opt.ops.numpy_executor import NumpyExecutor

    return Ops(NumpyExecutor())
