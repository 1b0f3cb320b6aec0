"""How updates are carried out on torch: joined, by a fused kernel, or as they are."""

import torch

from compat_opt.adapters import fused
from compat_opt.adapters.lowering import Choice, JoiningLowering, common_choice
from compat_opt.ops import Ops


def choose(core, index):
    """The `Choice` for the optimizer's variable number `index`."""
    common = common_choice(core, index)
    if common is not None:
        return common
    options = core.options
    if options.use_ema or options.gradient_accumulation_steps:
        return Choice("plain", "a moving average or an accumulator is kept")
    if core.layout.dtype(core.variables[index]) not in ("float32", "float64"):
        return Choice("plain", "there are fused kernels for float32 and float64 only")
    if core.may_decay(index):
        return Choice("plain", "weight decay comes before the update")
    kernel = fused.match(core.program(index), KERNELS)
    if kernel is None:
        return Choice("plain", "no fused kernel computes this rule")
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

    def in_place(self, position, hyper, gradient):
        """True after the fused kernel ran, where one was chosen."""
        choice = self.choices[position]
        if choice.how != "fused":
            return None
        item = self.items[position]
        choice.kernel.apply(item.variable, item.slots, hyper, gradient, Ops(self.executor))
        return True


def _adam(var, slots, grad, s):
    # The kernel divides by 1 - beta^step; at a step as large as this the powers are 0, and the
    # rule's own corrected rate is given.
    step = torch.tensor(1e9, dtype=torch.float32, device=var.device)
    torch._fused_adam_(
        [var], [grad], [slots["m"]], [slots["v"]], [], [step],
        lr=float(s["rate"]), beta1=float(s["beta_1"]), beta2=float(s["beta_2"]), weight_decay=0.0,
        eps=float(s["epsilon"]), amsgrad=False, maximize=False, grad_scale=None, found_inf=None,
    )  # fmt: skip


#: The kernels that this torch has.
KERNELS = tuple(
    kernel
    for kernel in (
        fused.Kernel("_fused_adam_", ("m", "v"), ("beta_1", "beta_2", "rate", "epsilon"), fused.adam, _adam),
    )
    if hasattr(torch, kernel.name)
)
