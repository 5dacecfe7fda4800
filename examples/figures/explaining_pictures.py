"""The pictures of docs/explaining.md: both stories on the graph, what matters, and what table entries do to an answer."""

from pathlib import Path

import possnet as pn

FIGURES = Path(__file__).resolve().parent.parent.parent / "docs" / "figures"


def draw_pictures() -> None:
    """Write the three pictures."""
    clinic = pn.load_example("clinic")
    record = {"fever": "high", "rash": "spots"}
    why = pn.explain(clinic, "measles", record, state="yes")
    (FIGURES / "why.svg").write_text(why.draw(), encoding="utf-8")
    shares = pn.contributions(clinic, "measles", record | {"vaccinated": "no", "cough": "dry"}, "yes")
    tornado = pn.plots.svg_text(pn.plots.contribution_tornado(shares), "what each finding contributes")
    (FIGURES / "tornado.svg").write_text(tornado, encoding="utf-8")
    curves = pn.sensitivity(clinic, "measles", "yes", record)
    drawn = pn.plots.svg_text(pn.plots.sensitivity_curves(curves), "an answer as a function of table entries")
    (FIGURES / "sensitivity.svg").write_text(drawn, encoding="utf-8")


if __name__ == "__main__":
    draw_pictures()
