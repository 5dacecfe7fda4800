// What if: variables that are set from outside, and two situations A and B whose bars stand side by side.

import { make, set } from "../dom.js";
import { asRequest } from "../evidence.js";
import { clipped, three } from "../words.js";
import { situation } from "./aim.js";
import { Loader } from "./loader.js";

const MOST = 12;
const SAME = 5e-4;

class WhatIf {
  name = "whatif";
  title = "What if";

  mount(element, context) {
    this.context = context;
    this.loader = new Loader("/api/scenarios");
    this.kept = {};
    this.names = make("select", { "aria-label": "The variable to set", change: () => this.offer() });
    this.choices = make("div", { class: "row", role: "group", "aria-label": "Set it to" });
    this.slots = make("div", { class: "slots" });
    this.body = make("div", { "aria-live": "polite" });
    element.append(make("h2", { tabindex: -1 }, "What if"),
      make("h3", {}, "Do"),
      make("p", { class: "soft" }, "To do is not to see: what is set from outside says nothing about its causes, so its incoming edges are cut."),
      make("p", { class: "aim" }, make("span", {}, "Set"), this.names), this.choices,
      make("h3", {}, "Scenarios A and B"), this.slots, this.body);
  }

  update(context) {
    const names = [...context.variables.keys()];
    const key = names.join("\n");
    if (this.names.dataset.key !== key) {
      const before = this.names.value;
      this.names.replaceChildren(...names.map((name) => make("option", { value: name }, name)));
      set(this.names, { "data-key": key });
      this.names.value = names.includes(before) ? before : names[0] ?? "";
    }
    if (context.selection && context.selection !== this.seen) this.names.value = context.selection;
    this.seen = context.selection;
    this.offer();
    this.showSlots();
    this.compare(context);
  }

  hidden({ marks }) {
    marks.clear("whatif");
    this.loader.forget();
  }

  // A button for every state of the chosen variable.
  offer() {
    const { doing, variables } = this.context;
    const variable = variables.get(this.names.value);
    if (!variable) return this.choices.replaceChildren();
    const done = doing.map.get(variable.name);
    const key = `${variable.name}\n${variable.states.join("\n")}`;
    if (this.choices.dataset.key !== key) {
      this.choices.replaceChildren(...variable.states.slice(0, 40).map((state) => make("button", {
        type: "button", class: "do", "data-state": state,
        click: () => (doing.map.get(variable.name) === state ? doing.release(variable.name) : doing.set(variable.name, state)),
      }, `do ${state}`)));
      set(this.choices, { "data-key": key });
    }
    for (const button of this.choices.children) set(button, { "aria-pressed": String(button.dataset.state === done) });
    return undefined;
  }

  showSlots() {
    this.slots.replaceChildren(...["A", "B"].map((slot) => {
      const kept = this.kept[slot];
      return make("div", { class: `slot slot-${slot}` }, make("b", {}, slot), make("span", { class: "text" }, kept ? words(kept) : "the present"),
        make("button", { type: "button", "aria-label": `Keep the present as ${slot}`, click: () => this.keep(slot) }, "Keep the present"),
        kept ? make("button", { type: "button", "aria-label": `Follow the present as ${slot}`, click: () => this.keep(slot, null) }, "Follow") : null,
        kept ? make("button", { type: "button", "aria-label": `Return to ${slot}`, click: () => this.restore(kept) }, "Return") : null);
    }));
  }

  keep(slot, what = situation(this.context)) {
    this.kept[slot] = what ?? undefined;
    this.update(this.context);
  }

  restore({ evidence, do: done }) {
    const known = new Map(Object.entries(evidence).map(([name, states]) => [name, new Set(states)]));
    this.context.doing.replace(new Map(Object.entries(done)), known, "return to a scenario");
  }

  compare(context) {
    const { A, B } = this.kept;
    if (!A && !B) return this.say("Keep the present as A, then change the evidence or do something: B follows the present, and their bars stand side by side.");
    if (context.problem?.kind === "impossible") return this.say("The evidence contradicts itself.");
    const fits = ({ evidence, do: done }) => [...Object.entries(evidence), ...Object.entries(done).map(([name, state]) => [name, [state]])]
      .every(([name, states]) => states.every((state) => context.variables.get(name)?.states.includes(state)));
    if (![A, B].every((kept) => !kept || fits(kept))) return this.say("A scenario names what this network lacks; keep the present instead.");
    const now = { evidence: asRequest(context.evidence), do: Object.fromEntries(context.doing.map) };
    return this.loader.load(context, { a: A ?? now, b: B ?? now }, (answer) => this.show(answer, [A ?? now, B ?? now].map(words)), (problem) => this.say(problem.message));
  }

  say(text) {
    this.loader.forget();
    this.context.marks.clear("whatif");
    this.body.replaceChildren(make("p", { class: "soft" }, text));
  }

  show({ marginals, differences }, labels) {
    const { marks, variables } = this.context;
    const other = this.kept.B && !this.kept.A ? 1 : 0; // the one that the cards do not show
    const moved = Object.entries(differences).filter(([name, gap]) => gap > SAME && variables.has(name)).map(([name]) => name);
    const states = moved.map((name) => [name, new Map(variables.get(name).states.map((state, k) => [state, { bar: marginals[name][other][k] }]))]);
    marks.show("whatif", { states: new Map(states), cards: new Map(moved.slice(0, 3).map((name) => [name, { label: "AB"[other] }])) });
    const rest = moved.length > MOST ? `, the first ${MOST} here` : "";
    this.body.replaceChildren(
      make("p", { class: "soft" }, moved.length ? `A: ${labels[0]}. B: ${labels[1]}. ${moved.length} of ${variables.size} variables differ${rest}; thin bars on the cards are ${"AB"[other]}.`
        : `A: ${labels[0]}. B: ${labels[1]}. No degree differs.`),
      ...moved.slice(0, MOST).map((name) => paired(name, variables.get(name).states, marginals[name])));
  }
}

// The bars of A and B for every state of a variable.
export function paired(name, states, [first, second], heads = ["A", "B"]) {
  const rail = (degree, tone) => {
    const fill = make("i", { class: tone });
    fill.style.width = `${100 * degree}%`;
    return make("div", { class: "rail" }, fill);
  };
  const line = (state, k) => make("tr", { class: Math.abs(first[k] - second[k]) > SAME ? "differs" : null },
    make("th", { scope: "row", title: state }, clipped(state, 26)),
    make("td", { class: "bar" }, rail(first[k], "first"), rail(second[k], "second")),
    make("td", { class: "digits" }, three(first[k])), make("td", { class: "digits" }, three(second[k])));
  const head = make("tr", {}, make("th", { scope: "col" }, "State"), make("td"), ...heads.map((text) => make("th", { scope: "col" }, text)));
  return make("table", { class: "paired" }, make("caption", {}, name), make("thead", {}, head), make("tbody", {}, ...states.slice(0, 60).map(line)));
}

function words({ evidence, do: done }) {
  const parts = [...Object.entries(done).map(([name, state]) => `do ${name} = ${state}`),
    ...Object.entries(evidence).map(([name, states]) => `${name} = ${states.join(" or ")}`)];
  return parts.join(", ") || "nothing is known";
}

export const whatIfTab = new WhatIf();
