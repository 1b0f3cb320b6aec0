"""How updates are carried out on torch: by fused and foreach functions, joined, or as they are."""

import torch

from compat_opt.adapters import fused
from compat_opt.adapters.lowering import Choice, JoiningLowering, common_choice
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
        self._numbers = {}
        self._waiting = {}

    def in_place(self, position, hyper, gradient):
        """True where a kernel was chosen; `finish` runs each once, on all of its variables."""
        choice, item = self.choices[position], self.items[position]
        if choice.how != "fused":
            return None
        known = (choice.kernel.call, id(hyper))  # one for each section: its variables have one rule
        if known not in self._numbers:
            self._numbers[known] = choice.kernel.numbers(hyper, Ops(self.executor))
        numbers = self._numbers[known]
        kept = 1.0
        if item.decays and hyper.get("weight_decay") is not None:
            rate = hyper.get("learning_rate", None)
            kept -= float(hyper.weight_decay.raw) * (1.0 if rate is None else float(rate.raw))
        roles = choice.kernel.roles(item.slots)
        key = (choice.kernel.call, gradient.raw.dtype, kept, tuple(sorted(numbers.items())))
        variables, gradients, slots = self._waiting.setdefault(key, ([], [], {name: [] for name in roles}))
        variables.append(item.variable)
        gradients.append(gradient.raw)
        for name, slot in roles.items():
            slots[name].append(slot)
        return True

    def finish(self):
        """Run the kernels."""
        for (call, _, kept, numbers), (variables, gradients, slots) in self._waiting.items():
            if kept != 1.0:
                torch._foreach_mul_(variables, kept)
            call(variables, slots, gradients, dict(numbers))


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
    divisor = torch._foreach_sqrt(slots["v"])
    torch._foreach_add_(divisor, s["epsilon"])
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
