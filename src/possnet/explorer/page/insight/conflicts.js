// Impossible evidence: the findings that contradict each other, marked on the picture, and the ways out, one click each.

import { byId, make } from "../dom.js";
import { without } from "../evidence.js";
import { small } from "../words.js";
import { finding, situation } from "./aim.js";
import { Loader } from "./loader.js";

const MOST = 4;

export class Contradictions {
  constructor(bench) {
    this.loader = new Loader("/api/conflicts");
    this.box = byId("ways-out");
    bench.watchers.push((context) => this.watch(context));
  }

  watch(context) {
    if (context.problem?.kind !== "impossible") {
      if (this.shown) {
        this.loader.forget();
        context.marks.clear("conflict");
        this.box.replaceChildren();
        this.box.hidden = true;
        this.shown = false;
      }
      return;
    }
    this.shown = true;
    this.loader.load(context, situation(context), (answer) => this.show(context, answer), (problem) => this.fail(problem));
  }

  fail(problem) {
    this.box.replaceChildren(make("p", { class: "soft" }, problem.message));
    this.box.hidden = false;
  }

  show(context, { sets, repairs, complete }) {
    const marked = new Set(sets[0] ?? []);
    const words = (names) => names.map((name) => finding(name, context));
    const listed = sets.slice(0, MOST).map((names) => make("li", {}, names.length === 1 ? `${words(names)[0]} is impossible by itself` : words(names).join(" and ")));
    const title = sets.length > 1 ? "These contradict each other, each line by itself:" : "What contradicts what:";
    this.box.replaceChildren(
      make("p", {}, make("b", {}, title)), make("ul", {}, ...listed),
      make("p", {}, make("b", {}, "Ways out, the most possible first:")),
      make("div", { class: "row" }, ...repairs.slice(0, MOST).flatMap((repair) => this.ways(context, repair))),
      complete ? "" : make("p", { class: "soft" }, "There may be more."));
    this.box.hidden = false;
    context.marks.show("conflict", {
      cards: new Map([...marked].map((name) => [name, { tone: "conflict", label: "contradiction" }])),
    });
  }

  // Two buttons: drop findings, or admit one more state in each of them.
  ways(context, { drop, widen, possibility }) {
    const { actions, evidence } = context;
    const rest = drop.reduce((known, name) => without(known, name), evidence);
    const wider = Object.entries(widen).reduce((known, [name, state]) => new Map(known).set(name, new Set([...known.get(name) ?? [], state])), evidence);
    const dropped = `Drop ${drop.map((name) => finding(name, context)).join(", ")}`;
    const admitted = `Admit ${Object.entries(widen).map(([name, state]) => `${name} = ${state}`).join(", ")} too`;
    const title = `then the evidence is possible to ${small(possibility)}`;
    return [
      make("button", { type: "button", title, click: () => actions.replaceEvidence(rest, dropped.toLowerCase()) }, dropped),
      make("button", { type: "button", title, click: () => actions.replaceEvidence(wider, admitted.toLowerCase()) }, admitted),
    ];
  }
}
