"""Write files completely or not at all.

Content is written under a random name in the same folder, flushed to the disk, and then
renamed, which is atomic. After an error, even on a full disk, or after a crash, the
target is as before.
"""

import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

Content = bytes | str | Callable[[Path], object]  # text is encoded as UTF-8

# An existing file is never opened, nor a symbolic link that somebody placed there.
_NEW_FILE = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)


def write_file(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file, or raise an OSError that names it and leave it as it was."""
    encoded = content.encode("utf-8") if isinstance(content, str) else content
    # A symbolic link is kept, and the file that it points to is replaced.
    target = Path(os.path.realpath(path))
    with _named_errors(path):
        if target.exists() and not target.is_file():  # a pipe or a device
            target.write_bytes(encoded)
            return
        with _temporary_name(target) as temporary:
            with open(os.open(temporary, _NEW_FILE, 0o666), "wb") as file:
                file.write(encoded)
                file.flush()
                os.fsync(file.fileno())
            with suppress(FileNotFoundError):
                # A file that only its owner may read stays private.
                temporary.chmod(stat.S_IMODE(target.stat().st_mode))
            _rename(temporary, target)


def write_files(path: str | os.PathLike[str], contents: Mapping[str, Content]) -> None:
    """Write several files, by name, into a new or an existing folder.

    A new folder appears with all files or not at all. In an existing one, no file is
    replaced before all are written, and other files are kept.
    """
    folder = Path(path).absolute()
    # The parent of an existing folder may not be writable.
    near = folder / "results" if folder.exists() else folder
    with _temporary_name(near) as temporary:
        with _named_errors(path):
            temporary.mkdir()
        for name, content in contents.items():
            _write_in(temporary, name, content, shown=Path(path) / name)
        with _named_errors(path):
            if folder.exists():
                _move_files(temporary, folder, contents)
            else:
                _rename(temporary, folder)


def _move_files(temporary: Path, folder: Path, names: Iterable[str]) -> None:
    for name in names:
        target = folder / name
        if target.parent != folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        _rename(temporary / name, target)


def _write_in(folder: Path, name: str, content: Content, *, shown: Path) -> None:
    target = folder / name
    with _named_errors(shown):
        if target.parent != folder:
            target.parent.mkdir(parents=True, exist_ok=True)
        if callable(content):
            content(target)
        else:
            write_file(target, content)


@contextmanager
def _temporary_name(target: Path) -> Iterator[Path]:
    """Yield an unused hidden name in the same folder, and remove what remains there."""
    # Renaming is atomic only within a file system. The name is random, because it must not
    # be predictable in a folder that others can write to.
    temporary = target.with_name(f".{target.name[:64]}.{secrets.token_hex(8)}.partial")
    try:
        yield temporary
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
        with suppress(OSError):
            temporary.unlink()


def _rename(temporary: Path, target: Path) -> None:
    temporary.replace(target)
    # The new name must reach the disk too; Windows cannot open folders.
    if os.name == "posix":
        folder = os.open(target.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


@contextmanager
def _named_errors(path: str | os.PathLike[str]) -> Iterator[None]:
    """Replace the message of an OSError by one that names the target."""
    try:
        yield
    except OSError as error:
        cause = error
        # The name of a temporary file in a folder is replaced by that of its target.
        while isinstance(cause.__cause__, OSError):
            cause = cause.__cause__
        reason = cause.strerror or cause
        named = type(cause)(f"{os.fspath(path)!r} cannot be written: {reason}.")
        named.errno = cause.errno
        raise named from cause
