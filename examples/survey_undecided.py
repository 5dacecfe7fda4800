"""A survey with undecided answers, whether the race can be called, and whom to call back.

python examples/survey_undecided.py
python examples/survey_undecided.py --picture survey.svg

It needs matplotlib.
"""

# %% [markdown]
# # A survey with undecided answers
#
# Four hundred people of a town were asked. Some say "undecided", some refuse, some are "left or centre". The usual way is
# to drop them, or to share them out. Both pretend to know something.
#
# We leave every answer as vague as it was given. The network `survey` holds a pollster's degrees of what goes with what:
# age, interest, leaning, turnout, vote and answer. It is *min-based*: only the order of the degrees means something, which
# is as much as a pollster wants to swear to.

# %%
import sys
from collections import Counter

import numpy as np
from matplotlib.figure import Figure

import possnet as pn

survey = pn.load_example("survey")
vote = survey.variable("vote")
print("variables:", ", ".join(v.name for v in survey.variables))
print("a vote is one of:", ", ".join(vote.states))
# The notebook shows survey here.

# %% [markdown]
# ## The town and the survey
#
# We make up the town, so that in the end we can look the truth up. Its people follow the network; cubing the degrees keeps
# their order and makes odd votes rare. Each person has a vote. The survey does not see it. It sees the answer, and the
# rest through fog: 40 % name two neighbouring leanings, 30 % do not say whether they will go, and 20 % do not say how much
# they care.

# %%
PEOPLE = 400
rng = np.random.default_rng(5)
habits = {v.name: survey.table(v.name) ** 3 for v in survey.variables}
people = pn.Network(survey.variables, survey.dag, habits, conjunction=survey.conjunction)
town = pn.sample(people, PEOPLE, process="precise", rng=1)
leanings = survey.variable("leaning").states


def foggy(person: dict[str, frozenset[str]]) -> tuple[object, ...]:
    """What the survey notes of a person."""
    seen: dict[str, object] = {name: set(cell) for name, cell in person.items()}
    place = leanings.index(min(person["leaning"]))
    if rng.random() < 0.4:
        seen["leaning"] = {leanings[place], leanings[min(max(place + rng.choice([-1, 1]), 0), 2)]}
    if rng.random() < 0.3:
        seen["turnout"] = None
    if rng.random() < 0.2:
        seen["interest"] = None
    seen["vote"] = None
    return tuple(seen.values())


data = pn.Dataset.from_rows(survey.variables, [foggy(town.row(row)) for row in range(PEOPLE)])
print(data)
print("answers:", dict(Counter(min(data.row(row)["answer"]) for row in range(PEOPLE))))
# The notebook shows data here.

# %% [markdown]
# ## What the answers say about the votes
#
# For every person: which votes are at least 0.6 possible, given everything that person said? Where several are, the vote
# is open, and we say so.

# %%
LEVEL = 0.6
completion = pn.complete(survey, data)
narrowed = completion.narrowed(LEVEL)
votes = [narrowed.row(row)["vote"] for row in range(PEOPLE)]
settled = sum(len(states) == 1 for states in votes)
print(f"{settled} votes are settled, {PEOPLE - settled} are open")
for states, count in Counter(votes).most_common(8):
    print(f"  {' or '.join(s for s in vote.states if s in states):<24}{count:>4}")

# %% [markdown]
# ## Bounds instead of guesses
#
# A party gets *at least* the votes that can only be its own, and *at most* all votes that could be its own. Between the two
# lies what the survey does not know.


# %%
def bounds(votes: list[frozenset[str]]) -> dict[str, tuple[int, int]]:
    """For every choice the votes it has for sure, and the votes it could have."""
    return {s: (sum(v == {s} for v in votes), sum(s in v for v in votes)) for s in vote.states}


first = bounds(votes)
truth = Counter(min(town.row(row)["vote"]) for row in range(PEOPLE))
for state, (low, high) in first.items():
    print(f"{state:<8} {low:>4} to {high:<4}   (in truth {truth[state]})")

# %% [markdown]
# ## Can the race be called?
#
# It can, if one party's certain votes beat the possible votes of every other.

# %%
parties = [state for state in vote.states if state != "abstain"]


def rivals(bounds: dict[str, tuple[int, int]]) -> tuple[str, set[str]]:
    """The party ahead, and the parties that could still catch up with it."""
    ahead = max(parties, key=lambda state: bounds[state][0])
    return ahead, {state for state in parties if state != ahead and bounds[state][1] >= bounds[ahead][0]}


ahead, others = rivals(first)
print(
    f"{ahead} is ahead with {first[ahead][0]} for certain; could still catch up: {', '.join(sorted(others)) or 'nobody'}"
)

# %% [markdown]
# ## Whom to call back
#
# Only open votes can move the bounds, and only those that touch the party ahead or a rival matter. So we call these people
# one after the other, ask again, and stop as soon as the race can be called. (Here the made-up town answers.)

# %%
after = list(votes)
calls = 0
for row in range(PEOPLE):
    ahead, others = rivals(bounds(after))
    if not others:
        break
    if len(after[row]) > 1 and after[row] & {ahead, *others}:
        after[row] = town.row(row)["vote"]
        calls += 1
second = bounds(after)
print(f"{calls} calls instead of {PEOPLE - settled} (all that are open) or {PEOPLE} (everyone)")
for state, (low, high) in second.items():
    print(f"{state:<8} {low:>4} to {high:<4}   (in truth {truth[state]})")

# %% [markdown]
# ## The picture

# %%
BLANK = {"facecolor": "white", "edgecolor": "none", "pad": 1.0}
COLOURS = {"left": "#a8433a", "centre": "#c8952d", "right": "#33658a", "abstain": "#8a8a8a"}
figure = Figure(figsize=(8.6, 4.6), layout="constrained")
axes = figure.subplots()
for place, state in enumerate(reversed(vote.states)):
    for shift, (low, high), depth, when in ((0.17, first[state], 0.4, "before"), (-0.17, second[state], 1.0, "after")):
        axes.barh(place + shift, high - low, left=low, height=0.28, color=COLOURS[state], alpha=depth)
        axes.text(
            high + 1.5, place + shift, f"{low} to {high}, {when}", va="center", fontsize=9, color="#333333", bbox=BLANK
        )
    axes.vlines(truth[state], place - 0.38, place + 0.38, color="black", linewidth=2)
axes.vlines([], 0, 0, color="black", linewidth=2, label="the truth, of this made-up town")
axes.axvline(second[ahead][0], color=COLOURS[ahead], linewidth=1, linestyle=":")
axes.set_yticks(range(len(vote.states)), reversed(vote.states))
axes.set_xlim(40, 195)
axes.set_ylim(-0.75, len(vote.states) - 0.45)
axes.set_xlabel(f"votes of {PEOPLE}: from those that are certain to those that are possible")
axes.set_title(f"What the survey knows, before and after {calls} calls", loc="left", fontweight="bold")
axes.spines[["top", "right"]].set_visible(False)
axes.legend(loc="lower right", frameon=False, fontsize=9)

# %% [markdown]
# ## The decision

# %%
best_other = max(second[state][1] for state in parties if state != ahead)
if others:
    print(f"Do not call the race: {ahead} has {second[ahead][0]} for certain, another party up to {best_other}.")
else:
    print(f"Call the race for {ahead}: {second[ahead][0]} certain votes against at most {best_other}.")
wrong = sum(not town.row(row)["vote"] <= states for row, states in enumerate(votes))
print(f"How far to trust it: for {wrong} of {PEOPLE} people the true vote was less than {LEVEL} possible.")

# %% [script]
if "--picture" in sys.argv[1:-1]:
    figure.savefig(sys.argv[sys.argv.index("--picture") + 1], dpi=150)
