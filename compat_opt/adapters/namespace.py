"""Namespace: what a rule sees as `hyper`, `slots` and `shared`."""

from compat_opt.errors import RuleError, closest


class Namespace:
    """Values by attribute; a missing name is an error that lists what there is."""

    def __init__(self, owner, label, values):
        self.__dict__["_owner"] = owner
        self.__dict__["_label"] = label
        self.__dict__["_values"] = dict(values)

    def add(self, name, value):
        """Make `value` readable as attribute `name`."""
        self._values[name] = value

    def add_all(self, values):
        """Make several values readable."""
        self._values.update(values)

    def get(self, name, default=None):
        """The value of `name`, or `default` where it is missing or None."""
        value = self._values.get(name)
        return default if value is None else value

    def __getattr__(self, name):
        try:
            return self._values[name]
        except KeyError:
            raise RuleError(
                "%s reads %s.%s, which is not there." % (self._owner, self._label, name),
                "one of %s" % ", ".join(sorted(self._values)) if self._values else "nothing",
                "%s.%s" % (self._label, name),
                closest(name, self._values) or "Declare it in the rule's class.",
            )

    def __setattr__(self, name, value):
        raise RuleError(
            "%s assigns to %s.%s; a rule is a pure function." % (self._owner, self._label, name),
            remedy="Return the new value from update() or prepare().",
        )

    def __getitem__(self, name):
        return getattr(self, name)

    def __contains__(self, name):
        return name in self._values

    def __iter__(self):
        return iter(self._values)

    def __len__(self):
        return len(self._values)
