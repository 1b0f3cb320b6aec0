"""How a traced rule is recognised to be what a fused kernel computes.

A pattern is written as a rule's update is, over symbols. A rule matches if its own traced update
is the same graph, up to the order of sums and products; slots are tried in every assignment.
"""

import itertools

from compat_opt.ops import Ops, Value
from compat_opt.ops.recording import Node, RecordingExecutor

_COMMUTATIVE = ("add", "multiply", "maximum", "minimum")


class Kernel:
    """A fused kernel.

    Attributes:
        name: name of the raw op.
        slots: names of the pattern's slots.
        scalars: names of the pattern's step scalars.
        pattern: function (ops, grad, var, slots, scalars) -> (new_var, {slot: new}).
        call: function (var, {slot: variable}, grad, {scalar: tensor}) -> op.
    """

    def __init__(self, name, slots, scalars, pattern, call):
        self.name = name
        self.slots = slots
        self.scalars = scalars
        self.pattern = pattern
        self.call = call


class Match:
    """A kernel with the rule's slots and step scalars that play its parts."""

    def __init__(self, kernel, slots, scalars):
        self.name = kernel.name
        self.call = kernel.call
        self._slots = slots
        self._scalars = scalars

    def scalar(self, name, hyper, ops, dtype):
        """The value of a step scalar of the pattern, as the framework's tensor of `dtype`."""
        return ops.unwrap(evaluate(self._scalars[name], hyper, ops), dtype)

    def numbers(self, hyper, ops):
        """{step scalar of the pattern: Python float}, where scalars are numbers and not tensors."""
        return {name: float(evaluate(node, hyper, ops).raw) for name, node in self._scalars.items()}

    def roles(self, slots):
        """{slot of the pattern: what `slots` has for the rule's slot that plays it}."""
        return {part: slots[name] for part, name in self._slots.items()}

    def apply(self, variable, slots, hyper, gradient, ops):
        """The op that updates `variable` and its `slots` in place."""
        scalars = {name: self.scalar(name, hyper, ops, gradient.dtype) for name in self._scalars}
        return self.call(variable, self.roles(slots), gradient.raw, scalars)


def evaluate(node, hyper, ops):
    """The value of a step scalar's node, from the hyperparameters of the step."""
    if node.operation == "constant":
        return ops.scalar(node.arguments[0])
    if node.operation == "input":
        return getattr(hyper, node.arguments[0][len("hyper ") :])
    arguments = [evaluate(a, hyper, ops) if isinstance(a, Node) else a for a in node.arguments]
    if node.operation == "cast":
        return arguments[0]
    return getattr(ops, node.operation)(*arguments)


def match(program, kernels):
    """The `Match` of a traced program with one of `kernels`, or None."""
    slot_names = [name[len("slot ") :] for name in program.inputs if name.startswith("slot ")]
    for kernel in kernels:
        if len(kernel.slots) != len(slot_names) or set(program.slots) != set(slot_names):
            continue
        for assigned in itertools.permutations(slot_names):
            roles = dict(zip(kernel.slots, assigned))
            scalars = _unify_program(kernel, roles, program)
            if scalars is not None:
                return Match(kernel, roles, scalars)
    return None


def _unify_program(kernel, roles, program):
    """{scalar: Node} under which the kernel's pattern is the program, or None."""
    executor = RecordingExecutor()
    ops = Ops(executor, "float32")
    symbol = lambda name: Value(executor.input(name, "float32"), ops)  # noqa: E731
    scalars = {
        name: Value(executor.input("scalar " + name, "float64"), ops, weak=True) for name in kernel.scalars
    }
    new_var, new_slots = kernel.pattern(
        ops, symbol("grad"), symbol("var"), {part: symbol("slot " + name) for part, name in roles.items()}, scalars
    )
    bound = {}
    pairs = [(new_slots[part].raw, program.slots[name]) for part, name in roles.items()]
    for pattern, node in pairs + [(new_var.raw, program.variable)]:
        if not _unify(pattern, node, bound):
            return None
    return bound if set(bound) == set(kernel.scalars) else None


def _unify(pattern, node, bound):
    """Whether `node` has the form of `pattern`; `bound` collects what its scalars stand for."""
    if not isinstance(pattern, Node) or not isinstance(node, Node):
        return not isinstance(pattern, Node) and not isinstance(node, Node) and pattern == node
    if pattern.operation == "input" and pattern.arguments[0].startswith("scalar "):
        name = pattern.arguments[0][len("scalar ") :]
        if name in bound:
            return bound[name] is node
        if not _is_scalar(node):
            return False
        bound[name] = node
        return True
    if pattern.operation in ("input", "constant"):
        return node.operation == pattern.operation and node.arguments == pattern.arguments
    if pattern.operation != node.operation or len(pattern.arguments) != len(node.arguments):
        return False
    orders = [node.arguments]
    if pattern.operation in _COMMUTATIVE:
        orders.append(node.arguments[::-1])
    for arguments in orders:
        trial = dict(bound)
        if all(_unify(p, n, trial) for p, n in zip(pattern.arguments, arguments)):
            bound.update(trial)
            return True
    return False


def _is_scalar(node):
    """Whether a node is computed from hyperparameters and numbers alone."""
    if node.operation == "input":
        return node.arguments[0].startswith("hyper ")
    return all(_is_scalar(a) for a in node.arguments if isinstance(a, Node))


def adam(ops, grad, var, slots, s):
    m = s["beta_1"] * slots["m"] + (1 - s["beta_1"]) * grad
    v = s["beta_2"] * slots["v"] + (1 - s["beta_2"]) * ops.square(grad)
    return var - s["rate"] * m / (ops.sqrt(v) + s["epsilon"]), {"m": m, "v": v}


def momentum(ops, grad, var, slots, s):
    accumulator = s["momentum"] * slots["accumulator"] - s["rate"] * grad
    return var + accumulator, {"accumulator": accumulator}


def nesterov(ops, grad, var, slots, s):
    accumulator = s["momentum"] * slots["accumulator"] - s["rate"] * grad
    return var + s["momentum"] * accumulator - s["rate"] * grad, {"accumulator": accumulator}


def descent(ops, grad, var, slots, s):
    return var - s["rate"] * grad, {}


def lion(ops, grad, var, slots, s):
    direction = ops.sign(s["beta_1"] * slots["m"] + (1 - s["beta_1"]) * grad)
    return var - s["rate"] * direction, {"m": s["beta_2"] * slots["m"] + (1 - s["beta_2"]) * grad}


def adagrad(ops, grad, var, slots, s):
    accumulator = slots["accumulator"] + ops.square(grad)
    return var - s["rate"] * grad / (ops.sqrt(accumulator) + s["epsilon"]), {"accumulator": accumulator}


def adamax(ops, grad, var, slots, s):
    m = s["beta_1"] * slots["m"] + (1 - s["beta_1"]) * grad
    v = ops.maximum(s["beta_2"] * slots["v"], ops.abs(grad))
    return var - s["rate"] * m / (v + s["epsilon"]), {"m": m, "v": v}


def rmsprop(ops, grad, var, slots, s):
    square = s["rho"] * slots["square"] + (1 - s["rho"]) * ops.square(grad)
    step = s["momentum"] * slots["step"] + s["rate"] * grad / ops.sqrt(square + s["epsilon"])
    return var - step, {"square": square, "step": step}


def adadelta(ops, grad, var, slots, s):
    square = s["rho"] * slots["square"] + (1 - s["rho"]) * ops.square(grad)
    step = grad * ops.sqrt(slots["step"] + s["epsilon"]) / ops.sqrt(square + s["epsilon"])
    mean = s["rho"] * slots["step"] + (1 - s["rho"]) * ops.square(step)
    return var - s["rate"] * step, {"square": square, "step": mean}
