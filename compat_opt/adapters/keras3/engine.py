"""Steps on the variables of Keras 3's JAX and torch backends."""

from keras import StatelessScope, backend, ops

from compat_opt.adapters import sections
from compat_opt.adapters.lowering import Choice
from compat_opt.adapters.step import Item, plan_call
from compat_opt.adapters.update import Lowering
from compat_opt.errors import GradientError, UnsupportedError
from compat_opt.ops import Ops


def _executor():
    if backend.backend() == "torch":
        from compat_opt.ops.torch_executor import TorchExecutor

        executor = TorchExecutor()
        executor.device = ops.zeros(()).device
        return executor
    from compat_opt.ops.jax_executor import JaxExecutor

    return JaxExecutor()


EXECUTOR = _executor()


def apply(core, pairs, aggregate):
    """Make one call of apply_gradients: read all values, compute, assign.

    On JAX the same code runs inside Keras's stateless scope, where reading and assigning go to the
    values that the compiled train step passes in; an eager call goes through a function of its own
    that is compiled once.

    Args:
        core: the optimizer's `Core`.
        pairs: checked (gradient, variable) pairs.
        aggregate: these backends' gradients are summed already.

    Raises:
        UnsupportedError: jit_compile=True on torch.
    """
    indexes = [core.index_of(variable) for _, variable in pairs]
    gradients = dict(zip(indexes, (gradient for gradient, _ in pairs)))
    if core.options.check_numerics:
        _check_finite(core, gradients)
    if backend.backend() == "torch":
        import torch

        _refuse_to_compile(core)
        with torch.no_grad():
            if not _kernel_step(core, gradients):
                _step(core, gradients)
    elif core.options.jit_compile is not False and _is_eager(gradients):
        _compiled_step(core, gradients)
    else:
        _step(core, gradients)


def _refuse_to_compile(core):
    if core.options.jit_compile is True:
        raise UnsupportedError(
            "An update can't be compiled on the torch backend.",
            'jit_compile="auto" or False',
            "jit_compile=True",
            "Leave jit_compile out: torch's fused and foreach functions are used where they match.",
            core.layout.describe(),
        )


def _is_eager(gradients):
    """Whether this call is not part of a step that JAX compiles already."""
    from jax.core import Tracer
    from keras.src.backend.common.stateless_scope import in_stateless_scope

    return not in_stateless_scope() and not any(isinstance(g, Tracer) for g in gradients.values())


def _step_key(core, gradients):
    """What a kept step depends on: the settings, and which variables have a gradient."""
    return core.stamp(), tuple(gradients), tuple(sorted(core.options.as_dict().items(), key=str))


def _compiled_step(core, gradients):
    """The step on JAX as one compiled function of all values; callables are asked outside of it."""
    import jax

    places = _places(core, range(len(core.variables)))
    for section in core.sections:
        places.extend(section.hypers.variables.values())
    key = _step_key(core, gradients)
    if key not in core.steps:

        def function(values, gradients, external):
            with StatelessScope(state_mapping=list(zip(places, values))) as scope:
                _step(core, gradients, external)
                return [scope.get_current_value(place) for place in places]

        core.steps[key] = jax.jit(function)
    external = core.external(core.layout.read_scalar(core.iterations))
    values = [core.layout.read(place) for place in places]
    _assign(core.layout, places, core.steps[key](values, gradients, external))


def _kernel_step(core, gradients):
    """Make the step on torch where kernels update every variable; False, and nothing done, where that is not so."""
    from compat_opt.adapters.keras3.torch_lowering import KernelStep
    from keras.src.backend.common.stateless_scope import in_stateless_scope

    if in_stateless_scope():
        return False
    key = _step_key(core, gradients)
    if key not in core.steps:
        core.steps[key] = KernelStep(core, gradients) if KernelStep.is_possible(core, gradients) else None
    made = core.steps[key]
    if made is None:
        return False
    if not made.is_current():
        made = core.steps[key] = KernelStep(core, gradients)
    iterations = core.layout.read_scalar(core.iterations)
    outcome = made.run(_settings(core, iterations), Ops(EXECUTOR), iterations, list(gradients.values()))
    _assign(core.layout, _places(core, []), _flat(core, [], outcome))
    return True


def _settings(core, iterations, external=None):
    """The `Setting` of each section at this step."""
    shared = {name: core.layout.read_scalar(variable) for name, variable in core.shared.items()}
    return sections.settings(core.sections, sections.evaluate(core.sections, iterations, external), shared)


def _step(core, gradients, external=None):
    """One step on {index: gradient}; `external` holds values of hyperparameters that are known."""
    layout, options = core.layout, core.options
    indexes = list(gradients)
    if options.loss_scale_factor:
        gradients = {i: g / options.loss_scale_factor for i, g in gradients.items()}
    held = range(len(core.variables)) if core.micro_step is not None else indexes
    iterations = layout.read_scalar(core.iterations)
    items = [
        Item(
            layout.name(core.variables[i]),
            i,
            layout.read(core.variables[i]),
            gradients.get(i),
            {name: layout.read(slot) for name, slot in core.slots[i].items()},
            core.decays[i],
            layout.constraint(core.variables[i]),
            None if core.calls[i] is None else layout.read(core.calls[i]),
            section=core.homes[i],
        )
        for i in held
    ]
    present = range(len(items))
    if core.micro_step is None:
        present = [p for p, item in enumerate(items) if item.gradient is not None]
    settings = _settings(core, iterations, external)
    lowering = _lowering(core, [items[p] for p in present])
    due, on_due, otherwise = plan_call(
        settings,
        options,
        lambda: Ops(EXECUTOR),
        items,
        iterations,
        None if core.micro_step is None else layout.read_scalar(core.micro_step),
        lowering,
    )
    places = _places(core, list(held))
    if due is None or backend.backend() == "torch":
        outcome = on_due() if due is None or bool(due) else otherwise()
        lowering.finish()
        _assign(layout, places, _flat(core, list(held), outcome))
        return
    import jax

    present = [layout.read(variable) for variable in places]

    def filled(make):
        new = _flat(core, list(held), make())
        return [
            old if value is None else jax.numpy.asarray(value, old.dtype)
            for value, old in zip(new, present)
        ]

    for variable, value in zip(places, jax.lax.cond(due, lambda: filled(on_due), lambda: filled(otherwise))):
        variable.assign(value)


def choose(core, index, sparse=False):
    """How variable number `index` is updated; gradients are always dense here."""
    if backend.backend() == "torch":
        from compat_opt.adapters.keras3 import torch_lowering

        return torch_lowering.choose(core, index)
    if core.options.jit_compile is False:
        return Choice("plain", "jit_compile=False: an eager step is not compiled, a train step that JAX compiles is")
    return Choice("plain", "the train step is compiled as a whole by JAX")


def _lowering(core, items):
    if backend.backend() != "torch":
        return Lowering()
    from compat_opt.adapters.keras3.torch_lowering import TorchLowering

    return TorchLowering(EXECUTOR, items, [core.choice(item.index, choose) for item in items])


def _assign(layout, places, values):
    """Write the new values, a copy where two variables would share one buffer.

    A rule may return one tensor twice (``{"previous": grad}``). Keras's JAX trainer gives the
    buffers of all variables away, and JAX refuses to give one away twice. On torch each variable
    keeps its buffer, into which the value is copied.
    """
    owned = set()
    if backend.backend() == "jax":
        owned = {id(layout.read(place)) for place, value in zip(places, values) if value is None}
    for variable, value in zip(places, values):
        if value is None:
            continue
        if id(value) in owned:
            value = ops.copy(ops.convert_to_tensor(value))
        owned.add(id(value))
        layout.assign(variable, value)


def _places(core, held):
    """The variables that a call may change, in a fixed order."""
    places = []
    for i in held:
        places.append(core.variables[i])
        places.extend(core.slots[i].values())
        if core.calls[i] is not None:
            places.append(core.calls[i])
    places.extend(core.shared.values())
    places.append(core.iterations)
    if core.micro_step is not None:
        places.append(core.micro_step)
    return places


def _flat(core, held, outcome):
    """An outcome in the order of `_places`; None where nothing changes."""
    flat = []
    for position, i in enumerate(held):
        flat.append(outcome.variables.get(position))
        changed = outcome.slots.get(position, {})
        flat.extend(changed.get(name) for name in core.slots[i])
        if core.calls[i] is not None:
            flat.append(outcome.calls.get(position))
    flat.extend(outcome.shared.get(name) for name in core.shared)
    flat.append(outcome.iterations)
    if core.micro_step is not None:
        flat.append(outcome.micro_step)
    return flat


def _check_finite(core, gradients):
    isfinite = EXECUTOR.function("isfinite")
    for i, gradient in gradients.items():
        try:
            finite = bool(EXECUTOR.function("all")(isfinite(gradient), None, False))
        except Exception as error:
            if "racer" not in type(error).__name__:
                raise
            raise UnsupportedError(
                "check_numerics can't look at gradients inside a step that JAX compiles.",
                "an eager step",
                "check_numerics=True",
                "Use jax.config.update('jax_debug_nans', True) there.",
                core.layout.describe(),
            )
        if not finite:
            raise GradientError(
                "The gradient of variable %s is not finite." % core.layout.name(core.variables[i]),
                "finite numbers",
                "NaN or infinite elements",
                "Nothing was changed.",
                core.layout.describe(),
            )
