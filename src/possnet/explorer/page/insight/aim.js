// The degree that is asked about: a variable, and one of its states. Several tabs share it.

import { make, set } from "../dom.js";
import { asRequest, inOrder, without } from "../evidence.js";
import { either } from "../words.js";

export class Aim {
  constructor(context, { states = true, label = "About" } = {}) {
    this.context = context;
    this.names = make("select", { "aria-label": "The variable asked about", change: () => this.choose(this.names.value) });
    this.states = make("select", { "aria-label": "Its state", change: () => this.choose(this.names.value, this.states.value) });
    this.element = make("p", { class: "aim" }, make("span", {}, label), this.names, states ? this.states : null);
  }

  choose(target, state) {
    this.context.actions.aim(target, state);
  }

  // The variable and the state that are asked about now; undefined without variables.
  update({ variables, aimed, selection, evidence, answer }) {
    if (!variables.size) return undefined;
    const names = [...variables.keys()];
    const wanted = [aimed?.target, selection, names.find((name) => !evidence.has(name)), names[0]];
    const target = wanted.find((name) => variables.has(name));
    const { states } = variables.get(target);
    const degrees = answer?.marginals?.[target]?.possibility ?? [];
    const likely = states[Math.max(0, degrees.indexOf(Math.max(...degrees)))];
    const state = aimed?.target === target && states.includes(aimed.state) ? aimed.state : likely;
    fill(this.names, names, target);
    fill(this.states, states, state);
    return { target, state };
  }
}

function fill(select, texts, chosen) {
  const key = texts.join("\n");
  if (select.dataset.key !== key) {
    select.replaceChildren(...texts.map((text) => make("option", { value: text }, text)));
    set(select, { "data-key": key });
  }
  select.value = chosen;
}

// What is seen and what is done, as the server is asked; without what is seen of one variable, if that is asked about.
export function situation({ evidence, doing }, apart) {
  return { evidence: asRequest(apart === undefined ? evidence : without(evidence, apart)), do: Object.fromEntries(doing.map) };
}

// What to say where a degree has no reasons: there is no variable, the evidence contradicts itself, or it was set.
export function obstacle({ problem, doing }, aimed) {
  if (!aimed) return "There is no variable yet.";
  if (doing.map.has(aimed.target)) return `${aimed.target} was set from outside: there is no other reason for its degrees.`;
  return problem?.kind === "impossible" ? "The evidence contradicts itself, so that nothing follows from it. The ways out stand above the picture." : undefined;
}

// A finding in words: fever = mild or high.
export function finding(name, { evidence, variables }) {
  const states = evidence.get(name);
  return states && variables.has(name) ? `${name} = ${either(inOrder(states, variables.get(name)))}` : name;
}

// A sentence for a variable that is known: what is asked leaves that out.
export function apartNote(target, context) {
  return context.evidence.has(target) ? `It is known that ${finding(target, context)}; this is what the rest says of it.` : "";
}
