"""Where the command ``rocpath`` begins: beside the package, whose imports take time.

While they run, Ctrl-C ends the process at once, without a trace.
"""

from __future__ import annotations

import os
import signal
import sys
from contextlib import suppress


def main() -> int:
    """Run the command line of the process; return its exit code."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    # Streams that the caller has closed give and take nothing.
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    from rocpath.cli import main as run

    # What is not installed the command will miss again, and say so.
    with suppress(ModuleNotFoundError):
        import rocpath.cli.commands  # noqa: F401
    signal.signal(signal.SIGINT, signal.default_int_handler)
    return run()
