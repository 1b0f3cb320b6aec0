"""TensorFlow's fused training kernels, and how a traced rule is recognised to be one of them.

A pattern is written as a rule's update is, over symbols. A rule matches if its own traced update
is the same graph, up to the order of sums and products; slots are tried in every assignment.
"""

import itertools

import tensorflow as tf

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
        self._kernel = kernel
        self._slots = slots
        self._scalars = scalars

    def apply(self, variable, slots, hyper, gradient, ops):
        """The op that updates `variable` and its `slots` in place."""
        dtype = gradient.dtype
        scalars = {
            name: ops.unwrap(evaluate(node, hyper, ops), dtype) for name, node in self._scalars.items()
        }
        own = {part: slots[name] for part, name in self._slots.items()}
        return self._kernel.call(variable, own, gradient.raw, scalars)


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


def match(program):
    """The `Match` of a traced program, or None."""
    slot_names = [name[len("slot ") :] for name in program.inputs if name.startswith("slot ")]
    for kernel in KERNELS:
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


def _adam(ops, grad, var, slots, s):
    m = s["beta_1"] * slots["m"] + (1 - s["beta_1"]) * grad
    v = s["beta_2"] * slots["v"] + (1 - s["beta_2"]) * ops.square(grad)
    return var - s["rate"] * m / (ops.sqrt(v) + s["epsilon"]), {"m": m, "v": v}


def _apply_adam(var, slots, grad, s):
    # The kernel's rate is lr * sqrt(1 - beta2_power) / (1 - beta1_power): both powers are 0 here.
    zero = tf.zeros_like(s["rate"])
    return tf.raw_ops.ResourceApplyAdam(
        var=var.handle, m=slots["m"].handle, v=slots["v"].handle, beta1_power=zero, beta2_power=zero,
        lr=s["rate"], beta1=s["beta_1"], beta2=s["beta_2"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _momentum(ops, grad, var, slots, s):
    accumulator = s["momentum"] * slots["accumulator"] - s["rate"] * grad
    return var + accumulator, {"accumulator": accumulator}


def _nesterov(ops, grad, var, slots, s):
    accumulator = s["momentum"] * slots["accumulator"] - s["rate"] * grad
    return var + s["momentum"] * accumulator - s["rate"] * grad, {"accumulator": accumulator}


def _apply_momentum(nesterov):
    def call(var, slots, grad, s):
        return tf.raw_ops.ResourceApplyKerasMomentum(
            var=var.handle, accum=slots["accumulator"].handle, lr=s["rate"], grad=grad,
            momentum=s["momentum"], use_nesterov=nesterov,
        )  # fmt: skip

    return call


def _descent(ops, grad, var, slots, s):
    return var - s["rate"] * grad, {}


def _apply_descent(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyGradientDescent(var=var.handle, alpha=s["rate"], delta=grad)


def _adagrad(ops, grad, var, slots, s):
    accumulator = slots["accumulator"] + ops.square(grad)
    return var - s["rate"] * grad / (ops.sqrt(accumulator) + s["epsilon"]), {"accumulator": accumulator}


def _apply_adagrad(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyAdagradV2(
        var=var.handle, accum=slots["accumulator"].handle, lr=s["rate"], epsilon=s["epsilon"], grad=grad
    )


def _adamax(ops, grad, var, slots, s):
    m = s["beta_1"] * slots["m"] + (1 - s["beta_1"]) * grad
    v = ops.maximum(s["beta_2"] * slots["v"], ops.abs(grad))
    return var - s["rate"] * m / (v + s["epsilon"]), {"m": m, "v": v}


def _apply_adamax(var, slots, grad, s):
    # The kernel's rate is lr / (1 - beta1_power).
    return tf.raw_ops.ResourceApplyAdaMax(
        var=var.handle, m=slots["m"].handle, v=slots["v"].handle, beta1_power=tf.zeros_like(s["rate"]),
        lr=s["rate"], beta1=s["beta_1"], beta2=s["beta_2"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _rmsprop(ops, grad, var, slots, s):
    square = s["rho"] * slots["square"] + (1 - s["rho"]) * ops.square(grad)
    step = s["momentum"] * slots["step"] + s["rate"] * grad / ops.sqrt(square + s["epsilon"])
    return var - step, {"square": square, "step": step}


def _apply_rmsprop(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyRMSProp(
        var=var.handle, ms=slots["square"].handle, mom=slots["step"].handle, lr=s["rate"], rho=s["rho"],
        momentum=s["momentum"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _centered(ops, grad, var, slots, s):
    square = s["rho"] * slots["square"] + (1 - s["rho"]) * ops.square(grad)
    mean = s["rho"] * slots["mean"] + (1 - s["rho"]) * grad
    root = ops.sqrt(square - ops.square(mean) + s["epsilon"])
    step = s["momentum"] * slots["step"] + s["rate"] * grad / root
    return var - step, {"square": square, "mean": mean, "step": step}


def _apply_centered(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyCenteredRMSProp(
        var=var.handle, mg=slots["mean"].handle, ms=slots["square"].handle, mom=slots["step"].handle,
        lr=s["rate"], rho=s["rho"], momentum=s["momentum"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


def _adadelta(ops, grad, var, slots, s):
    square = s["rho"] * slots["square"] + (1 - s["rho"]) * ops.square(grad)
    step = grad * ops.sqrt(slots["step"] + s["epsilon"]) / ops.sqrt(square + s["epsilon"])
    mean = s["rho"] * slots["step"] + (1 - s["rho"]) * ops.square(step)
    return var - s["rate"] * step, {"square": square, "step": mean}


def _apply_adadelta(var, slots, grad, s):
    return tf.raw_ops.ResourceApplyAdadelta(
        var=var.handle, accum=slots["square"].handle, accum_update=slots["step"].handle, lr=s["rate"],
        rho=s["rho"], epsilon=s["epsilon"], grad=grad,
    )  # fmt: skip


#: The kernels that are tried, in this order.
KERNELS = (
    Kernel("ResourceApplyGradientDescent", (), ("rate",), _descent, _apply_descent),
    Kernel("ResourceApplyKerasMomentum", ("accumulator",), ("momentum", "rate"), _momentum, _apply_momentum(False)),
    Kernel("ResourceApplyKerasMomentum", ("accumulator",), ("momentum", "rate"), _nesterov, _apply_momentum(True)),
    Kernel("ResourceApplyAdam", ("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), _adam, _apply_adam),
    Kernel("ResourceApplyAdagradV2", ("accumulator",), ("rate", "epsilon"), _adagrad, _apply_adagrad),
    Kernel("ResourceApplyAdaMax", ("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), _adamax, _apply_adamax),
    Kernel("ResourceApplyRMSProp", ("square", "step"), ("rho", "momentum", "rate", "epsilon"), _rmsprop, _apply_rmsprop),
    Kernel(
        "ResourceApplyCenteredRMSProp",
        ("square", "mean", "step"),
        ("rho", "momentum", "rate", "epsilon"),
        _centered,
        _apply_centered,
    ),
    Kernel("ResourceApplyAdadelta", ("square", "step"), ("rho", "rate", "epsilon"), _adadelta, _apply_adadelta),
)
