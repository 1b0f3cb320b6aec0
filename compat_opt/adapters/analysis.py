"""What a rule's update does, found by running it on symbols and on NumPy arrays."""

import numpy as np

from compat_opt.adapters.namespace import Namespace
from compat_opt.adapters.options import Options
from compat_opt.adapters.step import Item
from compat_opt.adapters.update import Lowering, Setting, update_all
from compat_opt.ops import Ops, Value
from compat_opt.ops.numpy_executor import NumpyExecutor
from compat_opt.ops.recording import ELEMENTWISE, RecordingExecutor


class Program:
    """The traced update of a rule for variables with certain slots.

    Attributes:
        elementwise: whether each element is updated by itself, whatever the shape.
        variable: the `Node` of the new value.
        slots: {name: Node} of the new slots.
        inputs: {"grad", "var", "slot <name>": Node}.
        why: one phrase that says why it is not elementwise, or "".
    """

    def __init__(self, elementwise, variable, slots, inputs, why):
        self.elementwise = elementwise
        self.variable = variable
        self.slots = slots
        self.inputs = inputs
        self.why = why


class _AnyName(Namespace):
    """hyper: a step scalar for every name that is asked for."""

    def __init__(self, rule, ops):
        super().__init__(type(rule).__name__, "hyper", {})
        self.__dict__["_ops"] = ops
        for name, declared in rule.hypers().items():
            if declared.static:
                self.add(name, getattr(rule, name))
            elif getattr(rule, name) is None:
                self.add(name, None)

    def __getattr__(self, name):
        if name not in self._values:
            raw = self._ops.executor.input("hyper " + name, "float64")
            self.add(name, Value(raw, self._ops, weak=True))
        return self._values[name]


def trace_update(rule, slot_dtypes, compute_dtype):
    """Trace ``rule.update``.

    Args:
        rule: an `UpdateRule`.
        slot_dtypes: {slot name: dtype} of the slots that the variable has.
        compute_dtype: the dtype of the update.

    Returns:
        A `Program`; a rule that can't be traced counts as not elementwise.
    """
    executor = RecordingExecutor()
    ops = Ops(executor, compute_dtype)
    inputs = {
        "grad": executor.input("grad", compute_dtype),
        "var": executor.input("var", compute_dtype),
    }
    for name, dtype in slot_dtypes.items():
        inputs["slot " + name] = executor.input("slot " + name, dtype)
    slots = Namespace(
        type(rule).__name__, "slots", {n: Value(inputs["slot " + n], ops) for n in slot_dtypes}
    )
    hyper = _AnyName(rule, ops)
    try:
        new_value, new_slots = rule.for_step().update(
            Value(inputs["grad"], ops), Value(inputs["var"], ops), slots, hyper, ops
        )
        variable = ops.unwrap(new_value, compute_dtype)
        traced = {name: ops.unwrap(value, slot_dtypes[name]) for name, value in new_slots.items()}
    except Exception as error:
        return Program(False, None, {}, inputs, "it can't be traced (%s)" % type(error).__name__)
    other = sorted(executor.kinds - set(ELEMENTWISE))
    why = ""
    if executor.asked_shape:
        why = "it looks at the variable's shape"
    elif other:
        why = "it uses %s operations" % ", ".join(other)
    return Program(not why, variable, traced, inputs, why)


def zero_gradient_is_neutral(rule, slot_names):
    """Whether a zero gradient leaves the variable and every slot exactly as they are.

    Probed in NumPy with random values of everything, hyperparameters included (they may be set
    while training), at the first and at a later step.

    Args:
        rule: an `UpdateRule` that is elementwise.
        slot_names: the slots that the variable has.
    """
    if rule.overrides("measure"):
        return False
    random = np.random.RandomState(0)
    scalars = {
        name: None if name == "weight_decay" else random.uniform(0.1, 0.9)
        for name, declared in rule.hypers().items()
        if not declared.static
    }
    shared = {name: random.uniform(0.1, 0.9) for name in rule.shared()}
    for iterations in (0, 7):
        slots = {name: random.uniform(0.5, 2.0, size=8) for name in slot_names}
        item = Item("probe", 0, random.normal(size=8), np.zeros(8), slots)
        ops = Ops(NumpyExecutor(), "float64")
        try:
            outcome = update_all([Setting(rule, scalars, shared)], Options(), ops, [item], iterations, Lowering())
        except Exception:
            return False
        if not np.array_equal(outcome.variables[0], item.variable):
            return False
        if any(not np.array_equal(new, slots[name]) for name, new in outcome.slots[0].items()):
            return False
    return True
