"""The state of a live optimizer: read it into a record, write a record into it."""

from compat_opt.adapters import is_optimizer
from compat_opt.errors import StateError
from compat_opt.state import loss_scale
from compat_opt.state.pairing import pair
from compat_opt.state.placing import check_algorithm, fill
from compat_opt.state.reading import table_for, to_record
from compat_opt.state.record import StateRecord, Variable
from compat_opt.state.report import Report
from compat_opt.state.views import view


def read(optimizer, variables=None):
    """The state of an optimizer as a `StateRecord`.

    Args:
        optimizer: compiled from a rule for any target; or a native one that the tables in
            `compat_opt.state.natives` know; or a LossScaleOptimizer around one of these.
        variables: the model's trainable variables, for their paths, where the optimizer does not
            know them (OptimizerV2 and Keras 2: names come from those of the slots otherwise).

    Returns:
        A `StateRecord`; its arrays are copies.

    Raises:
        StateError: the class is in no table, or its state waits for its variables.
    """
    inner = _unwrapped(optimizer)
    record = to_record(view(inner, variables).raw())
    record.loss_scale = loss_scale.read(optimizer)
    return record


def write(optimizer, record, variables=None, renames=None, strict=True, hypers=True):
    """Write a record into an optimizer, before or after its first step.

    Everything is checked before anything is overwritten.

    Args:
        optimizer: as for `read`.
        record: a `StateRecord`.
        variables: the model's trainable variables, in order; needed where the optimizer has not met
            them yet (it is built with them).
        renames: {path in the record: path in the optimizer}, for variables that changed their
            names; or "order": pair by position.
        strict: refuse where a piece of the record has no place; False moves what fits.
        hypers: whether hyperparameters are compared and set too.

    Returns:
        A `compat_opt.state.report.Report`: a line for each piece: moved, renamed, converted,
        recomputed, defaulted, dropped; set, kept or differs for hyperparameters.

    Raises:
        StateError: another algorithm or shape, an ambiguous variable, or, if `strict`, a piece
            without place. The optimizer's values are what they were.
    """
    import numpy as np

    inner = _unwrapped(optimizer)
    if not isinstance(record, StateRecord):
        raise StateError(
            "That is no record of state.", "a StateRecord", "a %s" % type(record).__name__, "read_file(path) and load(path) return one."
        )
    seen = view(inner, variables)
    if not seen.built and variables is None:
        raise StateError(
            "The optimizer has not met its variables yet.",
            "variables=model.trainable_variables, or an optimizer that is built",
            environment=seen.describe(),
        )
    names = [Variable(*v) for v in seen.variables]
    pairing = pair(record.variables, names, renames)
    check_algorithm(record, table_for(seen.frame()).rule_class(), strict, Report(seen.describe()))
    if not seen.built or seen.is_new:
        loss_scale.build(optimizer, inner, variables, seen)
        seen = view(inner, variables)
    filling = fill(
        seen.raw(), record, None, strict, hypers, seen.first_value, seen.describe(), pairing=pairing
    )
    for name, number in filling.hypers.items():
        seen.set_hyper(name, number)
    for place, value in zip(seen.places, filling.values):
        if value is not None and place is not None:
            seen.assign(place, np.array(value))  # a copy: some backends keep the array that they are given
    seen.finish(record)
    loss_scale.write(optimizer, record, filling.report)
    return filling.report


def _unwrapped(optimizer):
    if not is_optimizer(optimizer):
        raise StateError(
            "That is no Keras optimizer.", "an optimizer, compiled or native", "a %s" % type(optimizer).__name__
        )
    return loss_scale.unwrapped(optimizer)
