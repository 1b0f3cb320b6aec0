"""Steps on TensorFlow variables: eager, in graphs, compiled, and under tf.distribute strategies.

Shared by the three generations. A step reads every value first, computes, and assigns each
variable once, so that it needs no control dependencies and also works in TF1-style graphs.
"""

import contextlib

import tensorflow as tf

from compat_opt.adapters import quirks, sections, tensorflow_distribution, tensorflow_lowering, tensorflow_rows
from compat_opt.adapters.step import Item, plan_call
from compat_opt.errors import GradientError, UnsupportedError
from compat_opt.ops import Ops, dtypes
from compat_opt.ops.tensorflow_executor import TensorFlowExecutor

EXECUTOR = TensorFlowExecutor()

choose = tensorflow_lowering.choose


def do_not_convert(function):
    """`function`, left alone by AutoGraph: it is graph code already, and tracing is faster."""
    return tf.autograph.experimental.do_not_convert(function)


def densify(gradient, rows, dtype):
    """A dense gradient in `dtype`; repeated rows of an IndexedSlices are summed.

    Args:
        gradient: a tensor of the variable's shape, or an IndexedSlices of some of its rows.
        rows: length of the variable's first axis.
        dtype: the compute dtype, in which the sum is made.
    """
    if isinstance(gradient, tf.IndexedSlices):
        values = tf.cast(gradient.values, dtype)
        return tf.math.unsorted_segment_sum(values, gradient.indices, rows)
    return tf.cast(gradient, dtype)


def apply(core, pairs, aggregate):
    """Make one call of apply_gradients.

    Args:
        core: the optimizer's `Core`.
        pairs: checked (gradient, variable) pairs.
        aggregate: whether replicas' gradients still have to be summed.

    Returns:
        An op in TF1-style graphs, else None.
    """
    indexes = [core.index_of(variable) for _, variable in pairs]
    gradients = [gradient for gradient, _ in pairs]
    if tf.distribute.has_strategy():
        if tf.distribute.in_cross_replica_context():
            raise UnsupportedError(
                "apply_gradients was called in the cross-replica context of a strategy.",
                "a call inside strategy.run(...)",
                environment=core.layout.describe(),
            )
        if core.options.jit_compile is True:
            raise UnsupportedError(
                "An update can't be compiled with XLA as a whole under a tf.distribute strategy.",
                'jit_compile="auto" or False',
                "jit_compile=True",
                "Leave jit_compile out.",
                core.layout.describe(),
            )
        core.mark_compiled_in(not tf.executing_eagerly())
        return tf.distribute.get_replica_context().merge_call(
            _cross_replica(core, indexes, aggregate), args=(gradients,)
        )
    if core.options.jit_compile is True:
        _require_xla(core)
    if tf.executing_eagerly() or core.options.jit_compile is True:
        core.mark_compiled_in(not tf.executing_eagerly())
        return _cached_step(core, indexes, gradients)
    core.mark_compiled_in(True)
    return _whole_step(core, indexes, gradients, {})


def _require_xla(core):
    if not quirks.XLA_ARGUMENT:
        raise UnsupportedError(
            "This TensorFlow can't compile a function with XLA.",
            "TensorFlow 2.1 or later",
            "jit_compile=True",
            "Leave jit_compile out.",
            core.layout.describe(),
        )


def _cross_replica(core, indexes, aggregate):
    @do_not_convert
    def run(strategy, gradients):
        apart = tensorflow_distribution.has_parameter_servers(strategy)
        if apart:
            tensorflow_distribution.check(core)
        variables = [core.layout.raw(core.variables[index]) for index in indexes]
        if aggregate:
            gradients = strategy.extended.batch_reduce_to(
                tf.distribute.ReduceOp.SUM, list(zip(gradients, variables))
            )
        return _whole_step(core, indexes, gradients, {}, strategy.extended, apart)

    return run


def _whole_step(core, indexes, gradients, external, extended=None, apart=False):
    """Evaluate the scalars once, then update on each device that holds the variables.

    Args:
        extended: the strategy's, or None without one.
        apart: whether each variable is on one device, not each device has all variables.
    """
    raw = core.layout.raw
    iterations = raw(core.iterations)
    counts = [iterations] + ([raw(core.micro_step)] if core.micro_step is not None else [])
    now = [tf.convert_to_tensor(count) for count in counts]
    scalars = sections.evaluate(core.sections, now[0], external)
    shared_names = list(core.shared)
    shared = {name: tf.convert_to_tensor(raw(core.shared[name])) for name in shared_names}
    held = range(len(core.variables)) if core.micro_step is not None else indexes
    by_index = dict(zip(indexes, gradients))
    bundle = {
        "variables": [raw(core.variables[i]) for i in held],
        "slots": [{name: raw(slot) for name, slot in core.slots[i].items()} for i in held],
        "calls": [None if core.calls[i] is None else raw(core.calls[i]) for i in held],
        "gradients": [by_index.get(i) for i in held],
        "shared": {name: raw(core.shared[name]) for name in shared_names},
        "counts": counts,
    }

    def on_device(_, parts):
        return _device_step(core, list(held), parts, scalars, shared, now, extended is not None, apart)

    if extended is None:
        return on_device(None, bundle)
    if apart:
        on_device(None, bundle)
        return None
    extended.update(bundle["variables"][0], on_device, args=(bundle,), group=False)
    return None


def _device_step(core, held, parts, scalars, shared, now, distributed=False, apart=False):
    """The step on one device; `parts` holds that device's components of the variables."""
    options = core.options
    place = tensorflow_distribution.on if apart else lambda variable: contextlib.nullcontext()
    items, choices, writers = [], [], []
    for i, variable, slots, calls, gradient in zip(
        held, parts["variables"], parts["slots"], parts["calls"], parts["gradients"]
    ):
        choice = tensorflow_lowering.choose(core, i, isinstance(gradient, tf.IndexedSlices), distributed)
        with place(variable):
            part = _part(choice, variable, slots, gradient, apart and tensorflow_distribution.adds(core, i))
            for name in core.layout.unstarted.get(i, ()):
                part.slot_values[name] = _started(part, name, now[0])
            scaled = part.gradient
            if scaled is not None and options.loss_scale_factor:
                scaled = scaled / tf.cast(options.loss_scale_factor, scaled.dtype)
        items.append(
            Item(
                core.layout.name(core.variables[i]),
                i,
                part.value,
                scaled,
                part.slot_values,
                core.decays[i],
                core.layout.constraint(core.variables[i]),
                None if calls is None else tf.convert_to_tensor(calls),
                part.finish,
                core.homes[i],
            )
        )
        choices.append(choice)
        writers.append(part)
    present = range(len(items))
    if core.micro_step is None:
        present = [p for p, item in enumerate(items) if item.gradient is not None]
    chosen = [[found[p] for p in present] for found in (items, choices, writers)]
    if apart:
        variables = [parts["variables"][p] for p in present]
        lowering = tensorflow_distribution.PlacedLowering(core, *chosen, variables=variables)
    else:
        lowering = tensorflow_lowering.TensorFlowLowering(core, *chosen)

    reads = _reads(items, shared, now) if core.layout.returns_ops() else []

    def commit(outcome):
        made = list(outcome.in_place)
        with tf.control_dependencies([tf.identity(read) for read in reads]):
            for position, value in outcome.variables.items():
                with place(parts["variables"][present[position]]):
                    made.extend(writers[present[position]].write(value, outcome.slots.get(position, {})))
            for position, values in outcome.slots.items():
                if position not in outcome.variables:
                    made.extend(writers[present[position]].write(None, values))
            assigned = [(parts["calls"][present[p]], value) for p, value in outcome.calls.items()]
            assigned.extend((parts["shared"][name], value) for name, value in outcome.shared.items())
            if apart:
                made.append(tensorflow_distribution.count(parts["counts"][0]))
            else:
                assigned.extend(zip(parts["counts"], (outcome.iterations, outcome.micro_step)))
            made.extend(v.assign(value, read_value=False) for v, value in assigned if value is not None)
        if tf.executing_eagerly():
            return tf.constant(True)
        return tf.group(*[op for op in made if op is not None])

    with tf.control_dependencies(_finite_checks(items) if options.check_numerics else []):
        due, on_due, otherwise = plan_call(
            sections.settings(core.sections, scalars, shared),
            options,
            lambda: Ops(EXECUTOR),
            items,
            now[0],
            now[1] if len(now) > 1 else None,
            lowering,
        )
        if due is None:
            return commit(on_due())
        return tf.cond(due, lambda: commit(on_due()), lambda: commit(otherwise()))


def _started(part, name, iterations):
    """A slot that starts as a copy of its variable, which had no value yet when the slot was made."""
    slot = part.slot_values[name]
    return tf.cond(tf.equal(iterations, 0), lambda: tf.cast(part.value, slot.dtype), lambda: slot)


def _reads(items, shared, now):
    """All that a step has read: a TF1-style graph would else write some of it first."""
    found = [value for item in items for value in [item.variable, item.calls] + list(item.slots.values())]
    return [value for value in found + list(shared.values()) + now if value is not None]


def _part(choice, variable, slots, gradient, adds=False):
    """What reads and writes the part of a variable that is updated."""
    if not choice.how.startswith("rows"):
        return (_Added if adds else _Whole)(variable, slots, gradient)
    if choice.kernel is not None:
        return tensorflow_rows.Scattered(variable, gradient)
    return tensorflow_rows.Rows(variable, slots, gradient)


class _Whole:
    """A variable that is updated as a whole: its values, and how new ones are written."""

    finish = None

    def __init__(self, variable, slots, gradient):
        self.variable = variable
        self.slots = slots
        self.value = tf.convert_to_tensor(variable)
        self.slot_values = {name: tf.convert_to_tensor(slot) for name, slot in slots.items()}
        self.gradient = gradient
        if gradient is not None:
            rows = variable.shape[0] if variable.shape.rank else None
            self.gradient = densify(gradient, rows, dtypes.compute_dtype(EXECUTOR.dtype(variable)))

    def write(self, value, slots):
        """Assign what is new."""
        new = [] if value is None else [(self.variable, value)]
        new.extend((self.slots[name], slot) for name, slot in slots.items())
        return [variable.assign(tensor, read_value=False) for variable, tensor in new]


class _Added(_Whole):
    """A variable that others may change meanwhile: the difference is added."""

    def write(self, value, slots):
        """Add to the variable, assign its slots."""
        made = super().write(None, slots)
        if value is not None:
            made.append(self.variable.assign_add(value - self.value, read_value=False))
        return made


def _finite_checks(items):
    """Ops that fail where a gradient is not finite."""
    checks = []
    for item in items:
        if item.gradient is not None:
            finite = tf.reduce_all(EXECUTOR.function("isfinite")(item.gradient))
            message = "The gradient of variable %s is not finite (NaN or infinite). Nothing was changed. " % item.name
            checks.append(tf.debugging.Assert(finite, [message]))
    return [check for check in checks if check is not None]


def _cached_step(core, indexes, gradients):
    """The step through one tf.function per set of variables: traced once, then only called."""
    sparse = [isinstance(gradient, tf.IndexedSlices) for gradient in gradients]
    key = (
        core.stamp(),
        tuple(indexes),
        tuple(
            (g.values.dtype, g.indices.dtype) if s else g.dtype for g, s in zip(gradients, sparse)
        ),
        tuple(sorted(core.options.as_dict().items(), key=str)),
    )
    cached = core.steps.get(key)
    if cached is None:
        cached = core.steps[key] = _make_step(core, indexes, gradients, sparse)
    external = core.external(tf.convert_to_tensor(core.layout.raw(core.iterations)))
    flat = []
    for gradient, is_sparse in zip(gradients, sparse):
        flat.append([gradient.values, gradient.indices] if is_sparse else [gradient])
    try:
        return cached(flat, external)
    except tf.errors.InvalidArgumentError as error:
        if core.options.check_numerics and "is not finite" in str(error):
            name = str(error).split("The gradient of variable ")[1].split(" is not")[0]
            raise GradientError(
                "The gradient of variable %s is not finite." % name,
                "finite numbers",
                "NaN or infinite elements",
                "Nothing was changed.",
                core.layout.describe(),
            )
        raise


def _make_step(core, indexes, gradients, sparse):
    row_shapes = [core.layout.shape(core.variables[i])[1:] for i in indexes]

    @do_not_convert
    def step(flat, external):
        whole = [
            tf.IndexedSlices(parts[0], parts[1]) if is_sparse else parts[0]
            for parts, is_sparse in zip(flat, sparse)
        ]
        _whole_step(core, indexes, whole, external)

    signature = []
    for gradient, is_sparse, rows, i in zip(gradients, sparse, row_shapes, indexes):
        if is_sparse:
            signature.append(
                [
                    tf.TensorSpec((None,) + tuple(rows), gradient.values.dtype),
                    tf.TensorSpec((None,), gradient.indices.dtype),
                ]
            )
        else:
            signature.append([tf.TensorSpec(core.layout.shape(core.variables[i]), gradient.dtype)])
    external = {
        section.prefix + name: tf.TensorSpec((), tf.float64)
        for section in core.sections
        for name, source in section.hypers.sources.items()
        if source.kind in ("schedule", "callable")
    }
    options = {"autograph": False, "input_signature": [signature, external]}
    if core.options.jit_compile is True:
        options[quirks.XLA_ARGUMENT] = True
    return tf.function(step, **options)
