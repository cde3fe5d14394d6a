"""Build every package, and try the wheels in clean environments: `make test-wheels`, or `python tools/wheels.py`.

Each package is built as an sdist, as a wheel from that sdist, and as a wheel from this tree: both wheels must hold the
same bytes, every file of the package, and its licences; and no file is in the wheels of two packages. Then the wheels
are installed into a fresh environment of each Python that is found, and `tools/smoke.py` uses them there, in an empty
folder, as a stranger would. Wants the package index for our dependencies, and takes some minutes.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections import Counter
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from zipfile import ZipFile

ROOT = Path(__file__).parents[1]
PROJECTS = (ROOT, *sorted((ROOT / "packages").iterdir()))
CLIENT = ROOT / "packages" / "memorist-client"
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
EXTRAS = "server,mcp,otel,postgres,agents,bench,import"
SMOKE = ROOT / "tools" / "smoke.py"


@dataclass(frozen=True)
class Wheel:
    """A wheel, and the project that it was built from."""

    path: Path
    project: Path

    @property
    def name(self) -> str:
        return self.path.name.partition("-")[0]

    @property
    def version(self) -> str:
        return self.path.name.split("-")[1]

    def digests(self) -> dict[str, str]:
        """The digest of each file in it."""
        with ZipFile(self.path) as archive:
            return {name: hashlib.sha256(archive.read(name)).hexdigest() for name in archive.namelist()}


def build(into: Path) -> list[Wheel]:
    """Every project as an sdist and a wheel; refuses wheels that lack something, and two with the same file."""
    wheels = [_built(project, into) for project in PROJECTS]
    times = Counter(chain.from_iterable(wheel.digests() for wheel in wheels))
    if shared := [name for name, count in times.items() if count > 1]:
        sys.exit(f"in two wheels: {', '.join(shared[:5])}")
    return wheels


def built(folder: Path) -> list[Wheel]:
    """The wheels in a folder, one per project."""
    named = {project: project.name.replace("-", "_") for project in PROJECTS[1:]}
    return [Wheel(next(folder.glob(f"{named.get(project, 'memorist')}-*.whl")), project) for project in PROJECTS]


def _built(project: Path, into: Path) -> Wheel:
    with tempfile.TemporaryDirectory() as folder:
        through, direct = Path(folder, "through"), Path(folder, "direct")
        _run(sys.executable, "-m", "build", "--outdir", through, project)
        _run(sys.executable, "-m", "build", "--wheel", "--outdir", direct, project)
        (wheel,), (other,) = (list(path.glob("*.whl")) for path in (through, direct))
        if faults := [*_differences(Wheel(wheel, project), Wheel(other, project)), *missing(Wheel(wheel, project))]:
            sys.exit(f"{wheel.name}: " + "; ".join(faults))
        for made in sorted(through.iterdir()):
            shutil.copy(made, into)
            print(f"built {made.name}, {made.stat().st_size / 1e6:.1f} MB", flush=True)
    return Wheel(into / wheel.name, project)


def _differences(one: Wheel, other: Wheel) -> list[str]:
    unlike = sorted({name for name, _ in one.digests().items() ^ other.digests().items()})
    return [f"the wheel of the sdist differs from that of the tree in {', '.join(unlike[:5])}"] if unlike else []


def missing(wheel: Wheel) -> list[str]:
    """What a wheel should hold and does not: files of the package that git tracks, and its licences."""
    wanted = packed(wheel.project)
    project = tomllib.loads((wheel.project / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    licences = [file for pattern in project["license-files"] for file in wheel.project.glob(pattern)]
    about = f"{wheel.name}-{wheel.version}.dist-info/licenses"
    wanted |= {f"{about}/{file.relative_to(wheel.project).as_posix()}" for file in licences}
    absent = sorted(wanted - wheel.digests().keys())
    return [f"it lacks {', '.join(absent[:5])}"] if absent else []


def packed(project: Path) -> set[str]:
    """The files of a project's package: those of `src` that git tracks; the core leaves some to the client."""
    source = ROOT if project == CLIENT else project
    listed = subprocess.run(["git", "ls-files", "src"], cwd=source, capture_output=True, text=True, check=True)
    names = set(listed.stdout.splitlines())
    if source == ROOT:
        of_client = within(names, files_of_client((ROOT / "pyproject.toml").read_text(encoding="utf-8")))
        names = of_client if project == CLIENT else names - of_client
    return {name.removeprefix("src/") for name in names}


def files_of_client(project: str) -> list[str]:
    """The files and folders that a `pyproject.toml` of memorist leaves to memorist-client."""
    wheel = tomllib.loads(project)["tool"]["hatch"]["build"]["targets"]["wheel"]
    return [name.removeprefix("/") for name in wheel.get("exclude", [])]


def within(names: set[str], places: list[str]) -> set[str]:
    """The names that are one of these files, or in one of these folders."""
    return {name for name in names for place in places if name == place or name.startswith(f"{place}/")}


def interpreters() -> dict[str, Path]:
    """The Pythons of this machine, by version: on the path, or of pyenv."""
    found: dict[str, Path] = {}
    for version in PYTHONS:
        pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions")
        named = shutil.which(f"python{version}")
        for python in (*sorted(pyenv.glob(f"{version}.*/bin/python"), reverse=True), *([Path(named)] if named else [])):
            if subprocess.run([python, "-c", "import ensurepip"], capture_output=True).returncode == 0:
                found[version] = python
                break
    return found


def try_out(python: Path, wheels: list[Wheel], dist: Path, *, every_set: bool) -> None:
    """Install the wheels with one Python, and use them; with `every_set`, every set of models too."""
    with tempfile.TemporaryDirectory() as folder:
        clean = {key: value for key, value in os.environ.items() if not key.startswith(("PYTHON", "MEMORIST", "OTEL"))}
        empty = Path(folder, "empty")
        empty.mkdir()
        _run(python, "-m", "venv", f"{folder}/venv")
        own = Path(folder, "venv", "bin", "python")
        extras = f"{EXTRAS},best,multilingual" if every_set else EXTRAS
        main = next(wheel for wheel in wheels if wheel.project == ROOT)
        wanted = f"memorist[{extras}] @ {main.path.as_uri()}"
        _run(own, "-m", "pip", "install", "--quiet", "--find-links", dist, wanted)
        _run(own, "-m", "pip", "check")
        expected = ["--version", main.version, *(["--every-set"] if every_set else [])]
        _run(own, "-I", "-W", "error", SMOKE, *expected, cwd=empty, env={**clean, "HOME": folder})


def _run(*command: object, cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    """Run a command quietly; show what it printed if it fails."""
    ran = subprocess.run(
        [str(member) for member in command],
        cwd=cwd,
        env=env,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )
    if ran.returncode:
        sys.exit(f"{' '.join(map(str, command))} failed:\n{ran.stdout}")


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--out", type=Path, help="keep the sdists and wheels in this folder")
    parser.add_argument("--python", action="append", choices=PYTHONS, help="try only this one; may be repeated")
    parser.add_argument("--built", type=Path, help="try the wheels in this folder instead of building them")
    parser.add_argument("--build-only", action="store_true", help="build and check the contents, install nothing")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(given.built or given.out or folder).resolve()
        out.mkdir(parents=True, exist_ok=True)
        wheels = built(out) if given.built else build(out)
        if given.build_only:
            return
        found = interpreters()
        for version in given.python or PYTHONS:
            if version in found:
                try_out(found[version], wheels, out, every_set=version == min(found))
            print(f"Python {version}: {f'works ({found[version]})' if version in found else 'not found, not tried'}")
        if not set(found) & set(given.python or PYTHONS):
            sys.exit("No Python was tried. Install one of " + ", ".join(PYTHONS) + ".")


if __name__ == "__main__":
    main()
