"""MirroredStrategy on two logical CPUs: equal to one process on the summed gradients."""

import json
import os
import subprocess
import sys

import pytest

#: As in replicas.py, which this process can't import: it imports TensorFlow.
NAMES = (
    ["loop " + case for case in "momentum clipnorm global_clipnorm weight_decay ema_overwrite accumulation shared".split()]
    + ["loop " + case for case in "lookahead moving_average swa cautious centralize noise".split()]
    + ["loop accumulated lookahead", "loop average of weights"]
    + ["loop multiplier", "loop group decay", "loop group rule", "loop group transform"]
    + ["sparse loop " + case for case in "momentum clipnorm ema_overwrite accumulation lookahead".split()]
    + ["sparse loop group rule"]
    + ["moved loop " + case for case in "shared ema_overwrite".split()]
    + ["fit " + case for case in "clipnorm weight_decay ema_overwrite accumulation embedding group".split()]
)

_RESULTS = {}


def results_of(target):
    """{scenario: "passed" or a traceback}, from one process for all scenarios of a target."""
    if target.backend != "tensorflow":
        pytest.skip("no tf.distribute on the backend %s" % target.backend)
    if target not in _RESULTS:
        folder = os.path.dirname(os.path.abspath(__file__))
        path = [folder, os.path.dirname(folder)] + [p for p in [os.environ.get("PYTHONPATH")] if p]
        environment = dict(os.environ, PYTHONPATH=os.pathsep.join(path))
        done = subprocess.run(
            [sys.executable, os.path.join(folder, "replicas.py"), target.key],
            env=environment,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            universal_newlines=True,
            timeout=600,
        )
        lines = [line for line in done.stdout.splitlines() if line.startswith("RESULTS ")]
        assert lines, done.stdout[-4000:]
        _RESULTS[target] = json.loads(lines[0][len("RESULTS ") :])
    return _RESULTS[target]


@pytest.mark.long
@pytest.mark.parametrize("scenario", NAMES)
def test_two_replicas_are_one_process_on_the_sum(compat_opt_target, scenario):
    """Clipping, decay, averages and accumulation act on the sum; both copies are equal; one step is counted."""
    outcome = results_of(compat_opt_target)[scenario]
    if outcome.startswith("skipped: "):
        pytest.skip(outcome[len("skipped: ") :])
    assert outcome == "passed", outcome
