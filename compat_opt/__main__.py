"""``python -m compat_opt`` is the command ``compat-opt``."""

import sys

from compat_opt.cli import main

if __name__ == "__main__":
    sys.exit(main())
