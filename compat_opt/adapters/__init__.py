"""From a rule to an optimizer class: one folder per generation, and what they share beside them."""

from compat_opt.adapters.compile import (
    compile_rule,
    generation_of,
    generations,
    is_optimizer,
    retarget,
)

__all__ = ["compile_rule", "generation_of", "generations", "is_optimizer", "retarget"]
