"""A clinic with ambiguous records, and who has to be isolated tonight.

python examples/clinic_records.py
python examples/clinic_records.py --picture clinic.svg

It needs matplotlib.
"""

# %% [markdown]
# # A clinic with ambiguous records
#
# It is eight in the evening. Twelve children with fever wait on the ward, and one isolation room after the other
# fills up. Who may have measles?
#
# The records are what records are. A nurse wrote "spots or widespread" because the light was bad. Nobody asked about
# vaccination. The thermometer is good to 0.2 degrees. Nothing of this is an error: it is what is known.

# %%
import sys
import tempfile
from pathlib import Path

from matplotlib.figure import Figure
from matplotlib.patches import Patch

import possnet as pn

RECORDS = """\
child,contact,vaccinated,season,measles,flu,fever,rash,cough
Ada,no,yes,winter,?,?,38.2,none,productive
Ben,yes,no,winter,?,?,39.1,spots|widespread,dry
Cleo,?,?,winter,?,?,38.6,spots,dry
Dan,no,yes,winter,?,?,37.4,none,?
Eve,yes,yes,winter,?,?,38.4,none|spots,dry|productive
Finn,no,?,winter,?,?,>=38.5,widespread,none|dry
Gus,no,yes,winter,?,?,36.8,spots,none
Hana,yes,no,winter,?,?,37.9,none,none
Ivo,?,no,winter,?,?,39.4,?,dry
June,no,yes,winter,?,no,38.9,spots,?
Kim,yes,?,winter,?,?,38.7,!none,?
Leo,no,?,winter,?,?,?,none|spots,productive
"""

# %% [markdown]
# Each cell is a set of states. `spots|widespread` is one of the two, `!none` is anything but none, `?` is unknown.
#
# The network `clinic` holds a doctor's degrees: 1 is "would not surprise me at all", 0 is "cannot be". It speaks of
# fever as none, mild or high, and the thermometer in degrees Celsius. So we say how the numbers are cut: edges at 37.5
# and 38.5, error 0.2. A reading of 38.4 may be mild or high, and becomes both.

# %%
clinic = pn.load_example("clinic")
with tempfile.TemporaryDirectory() as folder:
    path = Path(folder) / "records.csv"
    path.write_text(RECORDS)
    thermometer = pn.Binning([37.5, 38.5], error=0.2)
    data = pn.read_data(path, variables=clinic, binnings={"fever": thermometer})

names = [line.split(",")[0] for line in RECORDS.splitlines()[1:]]
print(data)
print("Eve's fever, read as 38.4:", sorted(data.row(names.index("Eve"))["fever"]))
# The notebook shows data here.

# %% [markdown]
# Now one line does the work. For every ambiguous cell it asks the network how possible each of its states is, given the
# rest of that row.

# %%
completion = pn.complete(clinic, data)
print(completion)
# The notebook shows completion here.

# %% [markdown]
# Take Cleo. Nobody knows whether she was in contact with measles or is vaccinated.
#
# - The *possibility* of measles says how little would surprise us if she had it.
# - Its *necessity* says how sure we are: 1 minus the possibility of no measles.

# %%
for name in ("Cleo", "Finn", "Gus"):
    measles = completion.of(names.index(name), "measles")
    print(f"{name:<5} measles: possibility {measles['yes']:.2f}, necessity {measles.necessity({'yes'}):.2f}")

# %% [markdown]
# ## A rule for tonight
#
# A child with measles on the open ward infects the others. A child in isolation without need has a dull night. So:
#
# - **isolate** where measles is the most possible explanation (necessity above 0);
# - **test** where it is not, but far from impossible (possibility at least 0.3);
# - **open ward** for the rest.

# %%
degrees = [completion.of(row, "measles") for row in range(len(data))]


def decision(measles: pn.Possibility) -> str:
    """What to do with a child, from the degrees of measles."""
    if measles.necessity({"yes"}) > 0:
        return "isolate"
    return "test" if measles["yes"] >= 0.3 else "open ward"


decided = [decision(measles) for measles in degrees]
order = sorted(range(len(names)), key=lambda row: (degrees[row].necessity({"yes"}), degrees[row]["yes"]))
print("child   possible  certain  decision")
for row in reversed(order):
    measles = degrees[row]
    print(f"{names[row]:<7} {measles['yes']:>8.2f} {measles.necessity({'yes'}):>8.2f}  {decided[row]}")

# %% [markdown]
# What would one more answer change? For each child to be tested, ask the network as if the vaccination card had turned up.

# %%
engine = pn.Inference(clinic)
for row in order:
    if decided[row] == "test" and len(data.row(row)["vaccinated"]) > 1:
        known = {name: set(cell) for name, cell in data.row(row).items() if name not in {"measles", "vaccinated"}}
        for card in ("yes", "no"):
            changed = engine.query("measles", known | {"vaccinated": {card}})
            print(f"{names[row]}, if vaccinated is {card!r}: {changed['yes']:.2f} possible -> {decision(changed)}")

# %% [markdown]
# ## The picture for the door

# %%
COLOURS = {"isolate": "#b03a2e", "test": "#d98e2b", "open ward": "#5b8a72"}
figure = Figure(figsize=(8.4, 5.2), layout="constrained")
axes = figure.subplots()
for place, row in enumerate(order):
    measles, colour = degrees[row], COLOURS[decided[row]]
    axes.barh(place, measles["yes"], height=0.62, color=colour, alpha=0.35)
    axes.barh(place, measles.necessity({"yes"}), height=0.62, color=colour)
    axes.text(1.02, place, decided[row], va="center", color=colour, fontweight="bold")
axes.axvline(0.3, color="#555555", linewidth=1, linestyle=":")
axes.text(0.31, -0.95, "test from 0.3 on", va="center", fontsize=9, color="#555555")
axes.set_yticks(range(len(order)), [names[row] for row in order])
axes.set_xlim(0, 1.0)
axes.set_ylim(-1.3, len(order) - 0.4)
axes.set_xlabel("degree of measles, given all that is known of the child")
axes.set_title("Twelve ambiguous records, one decision each", loc="left", fontweight="bold")
axes.spines[["top", "right"]].set_visible(False)
pale, full = Patch(color="#777777", alpha=0.35, label="possible"), Patch(color="#777777", label="certain")
axes.legend(handles=[pale, full], loc="lower right", frameon=False, bbox_to_anchor=(1.0, 0.12))

# %% [markdown]
# ## The decision

# %%
for choice in COLOURS:
    chosen = [names[row] for row in reversed(order) if decided[row] == choice]
    print(f"{choice:<10} {', '.join(chosen)}")

# %% [script]
if "--picture" in sys.argv[1:-1]:
    figure.savefig(sys.argv[sys.argv.index("--picture") + 1], dpi=150)
