// The header: the network's name, the evidence as chips, how possible it is, and what is wrong.

import { byId, make, write } from "./dom.js";
import { inOrder } from "./evidence.js";
import { count, either, small } from "./words.js";

export class Header {
  constructor(bench) {
    this.bench = bench;
    const { actions } = bench;
    const click = (id, what) => byId(id).addEventListener("click", what);
    click("clear", () => actions.clear());
    click("best", () => actions.explain());
    click("link", () => this.copy());
    click("closer", () => bench.view.zoom(1.25));
    click("farther", () => bench.view.zoom(0.8));
    click("fit", () => bench.view.fit());
    click("skip", () => byId("closer").focus());
    click("undo", () => actions.undo());
    click("redo", () => actions.redo());
  }

  dress({ name, conjunction, description, variables, bounded }) {
    const title = name || "network";
    document.title = `${title} · possnet explorer`;
    write(byId("name"), title);
    byId("name").title = description;
    write(byId("kind"), `${conjunction === "min" ? "min-based" : "product-based"}, ${count(variables.length, "variable")}`);
    document.body.classList.toggle("bounded", bounded);
    byId("names").replaceChildren(...variables.map((variable) => make("option", { value: variable.name })));
  }

  show() {
    const { evidence, network, explaining, problem, timeline } = this.bench;
    document.body.classList.toggle("explaining", explaining);
    byId("best").setAttribute("aria-pressed", String(explaining));
    byId("clear").disabled = !evidence.size;
    for (const step of ["undo", "redo"]) {
      const next = timeline.next(step, network);
      byId(step).disabled = !next;
      byId(step).title = next ? `${step === "undo" ? "Undo" : "Redo"}: ${next.text}` : "";
    }
    const edited = network.edited.length;
    write(byId("edits"), edited ? `${count(edited, "table")} edited` : "");
    this.showKnown();
    if (problem) this.complain(problem);
    else this.relieve();
  }

  get impossible() {
    return this.bench.problem?.kind === "impossible";
  }

  showKnown() {
    const { actions, answer, evidence, explaining, variables } = this.bench;
    const chips = [...evidence].map(([name, states]) => {
      const label = `${name} = ${either(inOrder(states, variables.get(name)))}`;
      return make("li", {}, make("span", {}, label), make("button", {
        type: "button", "aria-label": `clear ${label}`, click: () => actions.clear(name),
      }, "×"));
    });
    byId("chips").replaceChildren(...chips);
    const { degree, best, degree_bounds: ends } = answer ?? {};
    const apart = ends && small(ends[0]) !== small(ends[1]) ? `, between ${small(ends[0])} and ${small(ends[1])}` : "";
    write(byId("degree"), this.impossible ? "Π(evidence) = 0"
      : !evidence.size ? "No evidence yet: click a state."
        : degree === undefined ? "" : `Π(evidence) = ${small(degree)}${apart}`);
    write(byId("configuration"), explaining && best && !this.impossible
      ? `Marked: ${best.ties === 1 ? "the only configuration" : `one of ${best.ties.toLocaleString("en")} configurations`} of possibility ${small(best.possibility)}.`
      : "");
  }

  complain(problem) {
    if (this.told === problem) return;
    this.told = problem;
    const { actions, evidence, last, timeline } = this.bench;
    const words = this.impossible
      ? [make("b", {}, "This cannot be: "), "the evidence has possibility 0, so nothing follows from it. ", `Last, you ${last}.`]
      : [problem.message];
    const back = timeline.done.at(-1)?.after
      ? make("button", { type: "button", click: () => actions.undo() }, "Undo the last click")
      : evidence.size ? make("button", { type: "button", click: () => actions.clear() }, "Clear evidence") : null;
    const again = problem.kind === "gone" ? make("button", { type: "button", click: () => actions.refresh() }, "Try again") : null;
    byId("banner").replaceChildren(make("span", {}, ...words), ...[again ?? back].filter(Boolean));
    byId("banner").hidden = false;
    document.body.classList.add("stale");
  }

  relieve() {
    if (!this.told) return;
    this.told = undefined;
    byId("banner").hidden = true;
    byId("banner").replaceChildren();
    document.body.classList.remove("stale");
  }

  async copy() {
    try {
      await navigator.clipboard.writeText(location.href);
      this.tell("The link is copied; it holds the evidence, not the edits.");
    } catch {
      this.tell(`The link: ${location.href}`);
    }
  }

  tell(text) {
    write(byId("notice"), text);
    clearTimeout(this.telling);
    this.telling = setTimeout(() => write(byId("notice"), ""), 6000);
  }
}
