"""Write a rule as the source of one optimizer class of one API, with no import of compat_opt: for those
who want no dependency, or want to contribute the optimizer upstream. The rule's names, structure and
comments survive, and the class computes what the compiled rule does.

RULE is the name of a shipped rule (Lion), or FILE.py or FILE.py:Name.

Exit codes: 0 written, 1 the rule has something that this API can't say (the reason and the line are
printed), 2 the command could not run: no such file, rule, target or hyperparameter.
"""

import ast
import os
import sys

from compat_opt import rules
from compat_opt.cli._rulefile import load_rules
from compat_opt.cli._terminal import write_file
from compat_opt.errors import CommandError, ExportError, closest
from compat_opt.export import export_rule, generations

SUMMARY = "a rule as a standalone optimizer class of one API"


def add_arguments(parser):
    """Declare the command's arguments."""
    parser.add_argument("rule", metavar="RULE", help="a shipped rule, or FILE.py[:Name]")
    parser.add_argument("--target", required=True, choices=generations(), help="the API to write for")
    parser.add_argument("-o", "--output", metavar="FILE", help="where to write; default: standard output")
    parser.add_argument(
        "--set",
        nargs="+",
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="hyperparameters: a static one (nesterov=true) is fixed, and the branches that it rules out are left "
        "out; another becomes the default",
    )


def run(arguments):
    """Write the class; the exit code says whether it could be written."""
    rule = find_rule(arguments.rule)
    settings = read_settings(rule, [pair for pairs in arguments.set for pair in pairs])
    try:
        text = export_rule(rule, arguments.target, settings)
    except ExportError as refusal:
        print("compat-opt export: %s" % refusal, file=sys.stderr)
        return 1
    if arguments.output:
        write_file(arguments.output, text)
    else:
        sys.stdout.write(text)
    return 0


def find_rule(text):
    """The rule class that RULE names.

    Raises:
        CommandError: there is none, or the file has several and none is named.
    """
    if text in rules.names():
        return getattr(rules, text)
    if not text.endswith(".py") and ".py:" not in text and not os.path.exists(text):
        raise CommandError(
            "There is no shipped rule %r." % text,
            "one of %s, or FILE.py:Name" % ", ".join(rules.names()),
            "RULE=%s" % text,
            closest(text, rules.names()),
        )
    found = load_rules(text)
    if len(found) > 1:
        names = [rule.__name__ for rule in found]
        raise CommandError(
            "%s has several rules." % text, "%s:Name with one of %s" % (text, ", ".join(names)), "RULE=%s" % text
        )
    return found[0]


def read_settings(rule, pairs):
    """{hyperparameter: value} of NAME=VALUE texts.

    Raises:
        CommandError: a text of another form, or a value of another type than the default's.
    """
    settings = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals or name not in rule.hypers():
            raise CommandError(
                "--set takes hyperparameters of %s." % rule.__name__,
                "NAME=VALUE with one of %s" % ", ".join(rule.hypers()),
                "--set %s" % pair,
                closest(name, rule.hypers()),
            )
        settings[name] = _value(rule, name, text)
    return settings


def _value(rule, name, text):
    words = {"true": True, "false": False, "none": None}
    default = rule.hypers()[name].default
    if text.lower() in words:
        value = words[text.lower()]
    else:
        try:
            value = ast.literal_eval(text)
        except (ValueError, SyntaxError):
            value = text
    if isinstance(default, float) and type(value) is int:
        value = float(value)
    if default is not None and value is not None and type(value) is not type(default):
        raise CommandError(
            "%s.%s is a %s." % (rule.__name__, name, type(default).__name__),
            "a value like %r" % (default,),
            "--set %s=%s" % (name, text),
        )
    return value
