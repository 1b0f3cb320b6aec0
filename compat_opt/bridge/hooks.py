"""The hooks of each API, who calls them when a host holds the class, and the refusal where nobody does."""

from compat_opt.bridge.written_for import HOOKS
from compat_opt.errors import UnsupportedError

#: Called by the legacy class's own apply_gradients, or by the host in its place.
CALLED = {
    "optimizer_v2": frozenset(
        """
        apply_gradients _create_slots _create_hypers _create_all_weights _prepare _prepare_local
        _fallback_apply_state _resource_apply_dense _resource_apply_sparse
        _resource_apply_sparse_duplicate_indices _resource_scatter_add _resource_scatter_update
        _distributed_apply _aggregate_gradients _transform_unaggregated_gradients _transform_gradients
        _transform_clipnorm _transform_clipvalue _transform_global_clipnorm
        _decayed_lr _get_hyper _set_hyper _serialize_hyperparameter _initial_decay
        add_slot add_weight get_slot get_slot_names get_config from_config
        get_weights set_weights variables weights iterations learning_rate lr
        clipnorm clipvalue global_clipnorm gradient_transformers gradient_aggregator
        minimize _compute_gradients _get_gradients _clip_gradients
        _call_if_callable _var_key _resource_scatter_operate
        """.split()
    ),
    "get_updates": frozenset(
        "get_updates get_gradients get_config from_config get_weights set_weights "
        "lr learning_rate iterations weights updates".split()
    ),
    "keras2": frozenset(
        """
        apply_gradients build update_step _update_step _update_step_xla _internal_apply_gradients
        _clip_gradients _deduplicate_sparse_grad aggregate_gradients _apply_weight_decay _use_weight_decay
        exclude_from_weight_decay _update_model_variables_moving_average
        _overwrite_model_variables_with_average_value finalize_variable_values
        add_variable add_variable_from_reference _build_learning_rate _compute_current_learning_rate
        _get_hyper get_config from_config set_weights learning_rate lr iterations variables
        _process_kwargs _create_iteration_variable _var_key _distributed_apply_gradients_fn
        """.split()
    ),
    "keras3": frozenset(
        """
        apply_gradients apply build update_step _backend_update_step _backend_apply_gradients
        _clip_gradients _apply_weight_decay _use_weight_decay exclude_from_weight_decay
        _update_model_variables_moving_average _overwrite_model_variables_with_average_value
        finalize_variable_values add_variable add_variable_from_reference add_optimizer_variables
        _get_current_learning_rate _get_variable_index _overwrite_variables_directly_with_gradients
        _filter_empty_gradients _common_apply _apply_parallel
        assign assign_add assign_sub get_config from_config learning_rate iterations variables
        save_own_variables load_own_variables set_weights _distributed_tf_update_step
        """.split()
    ),
}

#: Called by minimize, which Model.fit of Keras 2 calls and that of Keras 3 does not.
BY_MINIMIZE = frozenset(["minimize", "_transform_loss", "compute_gradients", "_assert_valid_dtypes"])

#: Steps of a training loop in which an API had a part that a host's API leaves to the model.
LOST = {
    "optimizer_v2": {
        "_transform_loss": "Model.fit of Keras 3 takes the gradients itself",
        "get_gradients": "Model.fit takes the gradients itself; OptimizerV2's own fit did not call it either",
        "get_updates": "it is called in graphs of TensorFlow 1 only",
    },
    "get_updates": {},
    "keras2": {
        "minimize": "Model.fit of Keras 3 takes the gradients itself and calls apply_gradients",
        "compute_gradients": "Model.fit of Keras 3 takes the gradients itself",
    },
    "keras3": {
        "stateless_apply": "it is called on the JAX backend only",
        "scale_loss": "models of Keras 2 do not call it",
    },
}


def check(cls, own, generation, base, target, uncalled):
    """Refuse a class with a hook that nothing would call.

    Args:
        cls: the legacy class.
        own: its classes that are no part of a framework.
        generation: the API it was written for.
        base: the real base class that it runs on.
        target: the Target of the host.
        uncalled: names of hooks that may stay uncalled.

    Raises:
        UnsupportedError: names each such hook, with its line.
    """
    called = CALLED[generation] | (frozenset() if target.generation == "keras3" else BY_MINIMIZE)
    known = set().union(*(names for names in HOOKS.values())) | set().union(*LOST.values())
    lost = []
    for owner in own:
        for name, value in vars(owner).items():
            if name in called or name in uncalled or name.startswith("__"):
                continue
            overrides = hasattr(base, name) and not _is_data(getattr(base, name))
            if overrides or name in known or name in ("_apply_dense", "_apply_sparse"):
                lost.append((owner, name, value))
    if not lost:
        return
    names = [name for _, name, _ in lost]
    raise UnsupportedError(
        "%s overrides %s, and nothing would call it: %s."
        % (
            cls.__name__,
            " and ".join("%s (%s)" % (name, _line(owner, value)) for owner, name, value in lost),
            "; ".join(LOST[generation].get(name, "it is no hook of %s" % generation) for name in names),
        ),
        "hooks among %s" % ", ".join(sorted(n for n in HOOKS[generation] if n in CALLED[generation])),
        "class %s with %s" % (cls.__name__, ", ".join(names)),
        "Move what it does into apply_gradients, or, where it does nothing that training needs, "
        "pass uncalled=%r." % (tuple(names),),
    )


def _is_data(value):
    return not callable(value) and not isinstance(value, property)


def _line(owner, value):
    value = getattr(value, "fget", None) or getattr(value, "__func__", value)
    code = getattr(value, "__code__", None)
    if code is None:
        return "in %s" % owner.__name__
    return "%s, line %d" % (code.co_filename.replace("\\", "/").rsplit("/", 1)[-1], code.co_firstlineno)
