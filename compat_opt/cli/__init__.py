"""The command ``compat-opt``: one file of this folder is one command.

A command's module has ``SUMMARY`` (one line), ``add_arguments(parser)`` and ``run(arguments)``, which returns
the exit code; its docstring is the command's help. Files whose names start with an underscore are no commands.
"""

import argparse
import importlib
import inspect
import pkgutil
import sys

from compat_opt._version import __version__
from compat_opt.errors import CompatOptError


def commands():
    """Names of the commands, sorted: the files of this folder."""
    return sorted(info.name for info in pkgutil.iter_modules(__path__) if not info.name.startswith("_"))


def main(arguments=None):
    """Run the command line.

    Args:
        arguments: a list of strings; default ``sys.argv[1:]``.

    Returns:
        The exit code: what the command returns (see its --help), and 2 when it could not run.
    """
    parser, modules = _parser()
    options = parser.parse_args(arguments)
    if options.command is None:
        parser.print_help()
        return 2
    try:
        return modules[options.command].run(options)
    except CompatOptError as error:
        print("compat-opt %s: %s" % (options.command, error), file=sys.stderr)
        return 2


def _parser():
    parser = argparse.ArgumentParser(
        prog="compat-opt",
        description="One update rule, and the optimizer classes of every Keras that it is compiled into.",
        epilog="Exit codes: those of the command, see `compat-opt COMMAND --help`; 2 where it could not run.",
    )
    parser.add_argument("--version", action="version", version="compat_opt " + __version__)
    added = parser.add_subparsers(dest="command", metavar="COMMAND", title="commands")
    modules = {}
    for name in commands():
        module = modules[name] = importlib.import_module("%s.%s" % (__name__, name))
        command = added.add_parser(
            name,
            help=module.SUMMARY,
            description=inspect.getdoc(module),
            formatter_class=argparse.RawDescriptionHelpFormatter,
        )
        module.add_arguments(command)
    return parser, modules
