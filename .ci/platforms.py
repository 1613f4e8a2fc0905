"""Build the core for every platform and compare the answers bit by bit.

``python .ci/platforms.py [NAME ...]`` compiles two programs for each platform, runs
them under an emulator where this processor cannot, and prints a table. ``digest``
prints hashes of the answers, which must be those of GCC on x86-64. ``check`` compares
the searches with brute force in exact arithmetic (tests/fuzz/README.md).

Debian packages: g++-aarch64-linux-gnu qemu-user g++-mingw-w64-x86-64-posix wine64
libboost-dev; and ``ziglang`` of PyPI. A platform without its tools is skipped,
which is an error where the environment variable CI is set.
"""

import os
import shutil
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent
OUT = ROOT / "build" / "platforms"
# Boost of Debian 12 uses std::unary_function, which newer C++ libraries do not have.
BOOST = "-DBOOST_NO_CXX98_FUNCTION_BASE"
FLAGS = ("-std=c++20", "-O2", "-ffp-contract=off", "-Wall", "-Wextra", BOOST)
FMA = ("-mfma", "-mavx2")
ZIG = (sys.executable, "-m", "ziglang", "c++")


@dataclass(frozen=True)
class Platform:
    """A compiler, and how its programs run: nothing, an emulator, or not at all."""

    name: str
    compiler: tuple[str, ...]
    runner: tuple[str, ...] | None = ()
    n_problems: int = 0  # for the checker; 0 skips it
    may_crash_at_end: bool = False  # the emulator, after the program has printed everything

    def is_available(self):
        """Tell whether its compiler and emulator are installed."""
        tools = (self.compiler[0], *(self.runner or ())[:1])
        has_zig = (
            self.compiler[:3] != ZIG[:3]
            or not subprocess.run(
                [*ZIG[:3], "version"], capture_output=True, check=False
            ).returncode
        )
        return has_zig and all(shutil.which(tool) for tool in tools)

    def program(self, source):
        """Return the path of a compiled program."""
        return OUT / f"{source}-{self.name.replace(' ', '-').replace(',', '')}.exe"

    def build(self, source):
        """Compile a program of tests/fuzz."""
        command = [*self.compiler, *FLAGS, "-I", ROOT / "cpp", "-isystem", OUT / "include"]
        file = ROOT / "tests" / "fuzz" / f"{source}.cpp"
        return run([*command, file, "-o", self.program(source)])

    def run(self, source, *options):
        """Run a compiled program and return what it prints."""
        command = [*self.runner, self.program(source), *options]
        return run(command, {"WINEDEBUG": "-all"}, may_crash=self.may_crash_at_end)


PLATFORMS = (
    Platform("Linux x86-64, GCC", ("g++", "-pthread", *FMA), (), 100_000),
    Platform(
        "Linux x86-64 without FMA, GCC", ("g++", "-pthread", "-D_GLIBCXX_ASSERTIONS"), (), 50_000
    ),
    Platform(
        "Linux x86-64, Clang and libc++", (*ZIG, "-target", "x86_64-linux-musl", *FMA), (), 50_000
    ),
    Platform("Linux ARM64, GCC", ("aarch64-linux-gnu-g++", "-static"), ("qemu-aarch64",), 20_000),
    Platform(
        "Windows x86-64, MinGW GCC",
        ("x86_64-w64-mingw32-g++-posix", "-static", *FMA),
        ("wine",),
        20_000,
    ),
    Platform("macOS ARM64, Clang", (*ZIG, "-target", "aarch64-macos"), None),
    Platform("macOS x86-64, Clang", (*ZIG, "-target", "x86_64-macos", *FMA), None),
    # Node 20 sometimes crashes after the last digest; the number of digests is compared.
    Platform(
        "WebAssembly (WASI), Clang",
        (*ZIG, "-target", "wasm32-wasi"),
        ("node", ".ci/run_wasi.mjs"),
        may_crash_at_end=True,
    ),
)


def run(command, environment=None, *, may_crash=False):
    """Run a command; return its output, or raise with the end of it."""
    done = subprocess.run(
        [str(word) for word in command],
        env=os.environ | (environment or {}),
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode and not (may_crash and done.stdout):
        end = "\n".join((done.stdout + done.stderr).splitlines()[-15:])
        raise RuntimeError(f"{command[0]} ended with {done.returncode}:\n{end}")
    return done.stdout.replace("\r\n", "\n")


def result(platform, expected):
    """Build and run one platform; return what the digests and the checker show."""
    platform.build("digest")
    if platform.runner is None:
        return "compiled, not run", "not run"
    lines = platform.run("digest").splitlines()
    wrong = [line for line in lines if line not in expected] if expected else []
    if len(lines) != len(expected or lines) or wrong:
        raise RuntimeError("other answers than GCC on x86-64:\n" + "\n".join(wrong))
    shown = f"{len(lines)} digests equal" if expected else f"{len(lines)} digests"
    if not platform.n_problems:
        return shown, "not run"
    platform.build("main")
    options = ("--seed", "1", "--problems", str(platform.n_problems))
    return shown, platform.run("main", *options).splitlines()[-1]


def row(platform, expected):
    """Return one line of the table, and whether all is well."""
    if not platform.is_available():
        return (
            f"| {platform.name} | skipped: no compiler or emulator | |",
            not os.environ.get("CI"),
        )
    start = time.monotonic()
    try:
        digests, checker = result(platform, expected)
    except RuntimeError as error:
        print(f"{platform.name}: {error}", file=sys.stderr)
        return f"| {platform.name} | FAILED | |", False
    print(f"{platform.name}: {time.monotonic() - start:.0f} s", file=sys.stderr)
    return f"| {platform.name} | {digests} | {checker} |", True


def main(names):
    """Print the table, and return 1 if a platform failed."""
    (OUT / "include").mkdir(parents=True, exist_ok=True)
    # Boost alone: other headers of this system are not for other platforms.
    boost = OUT / "include" / "boost"
    if not boost.exists():
        boost.symlink_to("/usr/include/boost")
    first, *others = PLATFORMS
    rows = [row(first, None)]
    expected = first.run("digest").splitlines() if rows[0][1] else []
    chosen = [one for one in others if not names or any(n in one.name for n in names)]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        rows += pool.map(lambda one: row(one, expected), chosen)
    print("| platform | answers | checker |\n|---|---|---|")
    print("\n".join(line for line, _ in rows))
    return 0 if all(is_well for _, is_well in rows) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
