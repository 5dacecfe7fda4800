"""Measles .33 is not an answer: why, what matters, what to ask, and what to do.

python examples/measles_explained.py
python examples/measles_explained.py --picture measles.svg

It needs matplotlib.
"""

# %% [markdown]
# # Measles .33 is not an answer
#
# A child comes in with high fever and a rash with spots. The network of the clinic says: measles is possible to .33.
# "And what am I to do with that?" asks the doctor, rightly. Six questions follow, and possnet answers each of them
# exactly: a degree of possibility is reached by one best story, so that nothing has to be approximated.

# %%
import sys

from matplotlib.figure import Figure

import possnet as pn

clinic = pn.load_example("clinic")
child = {"fever": "high", "rash": "spots"}
print(pn.Inference(clinic).query("measles", child))

# %% [markdown]
# ## Why .33?
#
# The best story with measles: the child was in contact with a case and is not vaccinated. The best story without: the
# flu, and a rash of some other kind. The degree is the ratio of the two.

# %%
why = pn.explain(clinic, "measles", child, state="yes")
print(why)

# %% [markdown]
# In a notebook `why` draws itself: both stories on the graph, with the table entries that each of them uses.
#
# ## What matters?
#
# Now the mother says that the child is not vaccinated, and that it coughs, a dry cough. How far does each finding move
# the answer? Shapley values share the change out fairly among findings that only work together.

# %%
child |= {"vaccinated": "no", "cough": "dry"}
shares = pn.contributions(clinic, "measles", child, "yes")
print(shares)

# %% [markdown]
# ## How far do I trust the numbers?
#
# The degrees of the network are a doctor's judgement. Which of them decides this answer? Each table entry t alone is
# moved from 0 to 1, in closed form. The most critical one says how surprising spots are without measles. The child's
# answer flips only when that entry rises above .27: it is .2 now, so it is worth a second opinion.

# %%
curves = pn.sensitivity(clinic, "measles", "no", child)
print(curves)
critical = curves.entry("rash", "spots", {"measles": "no"})
flip = next(piece.start for piece in critical.pieces if piece.power == 0 and piece.coefficient == 1.0)
print(f"measles=no is among the most possible states from t = {flip:.4f} on")

# %% [markdown]
# ## What should I ask next?
#
# Measles is more possible than not, but hardly certain. Contact with a case is the question that settles most.

# %%
questions = pn.next_questions(clinic, "measles", child)
print(questions)

# %% [markdown]
# ## What if?
#
# Seeing is not doing. To *see* that a child is vaccinated says nothing about contacts; to see that it has measles says
# a lot. To *do* something cuts a variable off from its causes: if all children were vaccinated tomorrow, what would be
# possible for the next child with a contact?

# %%
compared = pn.scenarios(
    clinic,
    {
        "today": {"contact": "yes"},
        "all vaccinated": pn.Scenario(given={"contact": "yes"}, do={"vaccinated": "yes"}),
    },
)
print(compared)

# %% [markdown]
# ## And a contradiction
#
# The laboratory reports a widespread rash in a vaccinated child without any contact. Nearly impossible, says the
# network; these findings do not go together, and this is the least that would have to be wrong.

# %%
report = {"contact": "no", "vaccinated": "yes", "rash": "widespread", "season": "summer"}
print(pn.conflicts(clinic, report, threshold=0.025))

# %% [markdown]
# ## The decision
#
# Isolation costs a dull night and a room; measles on the open ward costs far more. Utilities from 0 to 1 are all that
# is needed. The pessimistic utility asks how bad it can get among all that is at all possible.

# %%
utilities = {
    "open ward": {"yes": 0.0, "no": 1.0},
    "test, then decide": {"yes": 0.6, "no": 0.8},
    "isolate": {"yes": 0.9, "no": 0.5},
}
decision = pn.decide(clinic, list(utilities), utilities, child, target="measles")
print(decision)

# %% [markdown]
# ## The picture for the round

# %%
GREEN, ORANGE, BLUE, GREY = "#2fa36b", "#c44e28", "#0b6e99", "#5c6b7a"
figure = Figure(figsize=(9.6, 3.5), layout="constrained")
left, middle, right = figure.subplots(1, 3, width_ratios=(1.05, 1.0, 1.05))
rows = range(len(shares))
left.barh(rows, [share.possibility for share in shares], height=0.6, color=GREEN)
left.set_yticks(rows, [share.finding for share in shares])
left.set_ylim(len(shares) - 0.4, -0.6)
left.set_xlabel(f"share of the way from Π {shares.before[0]:.2f} to {shares.now[0]:.2f}", fontsize=9)
left.set_title("What matters", loc="left", fontweight="bold")
t = [k / 400 for k in range(401)]
middle.plot(t, [critical.value(x) for x in t], color=BLUE, linewidth=2)
middle.axvline(flip, color=GREY, linewidth=1, linestyle=":")
middle.plot([critical.degree], [critical.answer], "o", color=ORANGE, markersize=7)
middle.text(flip + 0.03, critical.answer, "today", va="center", color=ORANGE)
middle.text(flip + 0.03, 0.06, f"flips at {flip:.2f}", va="center", fontsize=9, color=GREY)
middle.set_xlabel("degree of spots without measles", fontsize=9)
middle.set_ylabel("Π(no measles | findings)", fontsize=9)
middle.set_ylim(0, 1.06)
middle.set_title("What the numbers bear", loc="left", fontweight="bold")
acts = sorted(decision.acts, key=lambda act: act.pessimistic)
for place, act in enumerate(acts):
    best = act.name in decision.best
    right.barh(place, act.pessimistic, height=0.6, color=BLUE if best else GREY, alpha=1.0 if best else 0.55)
    right.plot([act.optimistic], [place], "|", color="#1d2733", markersize=16, markeredgewidth=2)
right.set_yticks(range(len(acts)), [act.name for act in acts])
right.set_xlim(0, 1.02)
right.set_xlabel("pessimistic utility (bar), optimistic (tick)", fontsize=9)
right.set_title("What to do", loc="left", fontweight="bold")
for axes in (left, middle, right):
    axes.spines[["top", "right"]].set_visible(False)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(labelsize=9)

# %% [markdown]
# So the child is isolated tonight, the question to ask is about contacts, and the number to check is how surprising
# spots are without measles.

# %% [script]
if "--picture" in sys.argv[1:-1]:
    figure.savefig(sys.argv[sys.argv.index("--picture") + 1], dpi=150)
