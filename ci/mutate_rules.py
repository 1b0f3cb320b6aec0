"""Mutates every rule's syntax tree and requires that its oracle notices.

    python ci/mutate_rules.py [RULE ...] [--verbose]

One mutant at a time: a sign flipped, an operand dropped, two betas swapped, a constant changed,
max for min, a where or a root left out, a slot not returned, a flag negated. Each runs in NumPy
against the trajectory of tests/oracles; a mutant that agrees everywhere survives. Survivors that
compute the same function are listed with their reason in ci/equivalent_mutants.tsv. Exits 1 when
another one survives, or when a listed one is killed or gone.
"""

import argparse
import ast
import copy
import multiprocessing
import os
import sys
import time
import types

import numpy as np

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
sys.path[:0] = [os.path.join(ROOT, "tests", "rules"), ROOT]

from oracle_comparison import PROBLEMS, compare_evaluation, compare_slots, load_oracle, tolerance_of  # noqa: E402

from compat_opt import rules  # noqa: E402
from compat_opt.adapters.reference import run_reference  # noqa: E402
from compat_opt.testing.compare import assert_trajectories_close  # noqa: E402

EQUIVALENT = os.path.join(ROOT, "ci", "equivalent_mutants.tsv")
SWAPS = {
    "beta_1": "beta_2",
    "beta_2": "beta_1",
    "maximum": "minimum",
    "minimum": "maximum",
    "all": "any",
    "any": "all",
    "mean": "sum",
    "sum": "mean",
    "max": "min",
    "min": "max",
    "floor": "ceil",
    "logical_and": "logical_or",
    "logical_or": "logical_and",
    "greater": "less",
    "abs_square": "square",
}
TRANSPARENT = set(
    "sqrt abs square abs_square sign rsqrt exp log matrix_transpose tanh reciprocal sigmoid "
    "floor ceil tril triu log1p expm1 inv".split()
)
#: For real numbers the two are one function, and real() and conj() are none; the phase law in
#: tests/rules tells them apart.
SAME_FOR_REALS = {("abs_square", "square")}
BINARY = {ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult}
COMPARISONS = {
    ast.Lt: ast.GtE,
    ast.GtE: ast.Lt,
    ast.Gt: ast.LtE,
    ast.LtE: ast.Gt,
    ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq,
    ast.In: ast.NotIn,
    ast.NotIn: ast.In,
    ast.Is: ast.IsNot,
    ast.IsNot: ast.Is,
}


def number(node):
    """The number that `node` is, or None. Python 3.7 has ast.Num for it."""
    value = getattr(node, "n", None) if isinstance(node, getattr(ast, "Num", ())) else None
    if value is None and type(node).__name__ == "Constant":
        value = node.value
    return value if isinstance(value, (int, float)) and not isinstance(value, bool) else None


def replacements(node):
    """[(what, a new node)] for one node of an expression."""
    found = []
    if isinstance(node, ast.BinOp):
        other = BINARY.get(type(node.op))
        if other:
            changed = copy.copy(node)
            changed.op = other()
            found.append(("%s for %s" % (other.__name__, type(node.op).__name__), changed))
        found.append(("left of %s" % type(node.op).__name__, node.left))
        if not isinstance(node.op, (ast.Pow, ast.MatMult)):
            found.append(("right of %s" % type(node.op).__name__, node.right))
    elif isinstance(node, ast.UnaryOp):
        found.append(("no %s" % type(node.op).__name__, node.operand))
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in COMPARISONS:
        changed = copy.copy(node)
        changed.ops = [COMPARISONS[type(node.ops[0])]()]
        found.append(("%s for %s" % (type(changed.ops[0]).__name__, type(node.ops[0]).__name__), changed))
    elif isinstance(node, ast.Attribute) and node.attr in SWAPS:
        if (node.attr, SWAPS[node.attr]) not in SAME_FOR_REALS:
            changed = copy.copy(node)
            changed.attr = SWAPS[node.attr]
            found.append(("%s for %s" % (changed.attr, node.attr), changed))
    elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        name, arguments = node.func.attr, node.args
        if name in TRANSPARENT and len(arguments) == 1:
            found.append(("no %s" % name, arguments[0]))
        elif name == "where":
            found += [("where: first", arguments[1]), ("where: second", arguments[2])]
        elif name in ("maximum", "minimum"):
            found += [("%s: first" % name, arguments[0]), ("%s: second" % name, arguments[1])]
        elif name == "clip":
            found.append(("no clip", arguments[0]))
    elif isinstance(node, (ast.If, ast.IfExp)):
        changed = copy.copy(node)
        changed.test = ast.UnaryOp(ast.Not(), node.test)
        found.append(("if not", changed))
    elif isinstance(node, ast.Dict) and node.keys:
        for position in range(len(node.keys)):
            changed = copy.copy(node)
            changed.keys = node.keys[:position] + node.keys[position + 1 :]
            changed.values = node.values[:position] + node.values[position + 1 :]
            found.append(("without item %d" % position, changed))
    value = number(node)
    if value is not None:
        make = ast.Num if sys.version_info < (3, 8) else ast.Constant
        found.append(("%r for %r" % (_other(value), value), make(_other(value))))
    return found


def _other(value):
    if isinstance(value, int):
        return value + 1
    return value * 2 if value else 0.5


def parts(tree):
    """The nodes of a rule file that compute: bodies of functions, and declared first values."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef):
            for statement in node.body:
                yield from ast.walk(statement)
        elif isinstance(node, ast.ClassDef):
            for statement in node.body:
                value = getattr(statement, "value", None)
                if isinstance(statement, ast.Assign) and isinstance(value, ast.Call):
                    for argument in value.args[:1] + [k.value for k in value.keywords if k.arg != "check"]:
                        yield from ast.walk(argument)


def mutants(source):
    """(line number, what, syntax tree) of every mutant."""
    count = len(list(parts(ast.parse(source))))
    for position in range(count):
        node = list(parts(ast.parse(source)))[position]
        for choice in range(len(replacements(node))):
            tree = ast.parse(source)
            target = list(parts(tree))[position]
            what, new = replacements(target)[choice]
            new = ast.copy_location(new, target)
            for parent in ast.walk(tree):
                for field, value in ast.iter_fields(parent):
                    if value is target:
                        setattr(parent, field, new)
                    elif isinstance(value, list):
                        value[:] = [new if item is target else item for item in value]
            yield target.lineno, what, ast.fix_missing_locations(tree)


class Judge:
    """Tells whether a mutant of one rule agrees with the oracle on everything."""

    def __init__(self, name):
        oracle = load_oracle(name.lower())
        self.name, self.cases, self.tolerance = name, oracle.CASES, tolerance_of(oracle)
        self.oracle = oracle
        self.defaults = _defaults(getattr(rules, name))
        self.problems = {key: make() for key, make in PROBLEMS.items()}
        self.expected = {}
        for key, (variables, gradients) in self.problems.items():
            for position, case in enumerate(self.cases):
                self.expected[key, position] = oracle.trajectory(variables, gradients, **case)

    def survives(self, tree):
        module = types.ModuleType("compat_opt.rules." + self.name.lower())
        try:
            exec(compile(tree, module.__name__, "exec"), vars(module))
            rule = getattr(module, self.name)
            if _defaults(rule) != self.defaults:  # the test of docstrings notices
                return False
            for key, steps in [("ordinary", 5)] + [(key, None) for key in self.problems]:
                for position, case in enumerate(self.cases):
                    variables, gradients = self.problems[key]
                    actual = run_reference(rule, variables, gradients[:steps], **case)
                    wanted = self.expected[key, position][:steps]
                    assert_trajectories_close(actual, wanted, self.tolerance)
                    compare_slots(self.oracle, case, variables, gradients, actual)
                    compare_evaluation(rule, self.oracle, case, variables, gradients, actual)
        except Exception:  # a mutant that can't run is noticed too
            return False
        return True


def _defaults(rule):
    return {name: hyper.default for name, hyper in rule.hypers().items()}


def known_equivalents():
    """{(rule, line of source, what): reason}"""
    with open(EQUIVALENT, encoding="utf-8") as stream:
        rows = [line.rstrip("\n").split("\t") for line in stream if line.strip() and not line.startswith("#")]
    return {(rule, line, what): reason for rule, line, what, reason in rows}


def examine(name):
    """(name, number of mutants, [(line number, key)] of the survivors) of one rule."""
    np.seterr(all="ignore")
    with open(sys.modules[getattr(rules, name).__module__].__file__, encoding="utf-8") as stream:
        source = stream.read()
    judge, lines, count, survivors = Judge(name), source.splitlines(), 0, []
    if not judge.survives(ast.parse(source)):
        raise SystemExit("%s itself does not agree with its oracle" % name)
    for line, what, tree in mutants(source):
        count += 1
        if judge.survives(tree):
            survivors.append((line, (name, lines[line - 1].strip(), what)))
    return name, count, survivors


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("rules", nargs="*", help="names; all by default")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    parser.add_argument("--verbose", action="store_true", help="list the equivalent survivors too")
    options = parser.parse_args()
    chosen = options.rules or rules.names()
    known = {key: reason for key, reason in known_equivalents().items() if key[0] in chosen}
    unused, bad, totals, start = set(known), 0, [0, 0, 0], time.time()
    print("%-20s %8s %8s %10s %9s" % ("rule", "mutants", "killed", "equivalent", "survivors"))
    with multiprocessing.Pool(options.jobs) as pool:
        for name, count, survivors in pool.imap(examine, chosen):
            equivalent = [one for one in survivors if one[1] in known]
            survivors = [one for one in survivors if one[1] not in known]
            unused -= {key for _, key in equivalent}
            killed = count - len(equivalent) - len(survivors)
            print("%-20s %8d %8d %10d %9d" % (name, count, killed, len(equivalent), len(survivors)), flush=True)
            for line, key in survivors:
                print("    survives: line %d: %s   [%s]" % (line, key[1], key[2]))
            for line, key in equivalent if options.verbose else []:
                print("    equivalent: line %d: %s   [%s] %s" % (line, key[1], key[2], known[key]))
            bad += len(survivors)
            totals = [a + b for a, b in zip(totals, (count, killed, len(equivalent)))]
    for key in sorted(unused):
        print("listed as equivalent, but killed or gone: %s: %s [%s]" % key)
    seconds = time.time() - start
    print("%d mutants, %d killed, %d equivalent, %d survivors, %.0f s" % (*totals, bad, seconds))
    return 1 if bad or unused else 0


if __name__ == "__main__":
    sys.exit(main())
