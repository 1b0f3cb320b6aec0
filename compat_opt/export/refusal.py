"""How the export says that it can't write a rule: the reason and the line."""

from compat_opt.errors import ExportError


def refuse(node, reason, remedy=""):
    """Raise an `ExportError` for a node of the rule's source.

    Args:
        node: an ast node with a line number, or None.
        reason: a clause without a capital, "it uses ...".
        remedy: a sentence.
    """
    line = getattr(node, "lineno", None)
    where = "%s, line %d" % (getattr(node, "source_file", "source"), line) if line else ""
    raise ExportError("This rule can't be exported: %s." % reason, received=where, remedy=remedy)
