// What is done: variables that are set from outside, cut off from their causes. Not the same as what is seen.

import { byId, make } from "../dom.js";
import { without } from "../evidence.js";

export class Doing {
  constructor(bench) {
    this.bench = bench;
    this.map = new Map();
    bench.doing = this;
    bench.guards.push((evidence) => this.fit(evidence));
    bench.watchers.push((context) => this.show(context));
  }

  set(name, state) {
    const { evidence } = this.bench;
    return this.replace(new Map(this.map).set(name, state), without(evidence, name), `do ${name} = ${state}`);
  }

  release(name) {
    const rest = new Map(this.map);
    if (name === undefined) rest.clear();
    else rest.delete(name);
    return this.replace(rest, this.bench.evidence, name === undefined ? "undo all that was done" : `no longer do ${name}`);
  }

  // Another situation as a whole, as one step that can be undone.
  replace(map, evidence, text) {
    const before = { map: this.map, evidence: this.bench.evidence };
    const next = { map, evidence };
    this.bench.timeline.add({ text, run: (step) => this.become(step === "undo" ? before : next, text) });
    return this.become(next, text);
  }

  become({ map, evidence }, text) {
    this.take(map);
    return this.bench.become(evidence, text);
  }

  take(map) {
    this.map = map;
    const { do: _, ...rest } = this.bench.extras;
    this.bench.extras = map.size ? { ...rest, do: Object.fromEntries(map) } : rest;
  }

  // What is seen is not done, and what the network lacks cannot be.
  fit(evidence) {
    const { variables } = this.bench;
    const kept = [...this.map].filter(([name, state]) => !evidence.has(name) && variables.get(name)?.states.includes(state));
    if (kept.length < this.map.size) this.take(new Map(kept));
  }

  show({ marks, variables }) {
    document.body.classList.toggle("doing", this.map.size > 0);
    byId("doing").replaceChildren(...[...this.map].map(([name, state]) => make("li", {},
      make("span", {}, make("b", {}, "do "), `${name} = ${state}`),
      make("button", { type: "button", "aria-label": `no longer do ${name} = ${state}`, click: () => this.release(name) }, "×"))));
    if (!this.map.size) {
      marks.clear("do");
      return;
    }
    const done = [...this.map];
    marks.show("do", {
      cards: new Map(done.map(([name, state]) => [name, { tone: "done", label: `do: ${state}` }])),
      states: new Map(done.map(([name, state]) => [name, new Map([[state, { tone: "done" }]])])),
      edges: done.flatMap(([name]) => variables.get(name).parents.map((parent) => ({ from: parent, to: name, tone: "cut", label: "✂" }))),
    });
  }
}
