"""Export: a rule as the source of one optimizer class of one API, without a trace of this package.

It works on the rule's source, so that names, structure and comments survive. A folder is one generation.
"""

import importlib
import pkgutil

from compat_opt.errors import ArgumentError, closest

__all__ = ["export_rule", "generations"]


def generations():
    """The names that `export_rule` takes as `target`: the folders of this package."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if info.ispkg)


def export_rule(rule, target, settings=None):
    """The source of a class of one API that does what the compiled rule does.

    Args:
        rule: an `UpdateRule` subclass, at the top level of a Python file.
        target: "keras3", "keras2" or "optimizer_v2".
        settings: {hyperparameter: value}: static ones are fixed in the source, others become its defaults.

    Returns:
        The source of a Python file, lines of at most 100 characters.

    Raises:
        ExportError: the rule has something that can't be written for this API; names the reason and the line.
        ArgumentError: no such target, or no such hyperparameter.
    """
    if target not in generations():
        raise ArgumentError(
            "There is no export to %s." % target,
            "one of %s" % ", ".join(generations()),
            "target=%r" % (target,),
            closest(target, generations()),
        )
    writer = importlib.import_module("%s.%s.writer" % (__name__, target)).Writer
    return writer(rule, settings or {}).source()
