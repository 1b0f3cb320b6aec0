"""What commands print with: tables, a progress line, and frameworks that keep quiet."""

import contextlib
import logging
import os
import shutil
import sys
import tempfile
import warnings

from compat_opt.errors import CommandError


def write_file(path, text):
    """Write a text file as it is; CommandError where that can't be."""
    try:
        with open(path, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
    except OSError as error:
        raise CommandError("%s can't be written." % path, "a file in a folder that exists", "%s: %s" % (type(error).__name__, error))


def table(rows, indent=""):
    """Rows of strings as lines with aligned columns; the first row is the head, underlined."""
    widths = [max(len(row[i]) for row in rows) for i in range(len(rows[0]))]
    lines = [indent + "  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip() for row in rows]
    return "\n".join([lines[0], indent + "  ".join("-" * width for width in widths)] + lines[1:])


class Progress:
    """One line that is written over, on a terminal only; nothing elsewhere."""

    def __init__(self, stream=None):
        self.stream = sys.stderr if stream is None else stream
        self.shown = self.stream.isatty()

    def show(self, text):
        """Replace the line."""
        if self.shown:
            width = shutil.get_terminal_size().columns - 1
            self.stream.write("\r" + text[:width].ljust(width))
            self.stream.flush()

    def clear(self):
        """Take the line away."""
        if self.shown:
            self.show("")
            self.stream.write("\r")
            self.stream.flush()


def quieten_frameworks():
    """Keep TensorFlow's start-up lines and retracing warnings out of a command's output.

    Called before a framework is imported. The commands do this; the library never does.
    """
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "0")
    for name in ("tensorflow", "absl", "jax"):
        logging.getLogger(name).setLevel(logging.ERROR)
    warnings.simplefilter("ignore")


@contextlib.contextmanager
def silent_stderr():
    """Swallow what native libraries write to the error output; it is shown if the body raises.

    TensorFlow's libraries write lines before they have read TF_CPP_MIN_LOG_LEVEL.
    """
    sys.stderr.flush()
    saved = os.dup(2)
    with tempfile.TemporaryFile() as swallowed:
        os.dup2(swallowed.fileno(), 2)
        try:
            yield
        except BaseException:
            swallowed.seek(0)
            os.write(saved, swallowed.read())
            raise
        finally:
            os.dup2(saved, 2)
            os.close(saved)
