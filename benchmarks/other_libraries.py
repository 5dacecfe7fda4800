"""Objects, graphs, files and pages of other libraries, tried with the libraries themselves: ``make fixtures``.

What pgmpy, pyAgrum and networkx answered is recorded in tests/fixtures/other_libraries.json, with their versions: real
objects as they present themselves, the files that they write, and the digests of the pages whose examples ran.
"""

import hashlib
import json
import re
import subprocess
import sysconfig

from measure import PEERS, ROOT

FIXTURE = ROOT / "tests" / "fixtures" / "other_libraries.json"
PAGES = ("from-pgmpy", "from-pyagrum", "from-bnlearn", "other-peoples-files", "other-programs")
MODULES = ("possnet.io.other_libraries",)
# possnet comes after the peers' own packages, so that these are the ones that the peers are used with.
START = "import runpy, sys; sys.path += sys.argv[1].split(':'); sys.argv[:] = sys.argv[2:]; runpy.run_path(sys.argv[0], run_name='__main__')"


def ask(script: str, *arguments: str) -> dict[str, object]:
    """The last line that a peer's script prints."""
    found = ":".join((str(ROOT / "src"), str(ROOT), sysconfig.get_path("purelib")))
    command = [str(PEERS), "-c", START, found, str(ROOT / "benchmarks" / "peers" / script), *arguments]
    run = subprocess.run(command, capture_output=True, text=True, check=False, cwd=ROOT)
    if run.returncode:
        raise SystemExit(f"{script}: {run.stdout[-3000:]}{run.stderr[-3000:]}")
    answer: dict[str, object] = json.loads(run.stdout.splitlines()[-1])
    return answer


def digest_examples(text: str) -> str:
    """SHA-256 of the lines of a page that are run or compared."""
    blocks = re.findall(r"^`{3,}(?:python|\{code-block\}[^\n]*)\n(.*?)^`{3,}$", text, re.MULTILINE | re.DOTALL)
    return hashlib.sha256("".join(blocks).encode()).hexdigest()


def main() -> None:
    """Write the fixture."""
    page = ask("real_objects.py")
    refused = page["refused"]
    assert isinstance(refused, dict)  # noqa: S101
    page["refused"] = {name: re.sub(r"0x[0-9a-f]+", "0x0", said) for name, said in refused.items()}
    paths = [ROOT / "docs" / "howto" / f"{name}.md" for name in PAGES]
    examples = ask("run_pages.py", *map(str, paths), *MODULES)
    digests = {path.name: digest_examples(path.read_text(encoding="utf-8")) for path in paths}
    page["pages"] = {name: {"examples": examples[name], "sha256": digest} for name, digest in digests.items()}
    print({name: examples[name] for name in examples})
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(value)}" for key, value in page.items())
    FIXTURE.write_text(f"{{\n{lines}\n}}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
