"""Run a script whose optimizer classes were written for an older Keras, unchanged, with today's models.

    compat-opt bridge run train.py --epochs 3

The script, modules beside it and packages named by --private find the optimizer base classes that they were
written for; nothing else of the process does. See docs/bridge.md.

Exit codes: 0 the script ended; 2 it could not be run; else the script's own.
"""

import argparse

SUMMARY = "run a script with optimizers of an older Keras, unchanged"


def add_arguments(parser):
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    run_action = actions.add_parser("run", help="run a script")
    run_action.add_argument("--target", help="the optimizer API that models take; default: the default target")
    run_action.add_argument(
        "--private", metavar="PACKAGE", action="append", default=[],
        help="an installed package with legacy classes that the script imports; may be given more than once",
    )  # fmt: skip
    run_action.add_argument("script")
    run_action.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to the script")


def run(arguments):
    """Run the script."""
    from compat_opt.bridge import run_script
    from compat_opt.env import find_target

    target = find_target(arguments.target) if arguments.target else None
    run_script(arguments.script, arguments.arguments, target, arguments.private)
    return 0
