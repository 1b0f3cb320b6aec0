"""The object graph of a checkpoint: which object hangs on which, and under which key its numbers are.

Source: https://github.com/tensorflow/tensorflow/blob/master/tensorflow/core/protobuf/trackable_object_graph.proto
"""

import collections

from compat_opt.errors import StateError
from compat_opt.state.files.protobuf import fields, integer, text

#: Where a checkpoint keeps its graph, and what the values of a variable and of a Python object are called in it.
KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"
VALUE = "VARIABLE_VALUE"
PYTHON = "py_state"
SUFFIX = "/.ATTRIBUTES/" + VALUE

#: A slot of OptimizerV2: numbers of the nodes of the model's variable and of the slot, and its name.
Slot = collections.namedtuple("Slot", "variable name slot")


class Node:
    """One object.

    Attributes:
        children: {name: number of the node}.
        key: key of its value in the checkpoint, or None; `text_key` of a Python object's.
        name: full name of the variable, or "".
        slots: a list of `Slot`, of an optimizer of OptimizerV2.
    """

    def __init__(self, children=None, key=None, name="", slots=(), text_key=None):
        self.children = collections.OrderedDict(children or {})
        self.key = key
        self.name = name
        self.slots = list(slots)
        self.text_key = text_key


class Graph:
    """All nodes; number 0 is the root.

    Args:
        data: the serialized graph; None makes one with a root only.

    Raises:
        StateError: the data are no graph.
    """

    def __init__(self, data=None):
        self.nodes = [Node()] if data is None else [_node(part) for part in fields(data).get(1, ())]
        count = len(self.nodes)
        for node in self.nodes:
            numbers = list(node.children.values()) + [n for s in node.slots for n in (s.variable, s.slot)]
            if any(number >= count for number in numbers):
                raise StateError("a reference to an object that is not there")

    def child(self, number, *names):
        """The number of the node that a path of names leads to, or None."""
        for name in names:
            if number is None:
                return None
            number = self.nodes[number].children.get(name)
        return number

    def list_of(self, number):
        """Numbers of the nodes that a list holds: {position: number}."""
        return {int(name): child for name, child in self.nodes[number].children.items() if name.isdigit()}

    def in_model_order(self, numbers):
        """Numbers of variables in the order of Keras: a layer's own before those of what hangs on it, a model's own after.

        The file does not say what is a model: the root and what hangs on it count as such.
        """
        found, stack = {}, [(0, 0)]
        while stack:
            number, depth = stack.pop()
            if number not in found:
                found[number] = len(found)
                below = self.nodes[number].children.values()
                turns = sorted(below, key=lambda n: bool(self.nodes[n].key) == (depth < 2))  # noqa: B023
                stack.extend((n, depth + 1) for n in reversed(turns))
        return sorted(numbers, key=found.get)

    def paths(self):
        """{number: [paths from the root, the shortest first]}, each a string with slashes."""
        found, queue = collections.OrderedDict({0: [""]}), collections.deque([(0, "", (0,))])
        seen = 0
        while queue:
            number, path, trail = queue.popleft()
            for name, child in self.nodes[number].children.items():
                seen += 1
                if child in trail or seen > 100000:
                    continue
                longer = path + "/" + name if path else name
                first = child not in found
                found.setdefault(child, []).append(longer)
                if first:
                    queue.append((child, longer, trail + (child,)))
        return found


def _node(data):
    message = fields(data)
    children = [fields(part) for part in message.get(1, ())]
    values = [fields(part) for part in message.get(2, ())]
    key, name, text_key = None, "", None
    for value in values:
        if text(value, 1) == VALUE:
            key, name = text(value, 3), text(value, 2)
        elif text(value, 1) == PYTHON:
            text_key = text(value, 3)
    slots = [fields(part) for part in message.get(3, ())]
    return Node(
        [(text(child, 2), integer(child, 1)) for child in children],
        key,
        name,
        [Slot(integer(slot, 1), text(slot, 2), integer(slot, 3)) for slot in slots],
        text_key,
    )
