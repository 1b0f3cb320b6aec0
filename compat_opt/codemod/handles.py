"""The variable and its slots: what they hold now, and the lines that give them new values."""

import ast
import keyword

from compat_opt.codemod.calls import Calls
from compat_opt.codemod.program import Line
from compat_opt.codemod.syntax import is_literal, names_in, write
from compat_opt.codemod.values import DICT, HANDLE, LIST, ROWS, SCALAR, STATIC, TENSOR, UNKNOWN, Refused, Value, named

#: Names that have a meaning of their own in a rule's methods.
TAKEN = {"self", "grad", "var", "slots", "hyper", "ops", "shared", "new_slots", "touched", "step"}


class Frame:
    """The names of one call: of the hook itself, or of a method or function that is followed inside it."""

    def __init__(self, env, module, class_name=None, outer=None, depth=0):
        self.env, self.module, self.class_name, self.outer, self.depth = env, module, class_name, outer, depth
        self.called_at = outer.called_at if outer is not None else None

    def inner(self):
        """A frame for a comprehension: the same names, and its own."""
        return Frame(dict(self.env), self.module, self.class_name, self, self.depth)


class Handles(Calls):
    """Keeps what each handle holds, and writes lines down under names that are free."""

    def current(self, key, node):
        """What a handle holds now."""
        if self.deferred and key in self.updated:
            raise Refused("a variable is read after its update was queued; the order in which they run is open", node)
        if key in self.now:
            if self.now[key].kind == UNKNOWN:
                raise Refused(self.now[key].data, node)
            return self.now[key]
        if key == "var":
            return named(TENSOR, "var")
        if key == "grad":
            return named(ROWS if self.sparse else TENSOR, "grad")
        return named(TENSOR, "slots." + self.model.slot(key, node).name)

    def assign(self, handle, value, node):
        """Give a handle a new value; returns it."""
        if handle.kind != HANDLE:
            raise Refused("something other than the variable or a slot is assigned", node)
        if value.kind == ROWS:
            raise Refused("rows of a sparse gradient are assigned to a whole variable", node)
        key = handle.data
        if key in self.two_names:
            raise Refused("a variable is assigned after an if that has given it a second name", node)
        self.last_assigned = value.node
        if not isinstance(value.node, ast.Name) or value.text() in ("grad", "var"):
            wanted = "new_var" if key == "var" else self.model.slot(key, node).name
            if self.hint and self.hint[0] is node:
                wanted = self.hint[1]
            value = self.emit(wanted, Value(TENSOR, value.node))
        self.now[key] = Value(TENSOR, value.node, key)
        self.updated.add(key)
        return self.now[key]

    # -- lines ---------------------------------------------------------------------------------

    def emit(self, name, value):
        """Write ``name = value`` down, under another name where `name` is still needed; returns the local."""
        name = self.free_name(name)
        line = Line(name, value.node, value.kind if value.kind in (SCALAR, STATIC) else "tensor")
        line.comments, self.pending = self.pending, []
        self.out.append(line)
        self.taken.add(name)
        return Value(value.kind, ast.Name(name, ast.Load()), value.data)

    def free_name(self, name):
        """`name`, or `name` with a number where a value that is still needed has it."""
        name = name.lstrip("_") or "value"
        if name == "grad" and not self.always_fresh and not self._is_needed("grad"):
            return name
        if name != "grad" and (name in TAKEN or keyword.iskeyword(name)):
            name += "_"
        base, number = name, 1
        while (name in self.taken and (self.always_fresh or self._is_needed(name))) or name in TAKEN:
            number += 1
            name = "%s_%d" % (base, number)
        return name

    def _is_needed(self, name):
        frame = self.frame
        owner = self.target
        while frame is not None:
            if any(_mentions(value, name) for key, value in frame.env.items() if frame is not self.frame or key != owner):
                return True
            frame = frame.outer
        if any(_mentions(value, name) for value in self.now.values()):
            return True
        return _mentions(self.state, name)

    target = last_assigned = None


def _mentions(value, name):
    if value.node is not None and name in names_in(value.node):
        return True
    if value.kind == DICT:
        return any(_mentions(v, name) for v in value.data.values())
    if value.kind == LIST and isinstance(value.data, list):
        return any(_mentions(v, name) for v in value.data)
    return False


def is_atom(node):
    """Whether an expression is as short as a name: a name, a hyper, a slot, a number."""
    if is_literal(node) or isinstance(node, ast.Name):
        return True
    if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
        return node.value.id in ("hyper", "slots", "self")
    return write(node) == "hyper.step - 1"
