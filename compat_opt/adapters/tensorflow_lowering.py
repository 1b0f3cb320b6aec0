"""How updates are carried out on TensorFlow: joined, compiled, by a fused kernel, or as they are.

Numbers: a joined update equals the plain one up to the last bit of sqrt, exp, log and pow, which
can differ between the middle and the end of a vector; a compiled one up to a few units in the
last place, since XLA contracts multiplications and additions; a fused kernel likewise.
"""

import tensorflow as tf

from compat_opt.adapters import fused, quirks, tensorflow_fused
from compat_opt.adapters.lowering import Choice, JoiningLowering, common_choice, size_of
from compat_opt.adapters.namespace import Namespace
from compat_opt.errors import UnsupportedError
from compat_opt.ops import Ops, Value, dtypes
from compat_opt.ops.tensorflow_executor import TensorFlowExecutor

_EXECUTOR = TensorFlowExecutor()

def choose(core, index, sparse, distributed=False):
    """The `Choice` for the optimizer's variable number `index`.

    Args:
        core: the optimizer's `Core`.
        index: the variable's position.
        sparse: whether its gradient is an IndexedSlices.
        distributed: whether a tf.distribute strategy places the variable.

    Raises:
        UnsupportedError: sparse="lazy" was asked for, and the rule is not elementwise.
    """
    if sparse:
        return _choose_sparse(core, index, distributed)
    layout, options = core.layout, core.options
    common = common_choice(core, index)
    if common is not None:
        return common
    size = size_of(layout.shape(core.variables[index]))
    kernel, why_not = _kernel(core, index, distributed)
    if kernel is not None:
        return Choice("fused", "the rule is what %s computes" % kernel.name, kernel)
    if options.jit_compile is False:
        return Choice("plain", "jit_compile=False; " + why_not)
    if distributed:
        return Choice("plain", "a strategy places it; " + why_not)
    if not quirks.XLA_ARGUMENT:
        return Choice("plain", "this TensorFlow can't compile a function with XLA; " + why_not)
    if layout.returns_ops():
        return Choice("plain", "a TF1-style graph; " + why_not)
    return Choice("xla", "it has %d elements; %s" % (size, why_not))


def _choose_sparse(core, index, distributed):
    layout, options = core.layout, core.options
    program = core.program(index)
    lazy = options.sparse == "lazy"
    against = None
    if not program.elementwise:
        against = "the rule is not elementwise: %s" % program.why
    elif options.use_ema:
        against = "a moving average is kept of all rows"
    elif core.micro_step is not None:
        against = "gradients are accumulated"
    elif layout.constraint(core.variables[index]) is not None:
        against = "it has a constraint"
    elif index in layout.unstarted:
        against = "a slot starts as a copy of it, and it had no value when the step was traced"
    if against and lazy:
        raise UnsupportedError(
            "sparse='lazy' can't update variable %s by rows: %s." % (layout.name(core.variables[index]), against),
            "an elementwise rule, without moving average, accumulation and constraint",
            "sparse='lazy'",
            "Leave sparse out for the exact result.",
            layout.describe(),
        )
    if lazy:
        return Choice("rows lazy", "sparse='lazy': rows that are not touched keep variable and slots")
    if not against and core.may_decay(index):
        against = "weight decay moves all rows"
    if not against and not core.zero_gradient_is_neutral(index):
        against = "a zero gradient moves the variable or a slot"
    if not against:
        return Choice("rows", "a zero gradient leaves variable and slots alone", _descent(core, index))
    dense = choose(core, index, False, distributed)
    return Choice(dense.how, "the sparse gradient is made dense: %s; %s" % (against, dense.why), dense.kernel)


def _descent(core, index):
    """A match where the rule subtracts a multiple of the gradient, and nothing looks at its rows."""
    options = core.options
    clips = (options.clipnorm, options.clipvalue, options.global_clipnorm) != (None, None, None)
    if clips or core.layout.dtype(core.variables[index]) not in ("float32", "float64"):
        return None
    return fused.match(core.program(index), tensorflow_fused.KERNELS[:1])


def _kernel(core, index, distributed):
    """(kernel match, why there is none)."""
    layout, options = core.layout, core.options
    storage = layout.dtype(core.variables[index])
    if options.use_ema:
        return None, "a moving average is kept"
    if options.gradient_accumulation_steps or distributed:
        return None, "kernels can't be masked"
    if storage != dtypes.compute_dtype(storage) or storage not in ("float32", "float64"):
        return None, "there are fused kernels for float32 and float64 only"
    if core.may_decay(index):
        return None, "weight decay comes before the update"
    match = fused.match(core.program(index), tensorflow_fused.KERNELS)
    return match, "" if match else "no fused kernel computes this rule"


class TensorFlowLowering(JoiningLowering):
    """Carries out the choices for the items of one call.

    Args:
        core: the optimizer's `Core`.
        items: the items in the order in which they are updated.
        choices: a `Choice` for each.
        parts: what holds the tf.Variables behind each item.
    """

    def __init__(self, core, items, choices, parts):
        super().__init__(_EXECUTOR, choices)
        self.core = core
        self.items = items
        self.parts = parts

    def in_place(self, position, hyper, gradient):
        """The fused kernel's op, where one was chosen."""
        kernel = self.choices[position].kernel
        if kernel is None:
            return None
        ops, part = Ops(_EXECUTOR), self.parts[position]
        if self.choices[position].how == "rows":
            return part.subtract(kernel.scalar("rate", hyper, ops, gradient.dtype), gradient.raw)
        return kernel.apply(part.variable, part.slots, hyper, gradient, ops)

    def update(self, positions, apply, ops, hyper, gradient, value, slots):
        """Through XLA where that was chosen."""
        if self.choices[positions[0]].how != "xla":
            return apply(ops, hyper, gradient, value, slots)
        statics, names, scalars = {}, [], []
        for name in hyper:
            entry = hyper[name]
            if isinstance(entry, Value):
                names.append(name)
                scalars.append(entry.raw)
            else:
                statics[name] = entry
        slot_names = list(slots)
        key = (
            tuple(names),
            tuple((n, slots[n].dtype) for n in slot_names),
            ops.compute_dtype,
            self.items[positions[0]].decays,
            self.items[positions[0]].section,
            self.core.version,
        )
        compiled = self.core.compiled.get(key)
        if compiled is None:
            compiled = self._compile(apply, statics, names, slot_names, ops.compute_dtype)
            self.core.compiled[key] = compiled
        flat = lambda x: tf.reshape(x.raw, [-1])  # noqa: E731
        shape = value.shape
        new_value, new_slots = compiled(
            flat(gradient), flat(value), [flat(slots[n]) for n in slot_names], scalars
        )
        wrap = lambda x: Value(tf.reshape(x, shape), ops)  # noqa: E731
        return wrap(new_value), {name: wrap(x) for name, x in zip(slot_names, new_slots)}

    def _compile(self, apply, statics, names, slot_names, compute_dtype):
        def update(gradient, value, slots, scalars):
            each = Ops(_EXECUTOR, compute_dtype)
            hyper = Namespace("rule", "hyper", statics)
            hyper.add_all({name: Value(raw, each, weak=True) for name, raw in zip(names, scalars)})
            own = {name: Value(raw, each) for name, raw in zip(slot_names, slots)}
            new_value, new_slots = apply(
                each, hyper, Value(gradient, each), Value(value, each), Namespace("rule", "slots", own)
            )
            kept = [each.unwrap(new_slots.get(n, own[n]), own[n].dtype) for n in slot_names]
            return each.unwrap(new_value, compute_dtype), kept

        return tf.function(update, autograph=False, **{quirks.XLA_ARGUMENT: True})
