"""Check the wheels in a folder: their names, the builds of the core, and other files.

``python .ci/check_wheels.py dist`` checks each wheel; ``--all`` also requires a wheel
for every Python of a release. A missing stable ABI is detected only here.
"""

import argparse
import re
import sys
import zipfile
from pathlib import Path

NAME = re.compile(
    r"rocpath-[^-]+-(?P<python>cp311-cp311|cp312-abi3|cp314-cp314t)-(?P<platform>.+)\.whl"
)
PYTHONS = {"cp311-cp311", "cp312-abi3", "cp314-cp314t"}


def suffix_of(python, platform):
    """Return how the file name of an extension in a wheel ends."""
    if platform.startswith("win"):
        # Windows has no suffix for the stable ABI.
        return ".pyd" if python == "cp312-abi3" else f".{python[:5]}"
    return {
        "cp311-cp311": ".cpython-311-",
        "cp312-abi3": ".abi3.so",
        "cp314-cp314t": ".cpython-314t-",
    }[python]


def defects(wheel):
    """Yield the defects of a wheel, one line each."""
    match = NAME.fullmatch(wheel.name)
    if match is None:
        yield "is for a Python that we do not build for"
        return
    python, platform = match["python"], match["platform"]
    if platform.startswith("linux"):
        yield "is for this machine only: it was not repaired by auditwheel"
    inside = [name.removeprefix("rocpath/") for name in zipfile.ZipFile(wheel).namelist()]
    is_x86 = "x86_64" in platform or "amd64" in platform
    for core in ["_cpu", "_core_base", *["_core_avx2"] * is_x86]:
        start = core + suffix_of(python, platform)
        if not any(name.startswith(start) for name in inside):
            yield f"has no {start}"
    for name in ("_core.py", "_core.pyi", "__init__.pyi", "py.typed"):
        if name not in inside:
            yield f"has no {name}"
    if any(re.match(r"_core\..*(so|pyd)$", name) for name in inside):
        yield "has a core for one machine only"
    if not any(name.endswith("/licenses/LICENSE") for name in inside):
        yield "has no license"


def main():
    """Print the defects of every wheel, and exit with 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--all", action="store_true", help="require every Python")
    arguments = parser.parse_args()
    wheels = sorted(arguments.folder.glob("*.whl"))
    problems = [f"{wheel.name} {defect}" for wheel in wheels for defect in defects(wheel)]
    matches = [NAME.fullmatch(wheel.name) for wheel in wheels]
    missing = PYTHONS - {match["python"] for match in matches if match}
    if arguments.all and missing:
        problems.append(f"there is no wheel for {', '.join(sorted(missing))}")
    if not wheels:
        problems.append(f"{arguments.folder} has no wheels")
    for line in problems or [f"{len(wheels)} wheels without defects"]:
        print(line)
    sys.exit(bool(problems))


if __name__ == "__main__":
    main()
