"""Runs the scripts of examples/distribution as a user would, with a time limit."""

import json
import os
import subprocess
import sys

import numpy as np

EXAMPLES = os.path.join(os.path.dirname(__file__), "..", "..", "examples", "distribution")

#: Seconds for one script; launch.py ends itself, and its processes, before that.
LIMIT = 600


def run(script, *arguments, **environment):
    """What the script printed; fails with its output if it does."""
    command = [sys.executable, os.path.join(EXAMPLES, script)] + [str(each) for each in arguments]
    clean = {name: value for name, value in os.environ.items() if name != "TF_CONFIG"}
    process = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        env=dict(clean, TF_CPP_MIN_LOG_LEVEL="2", CUDA_VISIBLE_DEVICES="-1", **environment),
    )
    try:
        output = process.communicate(timeout=LIMIT)[0].decode(errors="replace")
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError("%s took longer than %d s:\n%s" % (script, LIMIT, process.communicate()[0][-3000:]))
    assert process.returncode == 0, output[-6000:]
    return output


class Result:
    """What a script has written: weights and state as arrays, facts as JSON."""

    def __init__(self, path):
        with np.load(str(path)) as file:
            self.facts = json.loads(str(file["facts"]))
            arrays = {name: file[name] for name in sorted(file.files) if name != "facts"}
        self.weights = [array for name, array in arrays.items() if name.startswith("weight")]
        self.state = [array for name, array in arrays.items() if name.startswith("state")]

    def flat_weights(self):
        """All weights end to end, the same for a variable in pieces and a whole one."""
        return np.concatenate([weight.ravel() for weight in self.weights])

    def assert_slots_beside_variables(self):
        placement = self.facts["placement"]
        assert placement, "no slots"
        for variable, slot, own, slots in placement:
            assert own and own == slots, "%s of %s is on %s, the variable on %s" % (slot, variable, slots, own)

    def devices(self):
        """The devices on which there are variables."""
        return {device for _, _, own, _ in self.facts["placement"] for device in own}
