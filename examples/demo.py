"""What `make demo` shows: a doctor's network, asked by hand."""

import sys

import possnet as pn
from possnet.cli.commands.info_command import network_page
from possnet.cli.commands.query_command import list_bars
from possnet.cli.render import Page, draw_bar, show


def main() -> None:
    """Show the bundled clinic and three steps of reasoning with it; with ``--next``, only what to do next."""
    if "--next" in sys.argv:
        show(["", "Next, click a state and watch every bar move:", "  .venv/bin/possnet explore clinic"])
        return
    clinic = pn.load_example("clinic")
    page: Page = [*network_page(clinic), ""]
    fever = clinic.variable("fever")
    with_measles = pn.Possibility(fever, clinic.table("fever")[0, 1])
    recorded = with_measles.condition({"none", "mild"}, clinic.conjunction)
    page += ["Fever of a child with measles and no flu: Π is how possible, N how certain", *list_bars(with_measles)]
    page += ["", "The same, when the record says 'none or mild'", *list_bars(recorded)]
    page += ["", "The same degrees as a random set: which share of such records names which set"]
    for states, mass in pn.MassFunction.from_possibility(with_measles).masses.items():
        named = " or ".join(state for state in fever.states if state in states)
        page.append(f"  {named:<20}  {draw_bar(mass, mass, 31)}  {mass:.3f}")
    engine = pn.Inference(clinic)
    record: dict[str, str | set[str]] = {"fever": {"mild", "high"}, "rash": "spots"}
    exposed = record | {"contact": "yes", "vaccinated": "no"}
    page += ["", "Measles, when the record says fever 'mild or high' and rash 'spots'"]
    page += list_bars(engine.query("measles", record))
    page += ["", "The same, and the child was in contact and is not vaccinated"]
    page += list_bars(engine.query("measles", exposed))
    best = engine.most_possible({"rash": "widespread"})
    listed = ", ".join(f"{name}: {state}" for name, state in best.configuration.items())
    page += ["", f"The most possible story of a widespread rash (degree {best.possibility:.2g}): {listed}."]
    show(page)


if __name__ == "__main__":
    main()
