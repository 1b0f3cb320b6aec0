"""The shipped algorithms, one file each: ``compat_opt.rules.Lion``.

The files of this folder are the registry: a module's name is its rule's name in lower case.
A rule is loaded when it is first asked for.
"""

import collections
import importlib
import inspect
import pkgutil

#: One shipped rule: name, module, one-line summary, source, {hyper: default}, slots, capabilities.
Record = collections.namedtuple("Record", "name module summary source hypers slots capabilities")

_modules = sorted(module.name for module in pkgutil.iter_modules(__path__))


def names():
    """The names of the shipped rules, sorted."""
    return sorted((_load(module).__name__ for module in _modules), key=str.lower)


def catalogue():
    """A `Record` for each shipped rule, sorted by name.

    Capabilities are what the rule declares ("complex": complex variables are updated as pairs of
    reals that keep their phase; "random": draws random numbers; "averaged": the weights to
    evaluate with are not the trained ones) and what its declarations show: "shared" (scalars per
    optimizer), "global" (measures all variables before a step) and "shapes" (slots depend on
    the variable's shape).
    """
    return [_record(getattr(importlib.import_module(__name__), name)) for name in names()]


def _load(module):
    """The rule in the file `module`: the class whose name is the file's, up to case."""
    loaded = importlib.import_module("%s.%s" % (__name__, module))
    for name, value in vars(loaded).items():
        if name.lower() == module and inspect.isclass(value):
            return value
    raise ImportError("%s has no class named like the file." % loaded.__name__)


def _record(rule):
    documentation = inspect.getdoc(rule)
    summary, _, body = documentation.partition("\n")
    source = " ".join(body.partition("Source:\n")[2].split())
    hypers = {name: hyper.default for name, hyper in rule.hypers().items()}
    return Record(
        rule.__name__, rule.__module__, summary, source, hypers, list(rule.slots()), _capabilities(rule)
    )


def _capabilities(rule):
    found = list(getattr(rule, "capabilities", ()))
    if rule.shared():
        found.append("shared")
    if rule.overrides("measure"):
        found.append("global")
    if any(_by_shape(rule(), slot) for slot in rule.slots().values()):
        found.append("shapes")
    return tuple(found)


def _by_shape(rule, slot):
    """Whether some shapes have this slot and others do not, or it has a shape of its own."""
    having = [shape for shape in [(), (4,), (4, 3), (2, 4, 3)] if slot.exists_for(rule, shape)]
    own = any(slot.shape_for(shape) not in (shape, ()) for shape in having)
    return own or len(having) not in (0, 4)


def __getattr__(name):
    if name.lower() in _modules and not name.startswith("_"):
        rule = _load(name.lower())
        if rule.__name__ == name:
            return rule
    raise AttributeError("module %r has no rule %r" % (__name__, name))


def __dir__():
    return names() + ["Record", "catalogue", "names"]
