// The overview of a large network: what the evidence changed most, what it cannot reach, and what is near the selection.

import { make, set, write } from "./dom.js";
import { count, short } from "./words.js";

const MOST = 20;

// The variables whose possibilities the evidence has moved, the most first.
export function changes({ answer, before, evidence, variables }) {
  if (!answer || !before || !evidence.size) return [];
  return [...variables.values()].filter(({ name }) => !evidence.has(name) && answer.marginals[name] && before[name]).map(({ name, states }) => {
    const moves = states.map((state, k) => [answer.marginals[name].possibility[k] - before[name].possibility[k], state, k]);
    const [move, state, k] = moves.reduce((best, one) => (Math.abs(one[0]) > Math.abs(best[0]) ? one : best));
    return { name, state, move, was: before[name].possibility[k], pi: answer.marginals[name].possibility[k] };
  }).filter(({ move }) => Math.abs(move) > 5e-4).sort((a, b) => Math.abs(b.move) - Math.abs(a.move));
}

// Names at most so many edges away from one.
export function neighbourhood(name, steps, variables) {
  const near = new Set([name]);
  let rim = [name];
  for (let k = 0; k < steps; k += 1) {
    rim = rim.flatMap((one) => [...variables.get(one).parents, ...variables.get(one).children]).filter((one) => !near.has(one));
    for (const one of rim) near.add(one);
  }
  return near;
}

class Overview {
  name = "overview";

  title = "Overview";

  mount(element, context) {
    this.context = context;
    this.list = make("ol", { class: "changes" });
    this.note = make("p", { class: "soft" });
    this.apart = make("input", { type: "checkbox", change: () => this.mark() });
    this.apartNote = make("p", { class: "soft" });
    this.steps = make("select", { change: () => this.mark(), "aria-label": "Neighbourhood" },
      ...[["", "all variables"], ["1", "1 edge away"], ["2", "2 edges away"], ["3", "3 edges away"]].map(([value, text]) => make("option", { value }, text)));
    element.append(make("h2", { tabindex: -1 }, "Overview"),
      make("h3", {}, "What the evidence cannot reach"), make("label", { class: "check" }, this.apart, " dim it"), this.apartNote,
      make("h3", {}, "Around the selected variable"), make("label", {}, "Show ", this.steps, ", the others dimmed"),
      make("h3", {}, "Changed most"), this.note, this.list);
  }

  update(context) {
    this.context = context;
    const moved = changes(context);
    write(this.note, !context.evidence.size ? "Nothing yet: there is no evidence."
      : !moved.length ? "No possibility has changed."
        : `${count(moved.length, "variable")} changed; the state that moved most:`);
    this.list.replaceChildren(...moved.slice(0, MOST).map(({ name, state, was, pi }) => make("li", {},
      make("button", { type: "button", class: "near", click: (event) => { context.actions.select(name, event.detail === 0); } }, name),
      ` ${state} ${short(was)} → ${short(pi)}`)));
    const { apart } = context.answer ?? {};
    write(this.apartNote, !context.evidence.size || !apart ? "There is no evidence yet."
      : apart.length ? `${count(apart.length, "variable")}: no open path leads there.` : "It reaches every variable.");
    set(this.apart, { disabled: !apart?.length });
    this.mark();
  }

  mark() {
    const { answer, before, evidence, marks, selection, variables } = this.context;
    const steps = Number(this.steps.value);
    const near = steps && selection ? neighbourhood(selection, steps, variables) : undefined;
    const same = (name) => !before || !answer?.marginals[name]
      || answer.marginals[name].possibility.every((pi, k) => Math.abs(pi - before[name].possibility[k]) < 5e-4);
    const apart = this.apart.checked && evidence.size ? new Set((answer?.apart ?? []).filter(same)) : new Set();
    const dim = [...variables.keys()].filter((name) => apart.has(name) || (near && !near.has(name)));
    const faint = new Set(dim);
    const edges = [...variables.values()].flatMap(({ name, parents }) => parents
      .filter((parent) => faint.has(parent) || faint.has(name)).map((from) => ({ from, to: name, tone: "dim" })));
    marks.show("overview", { cards: new Map(dim.map((name) => [name, { tone: "dim" }])), edges });
  }
}

export const overview = new Overview();
