"""The command ``rocpath``: run a command line, and report errors in one line."""

import os
import signal
import sys
import warnings
from collections.abc import Sequence
from types import FrameType

from rocpath.cli.terminal import say

_BAD_INPUT = 2
_SIGNALED = 128  # plus the number of the signal, as in shells
# Substrings of the messages that libraries print if they cannot allocate memory.
_NOISE = (
    "memory allocation of",
    "OpenBLAS",
    "terminate called",
    "what():",
    "backtrace",
    "panicked",
    "RLIMIT_NPROC",
)
_INTERRUPTED = _SIGNALED + signal.SIGINT


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default with the arguments of the process.

    Returns the exit code: 0 on success, 2 for bad input, 130 if interrupted.
    """
    _open_missing_streams()
    if argv is None and _has_memory_limit():
        return _run_in_child()
    return _run(argv)


def _run(argv: Sequence[str] | None) -> int:
    # A caller that passes arguments keeps its own signal handlers.
    if argv is None:
        signal.signal(signal.SIGINT, _interrupt)
        signal.signal(signal.SIGTERM, _terminate)
    try:
        # Imported here, so that a missing extra is reported in one line.
        from rocpath.cli.commands import app

        with warnings.catch_warnings():
            warnings.showwarning = _note  # type: ignore[assignment]
            code = app(
                None if argv is None else list(argv), prog_name="rocpath", standalone_mode=False
            )
        # Typer converts an interrupt to an exit code.
        if code == _INTERRUPTED:
            raise KeyboardInterrupt
        # Flushed here, since a closed pipe cannot be handled at exit.
        sys.stdout.flush()
    except SystemExit as end:
        # Typer exits with an error if the reader has closed the pipe.
        if isinstance(end.__context__, BrokenPipeError):
            return _leave_pipe()
        return end.code if isinstance(end.code, int) else _BAD_INPUT
    except KeyboardInterrupt:
        say("rocpath: interrupted.")
        return _INTERRUPTED
    except BrokenPipeError:
        return _leave_pipe()
    except ModuleNotFoundError as error:
        return _fail(f"{error.name} is not installed: run pip install 'rocpath[cli]'")
    except (ImportError, ValueError, OSError, MemoryError) as error:
        return _fail(str(error) or "out of memory")
    except Exception as error:
        # Typer's class of usage errors is private.
        if not hasattr(error, "format_message"):
            raise
        return _fail(_usage(error))
    return code if isinstance(code, int) else 0


def _has_memory_limit() -> bool:
    try:
        import resource
    except ImportError:  # Windows has no such module
        return False
    return resource.getrlimit(resource.RLIMIT_AS)[0] != resource.RLIM_INFINITY


def _run_in_child() -> int:
    """Run the command in a child process.

    If memory is limited, compiled libraries may abort the process with messages of their
    own, which are replaced by one line.
    """
    # Each thread reserves memory, so libraries start only one.
    for name in ("OPENBLAS_NUM_THREADS", "POLARS_MAX_THREADS", "OMP_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        os.close(reading)
        os.dup2(writing, 2)
        code = _run(None)
        sys.stdout.flush()
        sys.stderr.flush()
        os._exit(code)
    os.close(writing)
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the child receives it too
    signal.signal(signal.SIGTERM, lambda number, _: os.kill(child, number))
    with open(reading, encoding="utf-8", errors="replace") as lines:
        for line in lines:
            if not any(noise in line for noise in _NOISE):
                sys.stderr.write(line)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    if code in (-signal.SIGABRT, -signal.SIGSEGV, -signal.SIGKILL, 1):
        say("rocpath: out of memory: raise the limit of the process (ulimit -v).")
        return 1
    return code if code >= 0 else _SIGNALED - code


def _interrupt(_: int, frame: FrameType | None) -> None:
    """Raise KeyboardInterrupt, or exit at once during an import."""
    while frame is not None:
        if frame.f_code.co_filename == "<frozen importlib._bootstrap>":
            say("rocpath: interrupted.")
            signal.signal(signal.SIGINT, signal.SIG_DFL)
            signal.raise_signal(signal.SIGINT)
        frame = frame.f_back
    raise KeyboardInterrupt


def _terminate(number: int, _: FrameType | None) -> None:
    """Raise SystemExit, so that half-written files are removed."""
    say("rocpath: terminated.")
    sys.exit(_SIGNALED + number)


def _open_missing_streams() -> None:
    """Open the null device in place of streams that the caller has closed."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115


def _leave_pipe() -> int:
    """Discard the remaining output after the reader has closed the pipe."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 0


def _usage(error: Exception) -> str:
    message = str(error.format_message())  # type: ignore[attr-defined]
    context = getattr(error, "ctx", None)
    command = context.command_path if context else "rocpath"
    # The shell has expanded a pattern to the names of the files.
    if "unexpected extra argument" in message:
        message += "; quote a pattern that stands for several files, such as 'parts/*.parquet'"
    return f"{message.rstrip('.')}; see {command} --help"


def _fail(message: str) -> int:
    """Report an error in one line, even if it contains line breaks."""
    say(f"rocpath: {' '.join(message.split())}")
    return _BAD_INPUT


def _note(message: Warning | str, *_: object) -> None:
    """Show a warning in one line, without the code that it comes from."""
    say(f"rocpath: note: {' '.join(str(message).split())}")
