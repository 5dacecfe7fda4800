"""What `make demo` shows: a doctor's network, asked by hand."""

import possnet as pn
from possnet.cli.pages import network_page


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
    print(network_page(clinic))
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
    healthy = dict.fromkeys((v.name for v in clinic.variables), "no")
    healthy |= {"vaccinated": "yes", "season": "winter", "fever": "none", "rash": "none", "cough": "none"}
    print(
        f"\n  A healthy child has degree {clinic.joint(healthy):.3g}; "
        f"one with measles and no symptom at all {clinic.joint(healthy | {'measles': 'yes'}):.3g}."
    )
    print("\n  Next: possnet info survey, or the ten lines of Python in README.md.")


if __name__ == "__main__":
    main()
