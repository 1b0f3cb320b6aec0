"""Configurable: how a compiled optimizer is written into a config and read from one."""

import warnings

from compat_opt.adapters import config as configs
from compat_opt.adapters import sections
from compat_opt.adapters.arguments import strip_foreign_keys
from compat_opt.adapters.hypers import as_number


class Configurable:
    """The part of a compiled optimizer that has to do with configs."""

    def get_config(self):
        """The constructor's arguments as exact JSON; the same keys on every target."""
        core = self._core
        config = {"name": self._compat_name}
        for name, hyper in core.rule.hypers().items():
            if hyper.static:
                config[name] = configs.jsonable(getattr(core.rule, name))
            else:
                config[name] = self._hyper_config(core.hypers, name)
        if core.hypers.decay:
            config["decay"] = core.hypers.decay
        if len(core.sections) > 1:
            config["groups"] = [self._group_config(number) for number in range(1, len(core.sections))]
        config.update(core.options.as_dict())
        return config

    def _group_config(self, number):
        section = self._core.sections[number]

        def hyper_config(name):
            if name in section.hypers.sources:
                return self._hyper_config(section.hypers, name)
            return configs.jsonable(section.group.hypers[name])

        return sections.group_config(sections.as_group(self._core, number), hyper_config)

    def _hyper_config(self, hypers, name):
        number = hypers.number(name)
        source = hypers.sources[name]
        if number is not None or source.kind == "off":
            return number
        if source.kind == "schedule" and hasattr(source.value, "get_config"):
            return configs.schedule_config(source.value, hypers.owner, name)
        value = hypers.layout.to_float_now(hypers.get(name, self._core.iterations))
        if source.kind != "variable":
            warnings.warn(
                "%s.%s is a function, which a config can't hold; its present value %r is written."
                % (hypers.owner, name, value)
            )
        return value

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The optimizer that `config` describes, written by any generation of it.

        Args:
            config: what get_config() returned, or a native optimizer's of the same algorithm.
            custom_objects: {name: schedule class}, or None.
        """
        config = strip_foreign_keys(config)
        if "lr" in config:
            config["learning_rate"] = config.pop("lr")
        for name, value in config.items():
            if isinstance(value, dict) and "class_name" in value:
                config[name] = cls._read_schedule(value, custom_objects)
        if "groups" in config:
            config["groups"] = [
                sections.group_from_config(
                    group, lambda value: cls._read_schedule(value, custom_objects), custom_objects
                )
                for group in config["groups"] or ()
            ]
        return cls(**config)

    @classmethod
    def _read_schedule(cls, config, custom_objects=None):
        """The schedule that a config describes."""
        namespaces = cls.layout_class.schedule_namespaces(cls.target)
        return configs.schedule_from_config(config, namespaces, custom_objects)

    def _without_configs(self, given):
        """Numbers as Python numbers, and schedules given as config dicts as schedules."""
        declared, plain = self.rule_class.hypers(), {}
        for name, value in given.items():
            if not declared[name].static:
                if isinstance(value, dict) and "class_name" in value:
                    value = self._read_schedule(value)
                elif not isinstance(value, (int, float)):
                    number = as_number(value)
                    value = value if number is None else number
            plain[name] = value
        return plain
