"""A contract of import-linter's own kind: rooms import each other's front door only.

A room is a package inside possnet. Its front door is its ``__init__``; a module of another room that imports
``possnet.room.module`` reaches past it. Rooms named in ``open_rooms`` have their modules as doors.
"""

from __future__ import annotations

from typing import Any

from grimp import ImportGraph
from importlinter import Contract, ContractCheck, fields, output


def find_deep_imports(graph: ImportGraph, root: str, open_rooms: set[str]) -> list[tuple[str, str]]:
    """Pairs (importer, module inside another room), sorted."""
    deep = []
    for imported in sorted(graph.modules):
        parts = imported.split(".")
        if parts[0] != root or len(parts) < 3 or parts[1] in open_rooms:
            continue
        room = ".".join(parts[:2])
        for importer in sorted(graph.find_modules_that_directly_import(imported)):
            inside = importer == room or importer.startswith(f"{room}.")
            if not inside and not _through_door(graph, importer, imported, room):
                deep.append((importer, imported))
    return deep


def _through_door(graph: ImportGraph, importer: str, imported: str, room: str) -> bool:
    """Whether every such import reads ``from room import name``: a function and its module may have one name."""
    details = graph.get_import_details(importer=importer, imported=imported)
    return all(detail["line_contents"].strip().startswith(f"from {room} import") for detail in details)


class FrontDoorContract(Contract):
    """Every import of a module inside another room breaks it."""

    type_name = "front_doors"
    root = fields.StringField()
    open_rooms = fields.SetField(subfield=fields.StringField(), required=False)

    def check(self, graph: ImportGraph, verbose: bool) -> ContractCheck:
        """Whether no import reaches past a front door."""
        output.verbose_print(verbose, "Looking for imports past front doors.")
        opened: Any = self.open_rooms
        deep = find_deep_imports(graph, str(self.root), set(opened or ()))
        return ContractCheck(kept=not deep, metadata={"deep": deep})

    def render_broken_contract(self, check: ContractCheck) -> None:
        """A line for each import."""
        listed: Any = check.metadata["deep"]
        for importer, imported in listed:
            output.print_error(f"{importer} imports {imported}: import it from {'.'.join(imported.split('.')[:2])}")
