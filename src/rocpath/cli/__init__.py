"""The command ``rocpath``: run a command line, and turn what is wrong into one line."""

from __future__ import annotations

import os
import signal
import sys
import warnings
from typing import TYPE_CHECKING

from rocpath.cli.terminal import say

if TYPE_CHECKING:
    from collections.abc import Sequence
    from types import FrameType

_BAD_INPUT = 2
_SIGNALLED = 128  # and the number of the signal, as shells have it
_INTERRUPTED = _SIGNALLED + signal.SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of the process.

    Returns 0 if all went well, 2 for bad input, 130 if interrupted.
    """
    _open_missing_streams()
    # Called with arguments it is a function, and must leave the signals of its caller.
    if argv is None:
        signal.signal(signal.SIGINT, _interrupt)
        signal.signal(signal.SIGTERM, _terminate)
    try:
        # Inside, such that an extra that is missing becomes one line and not a trace.
        from rocpath.cli.commands import app

        with warnings.catch_warnings():
            warnings.showwarning = _note  # type: ignore[assignment]
            code = app(
                None if argv is None else list(argv),
                prog_name="rocpath",
                standalone_mode=False,
            )
        # Here and not at exit, where a closed pipe could only be complained about.
        sys.stdout.flush()
    except SystemExit as end:
        # Typer exits with an error when the reader of a pipe has left.
        if isinstance(end.__context__, BrokenPipeError):
            return _leave_pipe()
        return end.code if isinstance(end.code, int) else _BAD_INPUT
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        return _leave_pipe()
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is missing: pip install 'rocpath[cli]'")
    except (ImportError, ValueError, OSError, MemoryError) as error:
        return _fail(str(error) or type(error).__name__)
    except Exception as error:
        # Typer keeps its class of usage errors to itself.
        if not hasattr(error, "format_message"):
            raise
        return _fail(_usage(error))
    return code if isinstance(code, int) else 0


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Interrupt what runs; but an import ends at once, as a half of it complains."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        frame = frame.f_back
    raise KeyboardInterrupt


def _terminate(number: int, _: FrameType | None) -> None:
    """End in order, such that nothing half written remains."""
    sys.exit(_SIGNALLED + number)


def _open_missing_streams() -> None:
    """Let streams that the caller has closed give and take nothing."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _leave_pipe() -> int:
    """Let a reader go that has what it wants; what is still buffered goes nowhere."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _usage(error: Exception) -> str:
    message = str(error.format_message())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "rocpath"
    return f"{message.rstrip('.')}; see {command} --help"


def _fail(message: str) -> int:
    """Say what is wrong, in one line whatever the user's text holds."""
    say(f"rocpath: {' '.join(message.split())}")
    return _BAD_INPUT


def _note(message: Warning | str, *_: object) -> None:
    """Show a warning without the place in the code that it comes from."""
    say(f"rocpath: note: {' '.join(str(message).split())}")
