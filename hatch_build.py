"""The README as package registries show it, and the addresses beside it, both made from one setting of pyproject.toml.

``[tool.possnet] repository = "https://github.com/OWNER/possnet"`` makes links and pictures that are relative here absolute
there. While it is empty there are no addresses: pictures are left out, and links to files keep their words alone.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"\[([^]]*)\]\((?!https?://|#|mailto:)([^)\s]+)\)")
_ADDRESS = re.compile(r'((?:src|srcset)=")(?!https?://)([^"\s]+)"')
_PICTURE = re.compile(r"<picture>.*?</picture>\n*", re.DOTALL)


def make_absolute(text: str, repository: str, version: str) -> str:
    """The text with the addresses of files of a version of a repository in place of relative ones.

    >>> make_absolute('[a](docs/a.md) <img src="b.png">', "https://example.org/x", "1.0")
    '[a](https://example.org/x/blob/v1.0/docs/a.md) <img src="https://example.org/x/raw/v1.0/b.png">'
    """
    text = _ADDRESS.sub(rf'\g<1>{repository}/raw/v{version}/\g<2>"', text)
    return _LINK.sub(rf"[\g<1>]({repository}/blob/v{version}/\g<2>)", text)


def leave_out_links(text: str) -> str:
    """The text without pictures, and with the words of links to files alone.

    >>> leave_out_links('<picture><img src="b.png"></picture>See [a](docs/a.md) and [the licence](https://spdx.org/MIT).')
    'See a and [the licence](https://spdx.org/MIT).'
    """
    return _LINK.sub(r"\g<1>", _PICTURE.sub("", text))


def list_addresses(repository: str) -> dict[str, str]:
    """``project.urls`` of a repository.

    >>> list_addresses("https://example.org/x")["Changelog"]
    'https://example.org/x/blob/main/CHANGELOG.md'
    """
    return {
        "Repository": repository,
        "Documentation": f"{repository}/blob/main/docs/index.md",
        "Changelog": f"{repository}/blob/main/CHANGELOG.md",
        "Issues": f"{repository}/issues",
    }


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling calls for the fields of pyproject.toml that are said to be dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme, and the addresses where there is one."""
        root = Path(self.root)
        source = (root / "src" / "possnet" / "__init__.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
        if version is None:
            raise ValueError("src/possnet/__init__.py: no __version__; expected it")
        settings = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["possnet"]
        repository = settings["repository"].rstrip("/")
        if repository and not repository.startswith("https://"):
            raise ValueError(f"pyproject.toml: tool.possnet.repository is {repository!r}; expected https://..., or ''")
        text = (root / "README.md").read_text(encoding="utf-8")
        text = make_absolute(text, repository, version[1]) if repository else leave_out_links(text)
        metadata["readme"] = {"content-type": "text/markdown", "text": text}
        metadata["urls"] = list_addresses(repository) if repository else {}
