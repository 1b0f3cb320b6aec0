"""What a cell of the matrix needs from pytest: which tests are its own, and its result as a JSON file."""

import collections
import importlib
import importlib.util
import json
import os
import platform

import pytest

try:
    import hypothesis
except ImportError:  # the cell without TensorFlow has pytest and NumPy only
    pass
else:  # tracing makes first examples slow, and a cell must give the same result twice
    hypothesis.settings.register_profile("cell", deadline=None, derandomize=True, database=None)
    hypothesis.settings.load_profile("cell")


def import_if_installed(name):
    """The module, or None if it is not installed; a broken installation raises."""
    return importlib.import_module(name) if importlib.util.find_spec(name) else None


def find_installed():
    """What this process really runs, found without compat_opt: a version or "-" for each name."""
    tensorflow = import_if_installed("tensorflow")
    # TF 2.0-2.5 have Keras inside, and a package `keras` beside them has no part in it. TF 2.13-2.15 and Keras 3.0
    # leave out `tf.keras.__version__`, and there the package `keras` is what runs.
    keras_version = getattr(getattr(tensorflow, "keras", None), "__version__", None)
    backend = "tensorflow" if tensorflow else "-"
    if keras_version is None or keras_version.startswith("3."):
        keras = import_if_installed("keras")
        keras_version = keras.__version__ if keras else "-"
        if keras_version.startswith("3."):
            backend = keras.backend.backend()
    return {
        "python": platform.python_version(),
        "tensorflow": getattr(tensorflow, "__version__", "-"),
        "keras": keras_version,
        "tf_keras": getattr(import_if_installed("tf_keras"), "__version__", "-"),
        "backend": backend,
    }


@pytest.fixture(scope="session")
def installed():
    return find_installed()


def pytest_configure(config):
    path = os.environ.get("COMPAT_OPT_CELL_RESULT")
    if path:
        config.pluginmanager.register(CellResult(path))


#: Markers of tests that a suite leaves out.
LEFT_OUT = {"core": ("long", "exhaustive"), "long": ("exhaustive",), "exhaustive": ()}

#: Folders of tests that no framework has a part in. They depend on the Python only: the cell without TensorFlow runs
#: all of them, the cells of Python 3.7 and 3.13 the short ones.
FRAMEWORK_FREE = ("codemod", "env", "export_source", "matrix", "rules", "state_files", "state_record", "structure")
FRAMEWORK_FREE_CELLS = (None, "no-tensorflow", "tf2.0", "tf2.20")

#: Folders of tests of what is built on compiled optimizers. They run in the cells whose suite is long, which are the
#: edges of the generations, and on the other backends.
EDGE_FOLDERS = ("bridge", "evaluation", "export", "schedules", "state")
EDGE_CELLS = (None, "keras3-jax", "keras3-torch")


def is_run_elsewhere(item, cell):
    """Whether it is a test of another target than the default in a cell that differs from another by its default.

    The laws are no such tests: they run on every target of every cell.
    """
    target = getattr(item, "callspec", None) and item.callspec.params.get("compat_opt_target")
    if not target or not (cell or "").endswith("-legacy-keras"):
        return False
    return target != importlib.import_module("compat_opt").default_target()


def is_folder_left_out(folder, suite, cell):
    """Whether no test of a folder runs in a cell."""
    if folder in EDGE_FOLDERS and (cell == "no-tensorflow" or suite == "core" and cell not in EDGE_CELLS):
        return True
    return folder in FRAMEWORK_FREE and suite != "exhaustive" and cell not in FRAMEWORK_FREE_CELLS


def is_left_out(item, suite):
    marked = [name for name in ("long", "exhaustive") if item.get_closest_marker(name)]
    if any(name in LEFT_OUT[suite] for name in marked):
        return True
    cell = os.environ.get("COMPAT_OPT_CELL")
    if suite != "exhaustive" and is_run_elsewhere(item, cell):
        return True
    folder = os.path.basename(os.path.dirname(str(item.fspath)))
    if is_folder_left_out(folder, suite, cell):
        return True
    return bool(marked) and folder in FRAMEWORK_FREE and suite != "exhaustive" and cell not in (None, "no-tensorflow")


def chosen_suite():
    return os.environ.get("COMPAT_OPT_SUITE") or "core"


def pytest_ignore_collect(collection_path):
    """Folders of which no test would run are not even imported."""
    if is_folder_left_out(collection_path.name, chosen_suite(), os.environ.get("COMPAT_OPT_CELL")):
        return True
    return None


def pytest_collection_modifyitems(config, items):
    suite, kept, deselected = chosen_suite(), [], []
    for item in items:
        (deselected if is_left_out(item, suite) else kept).append(item)
    config.hook.pytest_deselected(items=deselected)
    items[:] = kept


class CellResult:
    """Counts outcomes and writes them to `path` when the session ends."""

    def __init__(self, path):
        self.path = path
        self.outcomes = {}  # by node id; a failure in setup or teardown outranks the call
        self.skip_reasons = collections.Counter()
        self.deselected = 0

    def pytest_collectreport(self, report):
        if report.failed or report.skipped:  # a file that does not import, or that skips itself as a whole
            self.record(report)

    def pytest_runtest_logreport(self, report):
        if report.when == "call" or report.failed or report.skipped:
            self.record(report)

    def pytest_deselected(self, items):
        self.deselected += len(items)

    def record(self, report):
        if report.failed:
            outcome = "failed"
        elif hasattr(report, "wasxfail"):
            outcome = "xfailed"
        else:
            outcome = report.outcome
        if outcome == "skipped":
            reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else str(report.longrepr)
            prefix = "Skipped: "
            self.skip_reasons[reason[len(prefix) :] if reason.startswith(prefix) else reason] += 1
        if self.outcomes.get(report.nodeid) != "failed":
            self.outcomes[report.nodeid] = outcome

    def pytest_sessionfinish(self, exitstatus):
        result = {"cell": os.environ.get("COMPAT_OPT_CELL"), "exit_status": int(exitstatus)}
        result.update(find_installed())
        result.update(find_targets())
        for outcome in ("passed", "failed", "skipped", "xfailed"):
            result[outcome] = sum(value == outcome for value in self.outcomes.values())
        result["deselected"] = self.deselected
        result["laws_passed"] = sum(
            value == "passed" and node.startswith("tests/laws/") for node, value in self.outcomes.items()
        )
        result["failures"] = sorted(node for node, value in self.outcomes.items() if value == "failed")
        result["skips"] = [{"reason": r, "count": n} for r, n in sorted(self.skip_reasons.items())]
        with open(self.path, "w") as file:
            json.dump(result, file, indent=1)


def find_targets():
    """The targets of this environment; None where compat_opt cannot say, which test_cell.py makes a failure."""
    try:
        import compat_opt

        targets = sorted(str(target) for target in compat_opt.targets())
        default = str(compat_opt.default_target()) if targets else "-"
    except Exception:
        return {"targets": None, "default": None}
    return {"targets": targets, "default": default}
