"""The contract of front doors sees what it shall see."""

from __future__ import annotations

from grimp import ImportGraph

from tests.import_contracts import find_deep_imports


def make_graph(*imports: tuple[str, str]) -> ImportGraph:
    graph = ImportGraph()
    for module in ("house", "house.hall", "house.hall.table", "house.attic", "house.attic.box", "house.attic.box.coin"):
        graph.add_module(module)
    for importer, imported in imports:
        line = f"from {imported} import thing"
        graph.add_import(importer=importer, imported=imported, line_number=1, line_contents=line)
    return graph


def test_an_import_past_a_front_door_is_found() -> None:
    deep = [("house.hall", "house.attic.box"), ("house.hall.table", "house.attic.box.coin")]
    assert find_deep_imports(make_graph(*deep), "house", set()) == deep
    assert find_deep_imports(make_graph(*deep), "house", {"attic"}) == []


def test_front_doors_and_imports_inside_a_room_are_free() -> None:
    graph = make_graph(
        ("house.hall.table", "house.attic"),
        ("house.attic", "house.attic.box"),
        ("house.attic.box", "house.attic.box.coin"),
    )
    assert find_deep_imports(graph, "house", set()) == []


def test_a_function_named_like_its_module_comes_through_the_door() -> None:
    graph = make_graph()
    line = "from house.attic import box"
    graph.add_import(importer="house.hall", imported="house.attic.box", line_number=1, line_contents=line)
    assert find_deep_imports(graph, "house", set()) == []
