// The explorer: what is known, what the server says about it, and everything that shows it.

import { byId, make, write } from "./dom.js";
import { asHash, asRequest, fromHash, inOrder, toggled, without } from "./evidence.js";
import { Graph } from "./graph.js";
import { useKeys } from "./keys.js";
import { Panel } from "./panel.js";
import { ask } from "./server.js";
import { View } from "./view.js";
import { count, either, small } from "./words.js";

class Explorer {
  constructor(network) {
    this.network = network;
    this.variables = new Map(network.variables.map((variable) => [variable.name, variable]));
    this.evidence = new Map();
    this.past = [];
    this.change = "";
    this.explaining = false;
    this.answer = undefined;
    this.before = undefined;
    const actions = {
      toggle: (name, state) => this.toggle(name, state),
      say: (name, states, text) => this.say(name, states, text),
      clear: (name) => this.clear(name),
      select: (name, byKey) => this.select(name, byKey),
      close: () => this.close(),
      noticed: (summary) => this.noticed(summary),
      tell: (text) => this.tell(text),
    };
    this.graph = new Graph(byId("graph"), network, actions);
    this.view = new View(byId("stage"), this.graph.world, network.geometry);
    this.panel = new Panel(byId("panel"), actions);
    useKeys(this.graph, this.view, byId("stage"), () => this.close());
    this.dress();
    this.listen();
    this.view.fit();
    this.follow();
  }

  dress() {
    const { name, conjunction, description, variables } = this.network;
    const title = name || "network";
    document.title = `${title} · possnet explorer`;
    write(byId("name"), title);
    byId("name").title = description;
    write(byId("kind"), `${conjunction === "min" ? "min-based" : "product-based"}, ${count(variables.length, "variable")}`);
    document.body.classList.toggle("bounded", this.network.bounded);
    byId("names").replaceChildren(...variables.map((variable) => make("option", { value: variable.name })));
  }

  listen() {
    byId("clear").addEventListener("click", () => this.clear());
    byId("best").addEventListener("click", () => this.explain());
    byId("link").addEventListener("click", () => this.copy());
    byId("closer").addEventListener("click", () => this.view.zoom(1.25));
    byId("farther").addEventListener("click", () => this.view.zoom(0.8));
    byId("fit").addEventListener("click", () => this.view.fit());
    byId("skip").addEventListener("click", () => byId("closer").focus());
    byId("find").addEventListener("change", (event) => this.find(event.target));
    window.addEventListener("hashchange", () => this.follow());
  }

  // Take the evidence of the address.
  follow() {
    const { evidence, unknown } = fromHash(location.hash, this.variables);
    if (unknown.length) this.tell(`The link names what this network lacks, and it was left out: ${unknown.join(", ")}`);
    this.past = [];
    this.become(evidence, "opened the link");
  }

  toggle(name, state) {
    const had = this.evidence.get(name)?.has(state);
    this.past.push(this.evidence);
    this.become(toggled(this.evidence, name, state), `${had ? "took back" : "clicked"} ${name} = ${state}`);
  }

  // One of some states, told as a text such as a number; all of them say nothing.
  say(name, states, text) {
    const told = new Set(states.length < this.variables.get(name).states.length ? states : []);
    this.past.push(this.evidence);
    this.become(told.size ? new Map(this.evidence).set(name, told) : without(this.evidence, name), `set ${name} = ${text}`);
  }

  clear(name) {
    if (name === undefined ? !this.evidence.size : !this.evidence.has(name)) return;
    this.past.push(this.evidence);
    this.become(name === undefined ? new Map() : without(this.evidence, name), "cleared evidence");
  }

  undo() {
    if (this.past.length) this.become(this.past.pop(), "took back a click");
  }

  become(evidence, change) {
    this.evidence = evidence;
    this.change = change;
    history.replaceState(null, "", location.pathname + location.search + asHash(evidence));
    this.show();
    return this.refresh();
  }

  // Ask for all marginals; a newer question makes an older one void.
  async refresh() {
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    const slow = setTimeout(() => document.body.classList.add("busy"), 250);
    const question = { evidence: asRequest(this.evidence), before: !this.before, explain: this.explaining };
    try {
      const answer = await ask("/api/answer", question, running.signal);
      if (this.running !== running) return;
      if (answer.revision !== this.network.revision) this.noticed(await ask("/api/network"));
      if (this.running !== running) return; // what was noticed asks anew
      this.before = answer.before ?? this.before;
      this.answer = answer;
      this.relieve();
    } catch (problem) {
      if (problem.name === "AbortError" || this.running !== running) return;
      this.complain(problem);
    } finally {
      clearTimeout(slow);
      if (this.running === running) document.body.classList.remove("busy");
    }
    this.show();
    document.body.dataset.settled = String(Number(document.body.dataset.settled ?? 0) + 1);
  }

  show() {
    const { answer, evidence } = this;
    const shown = {
      marginals: answer?.marginals,
      bounds: answer?.bounds,
      before: evidence.size ? this.before : undefined,
      evidence,
      best: this.explaining ? answer?.best?.configuration : undefined,
      edited: this.network.edited,
    };
    this.graph.update(shown);
    this.panel.update(shown);
    document.body.classList.toggle("explaining", this.explaining);
    byId("clear").disabled = !evidence.size;
    const edited = this.network.edited.length;
    write(byId("edits"), edited ? `· ${count(edited, "table")} edited` : "");
    this.showKnown();
  }

  showKnown() {
    const chips = [...this.evidence].map(([name, states]) => {
      const label = `${name} = ${either(inOrder(states, this.variables.get(name)))}`;
      return make("li", {}, make("span", {}, label), make("button", {
        type: "button", "aria-label": `clear ${label}`, click: () => this.clear(name),
      }, "×"));
    });
    byId("chips").replaceChildren(...chips);
    const { degree, best, degree_bounds: ends } = this.answer ?? {};
    const apart = ends && small(ends[0]) !== small(ends[1]) ? `, between ${small(ends[0])} and ${small(ends[1])}` : "";
    write(byId("degree"), this.impossible ? "Π(evidence) = 0"
      : !this.evidence.size ? "No evidence yet: click a state."
        : degree === undefined ? "" : `Π(evidence) = ${small(degree)}${apart}`);
    write(byId("configuration"), this.explaining && best && !this.impossible
      ? `Marked: ${best.ties === 1 ? "the only configuration" : `one of ${best.ties.toLocaleString("en")} configurations`} of possibility ${small(best.possibility)}.`
      : "");
  }

  complain(problem) {
    this.impossible = problem.kind === "impossible";
    const words = this.impossible
      ? [make("b", {}, "This cannot be: "), "the evidence has possibility 0, so nothing follows from it. ", `Last, you ${this.change}.`]
      : [problem.message];
    const back = this.past.length
      ? make("button", { type: "button", click: () => this.undo() }, "Undo the last click")
      : this.evidence.size ? make("button", { type: "button", click: () => this.clear() }, "Clear evidence") : null;
    const again = problem.kind === "gone" ? make("button", { type: "button", click: () => this.refresh() }, "Try again") : null;
    byId("banner").replaceChildren(make("span", {}, ...words), ...[again ?? back].filter(Boolean));
    byId("banner").hidden = false;
    document.body.classList.add("stale");
  }

  relieve() {
    this.impossible = false;
    byId("banner").hidden = true;
    byId("banner").replaceChildren();
    document.body.classList.remove("stale");
  }

  select(name, byKey = false) {
    if (this.panel.variable?.name === name) return this.close();
    this.panel.open(this.variables.get(name));
    this.graph.select(name);
    this.show();
    if (byKey) this.panel.focus();
    requestAnimationFrame(() => this.view.reveal(this.graph.cards.get(name).place));
  }

  close() {
    const { variable } = this.panel;
    byId("reading").open = false;
    if (!variable) return;
    const inside = byId("panel").contains(document.activeElement) || document.activeElement === document.body;
    this.panel.close();
    this.graph.select(undefined);
    if (inside) this.graph.cards.get(variable.name).heading.focus();
  }

  find(input) {
    const wanted = input.value.trim().toLowerCase();
    const names = [...this.variables.keys()];
    const name = names.find((one) => one.toLowerCase() === wanted) ?? names.find((one) => one.toLowerCase().includes(wanted));
    if (!wanted) return;
    if (name === undefined) this.tell(`No variable is called “${input.value}”.`);
    else {
      input.value = "";
      if (this.panel.variable?.name !== name) this.select(name);
      requestAnimationFrame(() => this.view.reveal(this.graph.cards.get(name).place, true));
    }
  }

  explain() {
    this.explaining = !this.explaining;
    byId("best").setAttribute("aria-pressed", String(this.explaining));
    return this.refresh();
  }

  // Tables were edited, here or in another window.
  noticed(summary) {
    const changed = summary.revision !== this.network.revision;
    this.network.revision = summary.revision;
    this.network.edited = summary.edited;
    if (changed) {
      this.before = undefined;
      this.refresh();
      this.panel.revised(summary.revision);
    }
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

const shape = window.innerWidth < 0.9 * window.innerHeight ? "tall" : "wide";
try {
  new Explorer(await ask(`/api/network?shape=${shape}`));
} catch (problem) {
  write(byId("banner"), problem.message);
  byId("banner").hidden = false;
}
