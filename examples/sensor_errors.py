"""A sensor with a known error, and what to do with bottles that it cannot tell apart.

    python examples/sensor_errors.py
    python examples/sensor_errors.py --picture sensor.svg

The wines are scikit-learn's bundled data set of 178 Italian wines of three cultivars, measured in a laboratory.
It needs matplotlib and scikit-learn.
"""

# %% [markdown]
# # A sensor with a known error
#
# A cellar wants to print the cultivar on every bottle. The laboratory can tell: it measures alcohol, flavanoids, colour,
# hue and proline, and charges for it. A cheap sensor measures the same things, with an error that its data sheet states.
#
# Most people round the reading to the nearest class and forget the error. We compare that with taking it seriously: a
# reading whose interval crosses an edge belongs to *both* classes.

# %%
import sys

import numpy as np
from matplotlib.figure import Figure
from sklearn.datasets import load_wine

import possnet as pn

wine = load_wine()
MEASURED = ["alcohol", "flavanoids", "color_intensity", "hue", "proline"]
values = wine.data[:, [wine.feature_names.index(name) for name in MEASURED]]
spread = values.std(axis=0)
cultivar = np.array([f"cultivar {number + 1}" for number in wine.target])
print(f"{len(values)} wines, {len(MEASURED)} measurements each")

# %% [markdown]
# ## Learn in the laboratory
#
# Half of the wines go through the laboratory, without error. Each measurement is cut into three classes with equally many
# wines. A small network says that the cultivar shapes each measurement, and its degrees are learned by counting.

# %%
DAG = pn.Dag({"cultivar": (), **dict.fromkeys(MEASURED, ("cultivar",))})


def learn(rows: np.ndarray) -> tuple[pn.Network, list[tuple[float, ...]]]:
    """The network and the edges of the classes, from laboratory values of some wines."""
    classes = [pn.bin_measurements(values[rows, k], edges="quantile", bins=3, name=n) for k, n in enumerate(MEASURED)]
    table = {column.name: column for column in classes}
    data = pn.Dataset.from_table({"cultivar": cultivar[rows], **table})
    return pn.fit(DAG, data), [column.edges for column in classes]


rng = np.random.default_rng(1)
order = rng.permutation(len(values))
known, fresh = order[:89], order[89:]
network, edges = learn(known)
print("flavanoids are cut at", " and ".join(f"{edge:g}" for edge in edges[1]))
# The notebook shows network here.

# %% [markdown]
# ## Measure in the cellar
#
# The other half of the wines meets the sensor. Here is one bottle, read with an error of half a standard deviation.


# %%
def readings(rows: np.ndarray, size: float, chance: np.random.Generator) -> np.ndarray:
    """What the sensor shows: the true values, each off by at most its error."""
    return values[rows] + chance.uniform(-1, 1, (len(rows), len(MEASURED))) * spread * size


def cells(network: pn.Network, edges: list[tuple[float, ...]], shown: np.ndarray, size: float) -> pn.Dataset:
    """MeasuredIntervals as cells, with an error of so many standard deviations."""
    columns = {
        name: pn.bin_measurements(shown[:, k], edges=edges[k], error=spread[k] * size)
        for k, name in enumerate(MEASURED)
    }
    unknown = [None] * len(shown)
    return pn.Dataset.from_table({"cultivar": unknown, **columns}, variables=network)


shown = readings(fresh, 0.5, rng)
bottle = 21
for title, error in (("error forgotten", 0.0), ("error kept", 0.5)):
    data = cells(network, edges, shown[bottle : bottle + 1], error)
    completion = pn.complete(network, data)
    classes = ", ".join("|".join(s for s in data.variable(n).states if s in data.row(0)[n]) for n in MEASURED[:3])
    degrees = completion.of(0, "cultivar")
    print(f"{title}: {classes}, ...")
    print(
        "   possible:",
        ", ".join(
            f"{state} {degree:.2f}" for state, degree in zip(degrees.variables[0].states, degrees.degrees, strict=True)
        ),
    )
print("the truth:", cultivar[fresh[bottle]])

# %% [markdown]
# ## A rule for the label
#
# Print the label if only one cultivar is still possible to a degree of 0.3 or more. Otherwise send the bottle to the
# laboratory. A row that the network calls impossible goes there as well.
#
# We try this for sensors of different quality, each with ten different halves of the wines.

# %%
ERRORS = (0.0, 0.25, 0.5, 0.75, 1.0)


def outcome(size: float, *, keep_error: bool) -> tuple[int, int, int]:
    """Labels that are right, bottles for the laboratory, labels that are wrong; of 890."""
    right = laboratory = wrong = 0
    for repeat in range(10):
        chance = np.random.default_rng(repeat)
        order = chance.permutation(len(values))
        network, edges = learn(order[:89])
        rows = order[89:]
        data = cells(network, edges, readings(rows, size, chance), size if keep_error else 0.0)
        labels = pn.complete(network, data).narrowed(0.3).column("cultivar")
        for code, truth in zip(labels.codes, cultivar[rows], strict=True):
            label = labels.cells[code]  # None is unknown: an impossible row, left as it was
            if label is None or len(label) > 1:
                laboratory += 1
            elif truth in label:
                right += 1
            else:
                wrong += 1
    return right, laboratory, wrong


results = {keep: [outcome(size, keep_error=keep) for size in ERRORS] for keep in (False, True)}
print("            error forgotten           error kept")
print("sensor      right  lab  wrong         right  lab  wrong")
for k, size in enumerate(ERRORS):
    a, b = results[False][k], results[True][k]
    print(f"± {size:4.2f} sd  {a[0]:>6} {a[1]:>4} {a[2]:>6}        {b[0]:>6} {b[1]:>4} {b[2]:>6}")

# %% [markdown]
# Forgetting the error does not make it go away: the worse the sensor, the more wrong labels, and nothing warns us. Keeping
# it, the network says "I cannot tell" instead, and the wrong labels stay few.
#
# ## The picture

# %%
COLOURS = ("#4a7c59", "#c9c9c9", "#b03a2e")
figure = Figure(figsize=(9.2, 4.4), layout="constrained")
for axes, keep, title in zip(
    figure.subplots(1, 2, sharey=True), (False, True), ("The error forgotten", "The error kept"), strict=True
):
    bottom = np.zeros(len(ERRORS))
    for part, colour in enumerate(COLOURS):
        heights = np.array([result[part] for result in results[keep]]) / 8.9
        axes.bar(range(len(ERRORS)), heights, bottom=bottom, color=colour, width=0.72)
        bottom += heights
    for k, (_, _, wrong) in enumerate(results[keep]):
        axes.text(k, 101.5, f"{wrong / 8.9:.1f} %", ha="center", fontsize=9, color=COLOURS[2], fontweight="bold")
    axes.set_title(title, loc="left", fontweight="bold", pad=18)
    axes.set_xticks(range(len(ERRORS)), [f"± {size:g}" for size in ERRORS])
    axes.set_xlabel("error of the sensor, in standard deviations")
    axes.set_ylim(0, 100)
    axes.spines[["top", "right"]].set_visible(False)
figure.axes[0].set_ylabel("% of the bottles")
for place, height, text, colour in (
    (1, 34, "right\nlabel", "white"),
    (1, 84, "to the\nlab", "#444444"),
    (0, 94.3, "wrong", "white"),
):
    figure.axes[place].text(4, height, text, ha="center", va="center", fontsize=9, color=colour)

# %% [markdown]
# ## The decision
#
# A wrong label costs 50, a laboratory test 5. What does a sensor cost, per hundred bottles?


# %%
def cost(result: tuple[int, int, int]) -> float:
    """Cost per hundred bottles."""
    _, laboratory, wrong = result
    return (50 * wrong + 5 * laboratory) / 8.9


for k, size in enumerate(ERRORS):
    forgotten, kept = cost(results[False][k]), cost(results[True][k])
    print(f"± {size:4.2f} sd: forgotten {forgotten:6.0f}   kept {kept:6.0f}   laboratory alone 500")
best = max(size for k, size in enumerate(ERRORS) if cost(results[True][k]) < 500 / 2)
print(
    f"Decision: keep the error, and buy the cheapest sensor up to ± {best:g} sd: it costs less than half of the laboratory."
)

# %% [script]
if "--picture" in sys.argv[1:-1]:
    figure.savefig(sys.argv[sys.argv.index("--picture") + 1], dpi=150)
