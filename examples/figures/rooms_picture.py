"""The rooms of possnet as a picture, docs/figures/rooms.svg: the layers of pyproject.toml that import-linter checks."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
PICTURE = ROOT / "docs" / "figures" / "rooms.svg"
FLOORS = {"programs": "cli", "verbs": "metrics", "values": "network", "ground": "drawing"}
"""The first room, from above, of every floor."""
TINTS = {"programs": "#c7dcf3", "verbs": "#cfe8cf", "values": "#f6e3b9", "ground": "#e2e2e6"}
WIDTH, LEFT, HIGH, GAP = 860, 96, 30, 6
STYLE = (
    "text{font:13px system-ui,sans-serif;fill:#1d2733}.floor{font-weight:600;fill:#556}"
    "rect{rx:5}.arrow{stroke:#889;stroke-width:1.5;fill:none}"
    "@media(prefers-color-scheme:dark){.floor{fill:#bcc5d0}}"
)


def read_layers() -> list[list[str]]:
    """The rooms of every layer, from above."""
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    contracts = settings["tool"]["importlinter"]["contracts"]
    (layers,) = [contract["layers"] for contract in contracts if contract["type"] == "layers"]
    rooms = [[room.strip() for room in layer.split("|")] for layer in layers]
    return [[room for room in layer if not room.startswith(("(", "_"))] for layer in rooms]


def draw_rooms() -> str:
    """One row of boxes for each layer; imports point downward."""
    parts, top, floor = [], 8, ""
    for layer in filter(None, read_layers()):
        entered = next((name for name, first in FLOORS.items() if first in layer), None)
        if entered:
            floor, top = entered, top + (12 if floor else 0)
            parts.append(f'<text class="floor" x="8" y="{top + 20}">{floor}</text>')
        wide = (WIDTH - LEFT - 40 - GAP * (len(layer) - 1)) / len(layer)
        for k, room in enumerate(layer):
            x = LEFT + k * (wide + GAP)
            box = f'<rect x="{x:.1f}" y="{top}" width="{wide:.1f}" height="{HIGH}" fill="{TINTS[floor]}"/>'
            parts.append(f'{box}<text x="{x + wide / 2:.1f}" y="{top + 20}" text-anchor="middle">{room}</text>')
        top += HIGH + GAP
    x = WIDTH - 20
    parts.append(f'<path class="arrow" d="M{x} 12V{top - 12}m-5-8l5 8l5-8"/>')
    parts.append(f'<text class="floor" transform="translate({x - 6} {top / 2 + 22}) rotate(-90)">imports</text>')
    head = f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {top + 4}" role="img">'
    return f"{head}<title>The rooms of possnet, layer by layer</title><style>{STYLE}</style>{''.join(parts)}</svg>\n"


if __name__ == "__main__":
    PICTURE.write_text(draw_rooms(), encoding="utf-8")
