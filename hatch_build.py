"""The README as package registries show it: links and pictures that are relative here are absolute there."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface

_LINK = re.compile(r"(\]\()(?!https?://|#|mailto:)([^)\s]+)\)")
_PICTURE = re.compile(r'((?:src|srcset)=")(?!https?://)([^"\s]+)"')


def make_absolute(text: str, repository: str, version: str) -> str:
    """The text with the addresses of files of a version of a repository in place of relative ones.

    >>> make_absolute('[a](docs/a.md) <img src="b.png">', "https://example.org/x", "1.0")
    '[a](https://example.org/x/blob/v1.0/docs/a.md) <img src="https://example.org/x/raw/v1.0/b.png">'
    """
    text = _PICTURE.sub(rf'\g<1>{repository}/raw/v{version}/\g<2>"', text)
    return _LINK.sub(rf"\g<1>{repository}/blob/v{version}/\g<2>)", text)


class CustomMetadataHook(MetadataHookInterface):
    """What hatchling calls for the fields of pyproject.toml that are said to be dynamic."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Set the readme."""
        root = Path(self.root)
        source = (root / "src" / "possnet" / "__init__.py").read_text(encoding="utf-8")
        version = re.search(r'^__version__ = "([^"]+)"', source, re.MULTILINE)
        if version is None:
            raise ValueError("src/possnet/__init__.py: no __version__; expected it")
        text = (root / "README.md").read_text(encoding="utf-8")
        repository = metadata["urls"]["Repository"].rstrip("/")
        metadata["readme"] = {"content-type": "text/markdown", "text": make_absolute(text, repository, version[1])}
