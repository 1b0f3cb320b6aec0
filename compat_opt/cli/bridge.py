"""Run a script whose optimizer classes were written for an older Keras, unchanged, with today's models.

    compat-opt bridge run train.py --epochs 3

The script, and modules beside it, find the optimizer base classes that they were written for; nothing
else of the process does. See docs/bridge.md.

Exit codes: 0 the script ended; 2 it could not be run; else the script's own.
"""

import argparse

SUMMARY = "run a script with optimizers of an older Keras, unchanged"


def add_arguments(parser):
    """Declare the command's arguments."""
    actions = parser.add_subparsers(dest="action", metavar="ACTION", required=True)
    run_action = actions.add_parser("run", help="run a script")
    run_action.add_argument("--target", help="the optimizer API that models take; default: the default target")
    run_action.add_argument("script")
    run_action.add_argument("arguments", nargs=argparse.REMAINDER, help="passed to the script")


def run(arguments):
    """Run the script."""
    from compat_opt.bridge import run_script
    from compat_opt.env import find_target

    run_script(arguments.script, arguments.arguments, find_target(arguments.target) if arguments.target else None)
    return 0
