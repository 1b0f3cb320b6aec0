"""The shipped rules, compiled for this environment's default target.

``from compat_opt.optimizers import AdamW`` gives a real optimizer class of the Keras API that is
installed; nothing is compiled before it is asked for.
"""

from compat_opt import rules


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError("module %r has no attribute %r" % (__name__, name))
    try:
        rule = getattr(rules, name)
    except AttributeError:
        raise AttributeError(_unknown(name))
    if name not in rules.names():
        raise AttributeError(_unknown(name))
    from compat_opt.adapters import compile_rule

    return compile_rule(rule)


def _unknown(name):
    from compat_opt.errors import closest

    return ("module %r has no optimizer %r. %s" % (__name__, name, closest(name, rules.names()))).strip()


def __dir__():
    return rules.names()
