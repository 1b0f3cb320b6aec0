"""How updates are carried out on torch: by fused and foreach functions, joined, or as they are."""

import torch

from compat_opt.adapters import fused
from compat_opt.adapters.lowering import Choice, JoiningLowering, common_choice
from compat_opt.adapters.update import Outcome, step_scalars
from compat_opt.ops import Ops


def choose(core, index):
    """The `Choice` for the optimizer's variable number `index`."""
    common = common_choice(core, index)
    if common is not None and common.how != "joined":
        return common
    options = core.options
    if options.use_ema or options.gradient_accumulation_steps:
        return common or Choice("plain", "a moving average or an accumulator is kept")
    if core.layout.dtype(core.variables[index]) not in ("float32", "float64"):
        return common or Choice("plain", "there are fused kernels for float32 and float64 only")
    kernel = fused.match(core.program(index), KERNELS if common is None else SMALL_KERNELS)
    if kernel is None:
        return common or Choice("plain", "no fused kernel computes this rule")
    return Choice("fused", "the rule is what %s computes" % kernel.name, kernel)


class Batch:
    """Variables that one call of a kernel updates: those of one section, with the same decay and dtype.

    Attributes:
        kernel: the `fused.Match`.
        decays: whether weight decay applies to them.
        variables: their tensors.
        gradients: of each its gradient, or whatever stands for it.
    """

    def __init__(self, kernel, decays):
        self.kernel = kernel
        self.decays = decays
        self.variables = []
        self.gradients = []
        self._slots = {}

    def add(self, variable, slots, gradient):
        """One more variable, with {slot of the rule: tensor}."""
        self.variables.append(variable)
        self.gradients.append(gradient)
        for name, slot in self.kernel.roles(slots).items():
            self._slots.setdefault(name, []).append(slot)

    def run(self, hyper, gradients, ops):
        """Update the variables and slots in place."""
        if self.decays and hyper.get("weight_decay") is not None:
            rate = hyper.get("learning_rate", None)
            kept = 1.0 - float(hyper.weight_decay.raw) * (1.0 if rate is None else float(rate.raw))
            torch._foreach_mul_(self.variables, kept)
        self.kernel.call(self.variables, self._slots, gradients, self.kernel.numbers(hyper, ops))


class TorchLowering(JoiningLowering):
    """Carries out the choices for the items of one call.

    Args:
        executor: the torch executor.
        items: the items in the order in which they are updated.
        choices: a `Choice` for each.
    """

    def __init__(self, executor, items, choices):
        super().__init__(executor, choices)
        self.items = items
        self._waiting = {}

    def in_place(self, position, hyper, gradient):
        """True where a kernel was chosen; `finish` runs each once, on all of its variables."""
        choice, item = self.choices[position], self.items[position]
        if choice.how != "fused":
            return None
        key = (choice.kernel.call, item.section, item.decays, gradient.raw.dtype)
        if key not in self._waiting:
            self._waiting[key] = hyper, Batch(choice.kernel, item.decays)
        self._waiting[key][1].add(item.variable, item.slots, gradient.raw)
        return True

    def finish(self):
        """Run the kernels."""
        for hyper, batch in self._waiting.values():
            batch.run(hyper, batch.gradients, Ops(self.executor))


class KernelStep:
    """A step in which kernels update every variable: what stays the same from one to the next.

    To read hundreds of keras.Variables takes longer than to update them, so that their tensors are kept.

    Args:
        core: the optimizer's `Core`.
        indexes: numbers of the variables that have a gradient.
    """

    def __init__(self, core, indexes):
        read = core.layout.read
        self._sources, self._pointers, self._batches = [], [], {}
        for position, index in enumerate(indexes):
            variable, slots = core.variables[index], core.slots[index]
            tensor, own = read(variable), {name: read(slot) for name, slot in slots.items()}
            kernel, home, decays = core.choice(index, choose).kernel, core.homes[index], core.decays[index]
            key = (kernel.call, home, decays, tensor.dtype)
            if key not in self._batches:
                self._batches[key] = Batch(kernel, decays)
            self._batches[key].add(tensor, own, position)
            self._sources += [variable] + list(slots.values())
            self._pointers += [each.data_ptr() for each in [tensor] + list(own.values())]

    @staticmethod
    def is_possible(core, indexes):
        """Whether kernels update all of these variables, with their gradients as they come."""
        options = core.options
        changes = (options.clipnorm, options.clipvalue, options.global_clipnorm, options.loss_scale_factor)
        if changes != (None, None, None, None) or core.micro_step is not None:
            return False
        if any(section.rule.overrides("measure") for section in core.sections):
            return False
        return all(core.choice(index, choose).how == "fused" for index in indexes)

    def is_current(self):
        """Whether the variables still have these tensors: a model can be moved to another device."""
        return [source._value.data_ptr() for source in self._sources] == self._pointers

    def run(self, settings, ops, iterations, gradients):
        """Make the step; the `Outcome` has what is left to assign."""
        outcome, hypers = Outcome(), {}
        step = ops.scalar(iterations) + 1.0
        for (_, home, _, dtype), batch in self._batches.items():
            if home not in hypers:
                hypers[home] = step_scalars(settings[home], ops, step, outcome)
            own = [gradients[position] for position in batch.gradients]
            batch.run(hypers[home], [g if g.dtype == dtype else g.to(dtype) for g in own], ops)
        outcome.iterations = iterations + 1
        return outcome


def _descent(var, slots, grad, s):
    torch._foreach_add_(var, grad, alpha=-s["rate"])


def _accumulate(slots, grad, s):
    torch._foreach_mul_(slots["accumulator"], s["momentum"])
    torch._foreach_add_(slots["accumulator"], grad, alpha=-s["rate"])


def _momentum(var, slots, grad, s):
    _accumulate(slots, grad, s)
    torch._foreach_add_(var, slots["accumulator"])


def _nesterov(var, slots, grad, s):
    _accumulate(slots, grad, s)
    torch._foreach_add_(var, slots["accumulator"], alpha=s["momentum"])
    torch._foreach_add_(var, grad, alpha=-s["rate"])


def _small_adam(var, slots, grad, s):
    torch._foreach_mul_(slots["m"], s["beta_1"])
    torch._foreach_add_(slots["m"], grad, alpha=1 - s["beta_1"])
    torch._foreach_mul_(slots["v"], s["beta_2"])
    torch._foreach_addcmul_(slots["v"], grad, grad, 1 - s["beta_2"])
    # One root of all: each call of its own would start threads.
    joined = torch.cat([slot.reshape(-1) for slot in slots["v"]]).sqrt_().add_(s["epsilon"])
    parts = joined.split([slot.numel() for slot in slots["v"]])
    divisor = [part.view(slot.shape) for part, slot in zip(parts, slots["v"])]
    torch._foreach_addcdiv_(var, slots["m"], divisor, -s["rate"])


def _adam(var, slots, grad, s):
    # The kernel divides by 1 - beta^step; at a step as large as this the powers are 0, and the
    # rule's own corrected rate is given.
    step = torch.tensor(1e9, dtype=torch.float32, device=var[0].device)
    torch._fused_adam_(
        var, grad, slots["m"], slots["v"], [], [step] * len(var),
        lr=s["rate"], beta1=s["beta_1"], beta2=s["beta_2"], weight_decay=0.0,
        eps=s["epsilon"], amsgrad=False, maximize=False, grad_scale=None, found_inf=None,
    )  # fmt: skip


def _adagrad(var, slots, grad, s):
    torch._foreach_addcmul_(slots["accumulator"], grad, grad)
    divisor = torch._foreach_sqrt(slots["accumulator"])
    torch._foreach_add_(divisor, s["epsilon"])
    torch._foreach_addcdiv_(var, grad, divisor, -s["rate"])


def _lion(var, slots, grad, s):
    direction = torch._foreach_mul(slots["m"], s["beta_1"])
    torch._foreach_add_(direction, grad, alpha=1 - s["beta_1"])
    torch._foreach_sign_(direction)
    torch._foreach_add_(var, direction, alpha=-s["rate"])
    torch._foreach_mul_(slots["m"], s["beta_2"])
    torch._foreach_add_(slots["m"], grad, alpha=1 - s["beta_2"])


_ADAM = (("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), fused.adam)

_FOREACH = (
    fused.Kernel("_foreach_add_", (), ("rate",), fused.descent, _descent),
    fused.Kernel("_foreach_add_", ("accumulator",), ("momentum", "rate"), fused.momentum, _momentum),
    fused.Kernel("_foreach_add_", ("accumulator",), ("momentum", "rate"), fused.nesterov, _nesterov),
    fused.Kernel("_foreach_addcdiv_", ("accumulator",), ("rate", "epsilon"), fused.adagrad, _adagrad),
    fused.Kernel("_foreach_sign_", ("m",), ("beta_1", "beta_2", "rate"), fused.lion, _lion),
)


def _present(kernels):
    """Those that this torch can run: each is named after the function it needs."""
    return tuple(kernel for kernel in kernels if hasattr(torch, kernel.name))


#: For large variables.
KERNELS = _present((fused.Kernel("_fused_adam_", *_ADAM, _adam),) + _FOREACH)

#: For small ones, where threads cost more than they save.
SMALL_KERNELS = _present((fused.Kernel("_foreach_addcdiv_", *_ADAM, _small_adam),) + _FOREACH)
