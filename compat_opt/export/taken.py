"""Names that a rule's own functions and variables can't have in an exported file."""

#: Private methods of the base classes of all three APIs (TF 2.0-2.21, Keras 3.15) that a method would override.
BASE_METHODS = frozenset(
    """
    _add_variable_with_custom_getter _aggregate_gradients _apply_weight_decay _assert_valid_dtypes
    _backend_apply_gradients _backend_increment_gradient_accumulators _backend_reset_gradient_accumulators
    _backend_update_step _build_index_dict _build_learning_rate _call_if_callable _check_super_called
    _check_variables_are_known _clip_by_norm _clip_gradients _compute_current_learning_rate _compute_gradients
    _create_all_weights _create_hypers _create_iteration_variable _create_or_restore_slot_variable _create_slots
    _create_slots_for_sharded_variables _decayed_lr _deduplicate_sparse_grad _dense_apply_args _distributed_apply
    _distributed_apply_gradients_fn _distribution_strategy_scope _fallback_apply_state _filter_empty_gradients
    _get_current_learning_rate _get_gradients _get_hyper _get_variable_index _init_set_name
    _internal_apply_gradients _lookup_dependency _obj_type _prepare _prepare_local _process_kwargs
    _overwrite_model_variables_with_average_value _overwrite_variable_with_gradient _resource_apply_dense
    _resource_apply_sparse _resource_apply_sparse_duplicate_indices _resource_scatter_add _resource_scatter_update
    _restore_slot_variable _serialize_hyperparameter _set_hyper _sparse_apply_args _track_trackable _track_variable
    _trackable_children _transform_gradients _transform_loss _transform_unaggregated_gradients _untrack_variable
    _update_model_variables_moving_average _update_step _update_step_xla _use_weight_decay _valid_dtypes _var_key
    """.split()
)

#: Methods, functions and attributes that the export writes itself.
WRITTEN = frozenset(
    """
    _add_slot _assign _cast _coefficients _compute_dtype _dense _flip _full_like _hash _index _initializer
    _matrix_transpose _measure _measured _mixed _outer _random_normal _random_uniform _scalar_dtype _scalars _size
    _slots _slots_for _step_scalars _var_list _vector_norm
    """.split()
)

#: Variables of the hooks, and modules: where the rule has such a local name, it has to be renamed.
LOCAL = frozenset("self variable dtype scalars coefficients prepared measured shared tf keras ops math".split())
