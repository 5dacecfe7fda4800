"""README's two commands on a machine that has Python and make and little else.

Bubblewrap builds the machine from parts of this one: a root of its own with the C library, a shell, a few coreutils, make and
Python (no git, no browser, no compiler, no npm); a user without rights; a home that cannot be written; other locales; a folder
whose name has spaces and umlauts; umask 077. The project's tracked files are copied into it, so nothing that lies about in a
working tree can help. The network is not restricted: see `describe_network`.

    python -m tests.hostile.clean_machine --locale turkish             # make demo
    python -m tests.hostile.clean_machine --locale posix --target test # make test, a quarter of an hour
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.hostile.section import Chunk, Section
from tests.paths import ROOT

TEMPORARY: Final = "/tmp"  # noqa: S108 - that of the clean machine, its own
FOLDER: Final = "/srv/Größe und Maß/possnet – Übung"
TOOLS: Final = ("make", "sh", "env", "rm", "touch", "mkdir", "cp", "cat", "ls", "true", "uname", "id", "test")
HOME: Final = "/home/gast"
UID: Final = 1000


@dataclass(frozen=True, slots=True)
class Locale:
    """A locale by name: its variables, and what ``localedef`` makes it from where it has to be made."""

    variables: dict[str, str]
    source: tuple[str, str] | None = None


LOCALES: Final = {
    "turkish": Locale({"LC_ALL": "tr_TR.UTF-8"}, ("tr_TR", "UTF-8")),  # "I".lower() of C libraries, decimal comma
    "posix": Locale({"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0", "PYTHONUTF8": "0"}),  # ASCII by default
    "latin1": Locale({"LC_ALL": "de_DE.ISO-8859-1"}, ("de_DE", "ISO-8859-1")),
}


def copy_project(target: Path) -> None:
    """The tracked files as they are in the working tree, and nothing else."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True).stdout
    for name in listed.decode().split("\0"):
        if name and (ROOT / name).is_file():
            (target / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, target / name)


def make_locale(locale: Locale, folder: Path) -> str:
    """Make the locale in a folder; a reason why it cannot be made, or nothing."""
    folder.mkdir()
    if locale.source is None:
        return ""
    language, charset = locale.source
    words = ["localedef", "-i", language, "-f", charset, str(folder / locale.variables["LC_ALL"])]
    made = subprocess.run(words, capture_output=True, text=True, check=False)
    return "" if any(folder.iterdir()) else f"localedef: {made.stderr.strip()[:200]}"


def list_pip_settings() -> tuple[dict[str, str], list[str]]:
    """Variables that tell pip and uv where packages are, and the files and folders that they or pip's files name."""
    pattern = re.compile(r"(PIP|UV)_|(https?|all|no)_proxy$|SSL_CERT_(FILE|DIR)$|REQUESTS_CA_BUNDLE$", re.IGNORECASE)
    variables = {name: value for name, value in os.environ.items() if pattern.match(name) and name != "UV_CACHE_DIR"}
    told = subprocess.run([sys.executable, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False)
    words = re.findall(r"(?:file://)?(/[^\s'\",]+)", told.stdout + " ".join(variables.values()))
    paths = [Path(word) for word in words if Path(word).exists()]
    # An index that is a folder (.../simple) names files beside it.
    places = list(dict.fromkeys(str(path.parent if path.name == "simple" else path) for path in paths))
    return variables, places


def write_etc(folder: Path) -> None:
    """A user without rights, names of hosts, and pip's settings for the whole machine."""
    folder.mkdir()
    (folder / "passwd").write_text(f"gast:x:{UID}:{UID}::{HOME}:/bin/sh\n", encoding="utf-8")
    (folder / "group").write_text(f"gast:x:{UID}:\n", encoding="utf-8")
    for name in ("resolv.conf", "hosts", "nsswitch.conf", "pip.conf", "host.conf"):
        if Path("/etc", name).exists():
            shutil.copy(Path("/etc", name), folder / name)
    own = Path.home() / ".config/pip/pip.conf"
    if own.exists():  # the settings of whoever runs this are those of that machine
        shutil.copy(own, folder / "pip.conf")


def bind_python() -> Iterator[str]:
    """Python as it is installed here, at the place where it is installed; it may be below a home that is not bound."""
    prefix = Path(sys.base_prefix)
    if prefix != Path("/usr"):
        yield from ("--ro-bind", str(prefix), str(prefix))
        return
    for name in (
        "bin/python3",
        f"bin/python3.{sys.version_info.minor}",
        f"lib/python3.{sys.version_info.minor}",
        "lib/python3",
    ):
        if (prefix / name).exists():
            yield from ("--ro-bind", str((prefix / name).resolve()), f"/usr/{name}")


def bind_system() -> Iterator[str]:
    """The C library and its neighbours, a shell, a few tools."""
    for folder in ("/lib", "/lib64"):
        if Path(folder).is_symlink():
            yield from ("--symlink", str(Path(folder).readlink()), folder)
        elif Path(folder).exists():
            yield from ("--ro-bind", folder, folder)
    for libraries in (*sorted(Path("/usr/lib").glob("*-linux-gnu*")), Path("/usr/lib64")):
        if libraries.is_dir():
            yield from ("--ro-bind", str(libraries), str(libraries))
    for tool in TOOLS:
        path = shutil.which(tool, path="/usr/bin:/bin")
        if path:
            yield from ("--ro-bind", str(Path(path).resolve()), f"/usr/bin/{tool}")
    yield from ("--symlink", "usr/bin", "/bin")


def build_command(scratch: Path, locale: Locale, target: str) -> list[str]:
    """The whole bubblewrap command: the machine, its user, and what is run there."""
    user = f"--uid {UID} --gid {UID} --cap-drop ALL --new-session --die-with-parent"
    words = ["bwrap", *f"--unshare-all --share-net {user}".split()]
    words += f"--clearenv --hostname leer --proc /proc --dev /dev --tmpfs {TEMPORARY}".split()
    words += [*bind_system(), *bind_python()]
    variables, places = list_pip_settings()
    for place in places:
        if not place.startswith("/etc/"):
            words += ["--ro-bind", place, place]
        elif Path(place).is_file():
            copy = scratch / place.removeprefix("/")
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(place, copy)
    words += ["--ro-bind", str(scratch / "etc"), "/etc", "--ro-bind", str(scratch / "home"), HOME]
    words += ["--bind", str(scratch / "project"), FOLDER, "--ro-bind", str(scratch / "locales"), "/opt/locales"]
    settings = {"HOME": HOME, "USER": "gast", "PATH": f"{sys.base_prefix}/bin:/usr/bin", "TMPDIR": TEMPORARY}
    for name, value in (variables | settings | {"LOCPATH": "/opt/locales", **locale.variables}).items():
        words += ["--setenv", name, value]
    # The command by itself, too: what make exports (UTF-8) is not there for it.
    asked = f".venv/bin/possnet query clinic measles --given fever=high > {TEMPORARY}/answer.txt"
    return [*words, "--chdir", FOLDER, "sh", "-c", f"umask 077 && make {target} && {asked}"]


def run_on_clean_machine(name: str, target: str, seconds: float) -> tuple[str, str]:
    """What was printed, and what went wrong, if anything did."""
    if lacking := lacks_programs():
        return "", lacking
    with tempfile.TemporaryDirectory(prefix="possnet-clean-") as folder:
        scratch = Path(folder)
        for part in ("project", "home"):
            (scratch / part).mkdir()
        if problem := make_locale(LOCALES[name], scratch / "locales"):
            return "", problem
        copy_project(scratch / "project")
        write_etc(scratch / "etc")
        words = build_command(scratch, LOCALES[name], target)
        try:
            run = subprocess.run(
                words,
                capture_output=True,
                text=True,
                errors="replace",
                check=False,
                timeout=seconds,
                stdin=subprocess.DEVNULL,
            )
        except subprocess.TimeoutExpired as late:
            return str(late.stdout), f"make {target} took more than {seconds:.0f} seconds"
        if run.returncode:
            errors = [line for line in run.stderr.splitlines() if not line.startswith("WARNING: Location")]
            told = "\n".join([*errors[:20], *errors[20:][-20:]])
            return run.stdout, f"make {target} ended with {run.returncode}: {told}"
        if any((scratch / "home").iterdir()):
            return run.stdout, "the home is no longer empty"
        return run.stdout + run.stderr, ""


def run_chunk(seed: int) -> Chunk | None:
    """``make demo`` under one locale after the other."""
    if seed >= len(LOCALES):
        return None
    name = list(LOCALES)[seed]
    printed, problem = run_on_clean_machine(name, "demo", seconds=1500.0)
    if not problem and "report.html" not in printed:
        problem = "no report.html is named in what make demo printed"
    return Chunk(1, (f"{name}: {problem}",) if problem else ())


def describe_network() -> str:
    """What of the network is restricted, for the page."""
    return """## The clean machine

Restricted are files, programs, rights, the home, the locale and the environment. The network is not: bubblewrap shares all of it
or nothing, and `make` has to reach the index that pip is set up to use. That nothing but that index is asked for is not shown."""


def lacks_programs() -> str:
    """What has to be installed before a clean machine can be tried, or nothing."""
    for program, package in (("bwrap", "bubblewrap"), ("localedef", "libc-bin")):
        if not shutil.which(program):
            return f"{program} is not installed; expected it on the PATH. Install it (Debian: apt install {package})"
    return ""


CLEAN: Final = Section(
    "clean",
    "README's commands on a machine with Python and make alone: no rights, a read-only home, other locales, a path with umlauts",
    run_chunk,
    patience=1600.0,
    notes=describe_network,
    lacks=lacks_programs,
)


def main() -> int:
    """Run one target under one locale, and show all that it printed."""
    parser = argparse.ArgumentParser(
        prog="python -m tests.hostile.clean_machine", description="README's commands on a clean machine"
    )
    parser.add_argument("--locale", choices=list(LOCALES), default="turkish")
    parser.add_argument("--target", choices=["demo", "quick", "test"], default="demo")
    parser.add_argument("--seconds", type=float, default=3000.0)
    options = parser.parse_args()
    printed, problem = run_on_clean_machine(options.locale, options.target, options.seconds)
    sys.stdout.write(f"{printed}\n{problem or 'passed'}\n")
    return 1 if problem else 0


if __name__ == "__main__":
    sys.exit(main())
