"""An optimizer of Keras 2 or Keras 3 in a checkpoint: a list for each slot, and from TF 2.10 on one of everything."""

from compat_opt.errors import StateError
from compat_opt.state import natives
from compat_opt.state.files import names, shards
from compat_opt.state.natives.order import skeleton
from compat_opt.state.raw import RawState

#: Lists that are no slots: all of the optimizer's variables, the model's, and bookkeeping.
_NO_SLOTS = ("_variables", "_trainable_variables", "_trainable_variables_indices", "_index_dict")
#: Lists with a role of their own: (role, name).
_ROLES = {
    "_model_variables_moving_average": ("average", "average"),
    "_accumulated_gradients": ("accumulator", "gradient_accumulator"),
}


def read(reader, number, hints, generation):
    """The `RawState` of an optimizer.

    Args:
        reader: the `checkpoint.Reader`.
        number: of the optimizer's node.
        hints: the `Hints`.
        generation: "keras2" or "keras3".
    """
    return _Lists(reader, number, hints, generation).raw()


class _Lists:
    """One call of `read`."""

    def __init__(self, reader, number, hints, generation):
        self.reader, self.hints, self.generation = reader, hints, generation
        self.graph, self.node = reader.graph, reader.graph.nodes[number]
        self.everything = self._list("_variables")
        model = self._list("_trainable_variables")
        self.model = reader.variables([model[i] for i in sorted(model)])
        self.lists = {}
        for attribute, child in self.node.children.items():
            held = {} if attribute in _NO_SLOTS else self.graph.list_of(child)
            if held and all(self.graph.nodes[n].key for n in held.values()):
                self.lists[attribute] = held
        iterations = self.node.children["_iterations"]
        self.dialect = ""
        if generation == "keras2" and iterations not in self.everything.values():
            self.dialect = "experimental"
        held = {attribute: self.graph.nodes[min(held.values())].name for attribute, held in self.lists.items()}
        scalars = {n for name, n in self.node.children.items() if self.graph.nodes[n].key}
        listed = {n for held in self.lists.values() for n in held.values()}
        loose = [n for n in self.everything.values() if n not in listed | scalars]
        some = [self.graph.nodes[n].name for n in list(listed) + loose]
        self.class_name = names.class_name(
            generation,
            some[0] if some else self.graph.nodes[iterations].name,
            None if loose else {name: written for name, written in held.items() if name not in _ROLES},
            hints,
            dialect=self.dialect,
            extra=set(self.node.children),
        )
        self.native = natives.find(generation, self.class_name, self.dialect)
        self.entries, self.taken = [], set()
        self._add = reader.adder(self.entries)

    def _list(self, name):
        child = self.node.children.get(name)
        return {} if child is None else self.graph.list_of(child)

    def add(self, role, variable, name, number):
        """Add the entry of a node, once."""
        if number not in self.taken and self._add(role, variable, name, number):
            self.taken.add(number)

    def raw(self):
        """The `RawState`."""
        children = self.node.children
        self.add("iteration", None, "iteration", children["_iterations"])
        self.add("hyper", None, "learning_rate", children.get("_learning_rate"))  # the value of a schedule is none
        for name in self.native.shared:
            self.add("shared", None, name, children.get(name))
        paths = self._paths()
        for attribute, held in self.lists.items():
            role, name = _ROLES.get(attribute, ("slot", self.native.attributes.get(attribute, attribute)))
            for position in sorted(held):
                self.add(role, paths.get(position, position), name, held[position])
        self._others()
        variables = self.model or [(paths.get(i, "variable_%d" % i), None, None) for i in sorted(paths)]
        raw = RawState(
            self.generation, self.class_name, self._config(), self.entries, variables=variables, dialect=self.dialect
        )
        return shards.joined(raw, self.reader.axis_of)

    def _paths(self):
        """{position: path of the model's variable}: Keras 3 lists them; Keras 2's are in the names of the slots."""
        if self.model:
            return {position: v[0] for position, v in enumerate(self.model)}
        paths = {}
        for attribute, held in self.lists.items():
            name = _ROLES.get(attribute, (None, self.native.attributes.get(attribute, attribute)))[1]
            for position, number in held.items():
                path = names.variable_of(self.graph.nodes[number].name, name)
                if path and position not in paths:
                    paths[position] = path
        repeated = len(set(paths.values())) < len(paths)
        return {} if repeated else paths

    def _others(self):
        """What stands in the list of everything alone, as in Keras 3 what an optimizer keeps in dicts.

        It is named by its position, where the number of variables is the expected one, else by its name.
        """
        loose = [position for position in sorted(self.everything) if self.everything[position] not in self.taken]
        if not loose:
            return
        flat = {v[0].replace("/", "_"): v[0] for v in self.model}
        order = skeleton(self.generation, self.class_name, self.hints.config, self.model).entries
        for position in loose:
            number = self.everything[position]
            written = self.graph.nodes[number].name
            slot, path = names.split_flat(written, self.native.slots, flat)
            if len(order) == len(self.everything) and order[position].role == "slot":
                slot, path = order[position].name, self.model[order[position].variable][0]
            if slot is None:
                self.add("unknown", None, written or "_variables/%d" % position, number)
            else:
                self.add("slot", path, slot, number)

    def _config(self):
        if "_accumulated_gradients" in self.lists and "gradient_accumulation_steps" not in self.hints.config:
            raise StateError(
                "The checkpoint %s has gradients in accumulation, and does not say over how many steps."
                % self.reader.bundle.prefix,
                'config={"gradient_accumulation_steps": N}',
            )
        return self.hints.config
