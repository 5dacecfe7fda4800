"""What `make demo` shows: a doctor's network, asked by hand."""

import possnet as pn
from possnet.cli.commands.info_command import network_page
from possnet.cli.render import render_page


def bar(degree: float, width: int = 24) -> str:
    """Degree as a bar of characters."""
    return "█" * round(degree * width) + "·" * (width - round(degree * width))


def show(title: str, pi: pn.Possibility) -> None:
    """Print the possibility and the necessity of every state."""
    print(f"\n  {title}")
    for state, degree in zip(pi.variables[0].states, pi.degrees, strict=True):
        print(f"    {state:<12}{bar(degree)}  Π {degree:.2f}  N {pi.necessity({state}):.2f}")


def main() -> None:
    """Show the bundled clinic and three steps of reasoning with it."""
    clinic = pn.load_example("clinic")
    print(render_page(network_page(clinic)))
    fever = clinic.variable("fever")
    with_measles = pn.Possibility(fever, clinic.table("fever")[0, 1])
    show("Fever of a child with measles and no flu", with_measles)
    show(
        "... when the record says 'none or mild'",
        with_measles.condition({"none", "mild"}, clinic.conjunction),
    )
    print("\n  The same degrees as a random set: what fraction of such records would name which set of states")
    for states, mass in pn.MassFunction.from_possibility(with_measles).masses.items():
        named = " or ".join(state for state in fever.states if state in states)
        print(f"    {named:<24}{bar(mass)}  {mass:.2f}")
    engine = pn.Inference(clinic)
    record: dict[str, str | set[str]] = {"fever": {"mild", "high"}, "rash": "spots"}
    show("Measles, when the record says fever 'mild or high' and rash 'spots'", engine.query("measles", record))
    show(
        "... and the child was in contact and is not vaccinated",
        engine.query("measles", record | {"contact": "yes", "vaccinated": "no"}),
    )
    best = engine.most_possible({"rash": "widespread"})
    listed = ", ".join(f"{name}: {state}" for name, state in best.configuration.items())
    print(
        f"\n  The most possible story of a widespread rash (degree {best.possibility:.2g}, {best.ties} such): {listed}."
    )
    print("\n  Next: possnet query clinic flu --given fever=high, or the ten lines of Python in README.md.")


if __name__ == "__main__":
    main()
