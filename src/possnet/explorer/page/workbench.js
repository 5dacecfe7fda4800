// The workbench: what is known, what the server says about it, and everything that shows it.

import { makeActions } from "./actions.js";
import { Builder } from "./builder.js";
import { makeContext } from "./context.js";
import { Dock } from "./dock.js";
import { byId } from "./dom.js";
import { asHash, asRequest, fitting, fromHash, renamed, sameEvidence, toggled, without } from "./evidence.js";
import { Files } from "./files.js";
import { Finder } from "./find.js";
import { Graph } from "./graph.js";
import { Header } from "./header.js";
import { useKeys } from "./keys.js";
import { Marks } from "./marks.js";
import { Panel } from "./panel.js";
import { ask } from "./server.js";
import { Start } from "./start.js";
import { Timeline } from "./timeline.js";
import { View, shapeOf } from "./view.js";

export class Workbench {
  constructor(network) {
    Object.assign(this, { network, evidence: new Map(), extras: {}, explaining: false, shape: shapeOf(window), ask, guards: [], watchers: [] });
    this.actions = makeActions(this);
    this.context = makeContext(this);
    this.header = new Header(this);
    this.timeline = new Timeline(this);
    this.view = new View(byId("stage"));
    this.marks = new Marks();
    this.builder = new Builder(this, byId("stage"));
    this.panel = new Panel(byId("panel"), this.actions, this.context, this.builder);
    this.dock = new Dock(byId("dock"), byId("tabs"), byId("close-dock"));
    this.dock.context = this.context;
    this.dock.changed = () => this.view.resized();
    this.dock.register(this.panel.tab);
    Object.assign(this.view, { sheet: byId("dock"), detailed: () => this.marks.apply() });
    this.finder = new Finder(this);
    this.files = new Files(this);
    this.startPage = new Start(this, this.files);
    this.others = new BroadcastChannel(`possnet ${location.host}`);
    this.others.onmessage = () => this.look();
    this.rebuild(network);
    useKeys(this, byId("stage"));
  }

  start() {
    window.addEventListener("hashchange", () => this.follow());
    window.addEventListener("focus", () => this.look());
    window.addEventListener("resize", () => this.turned());
    this.view.fit();
    this.follow();
    if (!this.network.started) this.startPage.show();
  }

  // The window has another shape: another layout, unless cards were placed by hand.
  async turned() {
    const shape = shapeOf(window);
    if (shape === this.shape) return;
    this.shape = shape;
    const network = await ask(`/api/network?shape=${shape}`);
    if (this.shape !== shape) return;
    this.rebuild(network);
    this.view.fit();
    this.show();
  }

  // The picture of a network: at first, and whenever its cards, edges or places are others.
  rebuild(network) {
    this.network = network;
    this.variables = new Map(network.variables.map((variable) => [variable.name, variable]));
    this.graph = this.view.replace(() => new Graph(byId("graph"), network, this.actions), network.geometry);
    this.marks.attach(this.graph);
    this.header.dress(network);
    const selected = this.variables.get(this.selection);
    if (selected) this.panel.open(selected);
    else if (this.selection) this.close();
    this.graph.select(this.selection);
    this.finder.renew();
    for (const guard of this.guards) guard(this.evidence);
  }

  // Take the evidence of the address.
  follow() {
    const { evidence, unknown } = fromHash(location.hash, this.variables);
    if (unknown.length) this.actions.tell(`The link names what this network lacks, and it was left out: ${unknown.join(", ")}`);
    this.timeline.forgetEvidence();
    return this.become(evidence, "opened the link");
  }

  toggle(name, state) {
    const had = this.evidence.get(name)?.has(state);
    return this.replaceEvidence(toggled(this.evidence, name, state), `${had ? "took back" : "clicked"} ${name} = ${state}`);
  }

  // One of some states, given as a text such as a number; all of them say nothing.
  assume(name, states, text) {
    const known = new Set(states.length < this.variables.get(name).states.length ? states : []);
    return this.replaceEvidence(known.size ? new Map(this.evidence).set(name, known) : without(this.evidence, name), `set ${name} = ${text}`);
  }

  clear(name) {
    if (name === undefined ? !this.evidence.size : !this.evidence.has(name)) return undefined;
    return this.replaceEvidence(name === undefined ? new Map() : without(this.evidence, name), "cleared evidence");
  }

  replaceEvidence(evidence, text) {
    if (!sameEvidence(evidence, this.evidence)) this.timeline.evidence(this.evidence, evidence, text);
    return this.become(evidence, text);
  }

  become(evidence, text) {
    for (const guard of this.guards) guard(evidence);
    this.evidence = evidence;
    this.last = text;
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
    const question = { evidence: asRequest(this.evidence), before: !this.before, explain: this.explaining, ...this.extras };
    try {
      const answer = await ask("/api/answer", question, running.signal);
      if (this.running !== running) return;
      if (answer.revision !== this.network.revision) {
        await this.noticed(await ask(`/api/network?shape=${this.shape}`));
        return; // what was noticed asks anew
      }
      this.before = answer.before ?? this.before;
      this.answer = answer;
      this.problem = undefined;
    } catch (problem) {
      if (problem.name === "AbortError" || this.running !== running) return;
      this.problem = problem;
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
      before: evidence.size || Object.keys(this.extras).length ? this.before : undefined,
      evidence,
      best: this.explaining ? answer?.best?.configuration : undefined,
      edited: this.network.edited,
    };
    this.graph.update(shown);
    for (const watch of this.watchers) watch(this.context);
    this.marks.apply();
    this.panel.update(shown);
    this.dock.update();
    this.header.show();
    this.files.show(this.network);
  }

  extend(name, value) {
    const { [name]: _, ...rest } = this.extras;
    this.extras = value === undefined ? rest : { ...rest, [name]: value };
    return this.refresh();
  }

  select(name, byKey = false) {
    if (this.selection === name && this.dock.open === "variable") return this.close();
    this.selection = name;
    this.panel.open(this.variables.get(name));
    this.graph.select(name);
    this.dock.show("variable");
    this.show();
    if (byKey) this.panel.focus();
    requestAnimationFrame(() => this.reveal(name));
    return undefined;
  }

  reveal(name, readable = false) {
    const card = this.graph.cards.get(name);
    if (card) this.view.reveal(card.place, readable);
  }

  close() {
    const { selection } = this;
    byId("reading").open = false;
    const inside = byId("dock").contains(document.activeElement) || document.activeElement === document.body;
    this.dock.close();
    this.panel.close();
    this.selection = undefined;
    this.graph.select(undefined);
    if (inside && selection) this.graph.cards.get(selection)?.heading.focus();
  }

  // A variable will have another name or other states: what is selected and known goes with them.
  expect(renaming) { this.renaming = renaming; }

  // Send a change of the network, and show what became of it; `drawn` is called as soon as its cards are there, before its bars.
  async change(path, body = {}, drawn = undefined) {
    const summary = await ask(path, { ...body, revision: this.network.revision });
    if (this.renaming) {
      const { variable, name } = this.renaming;
      this.evidence = renamed(this.evidence, this.renaming);
      if (this.selection === variable) this.selection = name.trim();
    }
    await this.changed(summary, drawn);
    return summary;
  }

  // This window has changed the network.
  async changed(summary, drawn) {
    this.timeline.network(summary.undo);
    this.others.postMessage(summary.revision);
    await this.noticed(summary, drawn);
  }

  // The network has changed, here or in another window: look at it again, as far as it did.
  async noticed(summary, drawn) {
    const { revision, frame } = this.network;
    if (summary.revision === revision) return;
    const network = summary.frame === frame ? { ...this.network, ...summary } : summary.geometry ? summary : await ask(`/api/network?shape=${this.shape}`);
    if (network.frame !== frame) this.rebuild(network);
    else this.network = network;
    drawn?.();
    this.before = undefined;
    const evidence = fitting(this.evidence, this.variables);
    await (sameEvidence(evidence, this.evidence) ? this.refresh() : this.become(evidence, "changed the network"));
    if (network.frame === frame) this.panel.revised(network.revision);
    this.show();
  }

  // Whether another window has changed the network meanwhile.
  async look() {
    try {
      const network = await ask(`/api/network?shape=${this.shape}`);
      if (network.revision === this.network.revision) return;
      this.timeline.forgetRedo();
      await this.noticed(network);
    } catch {
      // the next click says so
    }
  }
}
