"""Write tests/state/files anew: what each TensorFlow version really writes, small, with its provenance.

    python3 ci/make_state_files.py tf2.0=.tox/tf2.0/bin/python tf2.21=.tox/tf2.21/bin/python

Each argument is CELL=PYTHON; the environments are those of ci/run_matrix.py. state_files_here.py runs in each of them,
and what it writes replaces tests/state/files/CELL.
"""

import os
import subprocess
import sys
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
FILES = CHECKOUT / "tests" / "state" / "files"


def main(arguments):
    for argument in arguments:
        cell, _, python = argument.partition("=")
        environment = dict(os.environ, PYTHONPATH=str(CHECKOUT), TF_CPP_MIN_LOG_LEVEL="3", PYTHONDONTWRITEBYTECODE="1")
        command = [python, str(CHECKOUT / "ci" / "state_files_here.py"), str(FILES / cell)]
        finished = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        if finished.returncode:
            sys.exit("%s: exit code %d\n%s" % (cell, finished.returncode, finished.stdout.decode()[-3000:]))
        size = sum(path.stat().st_size for path in (FILES / cell).rglob("*") if path.is_file())
        print("%s: %d kB" % (cell, size // 1000), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
