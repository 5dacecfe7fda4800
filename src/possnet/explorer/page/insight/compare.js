// Compare: the network on the page beside another one; what differs is coloured on cards and edges, the worst table first.

import { make, write } from "../dom.js";
import { upload } from "../server.js";
import { count, three } from "../words.js";
import { paired } from "./whatif.js";
import { Loader } from "./loader.js";

const WAYS = [["original", "as it was opened, learned or begun"], ["before", "as it was one step before"], ["file", "a second file"], ["example", "a bundled example"]];
const MOST = 60;

class Compare {
  name = "compare";
  title = "Compare";

  mount(element, context) {
    this.context = context;
    this.loader = new Loader("/api/compare");
    this.pairs = new Loader("/api/compare-table");
    this.way = make("select", { "aria-label": "Compare with", change: () => this.update(this.context) },
      ...WAYS.map(([value, text]) => make("option", { value }, text)));
    this.examples = make("select", { "aria-label": "The example", change: () => this.update(this.context), hidden: true });
    this.file = make("input", { type: "file", "aria-label": "The second network", change: () => this.open(this.file.files[0]) });
    this.filed = make("p", { class: "soft", role: "status" });
    this.box = make("div", { class: "drop-zone", hidden: true }, make("label", {}, "Drop a network here, or choose one ", this.file), this.filed);
    this.body = make("div", { "aria-live": "polite" });
    this.pair = make("div", { class: "pair-tables" });
    element.append(make("h2", { tabindex: -1 }, "Compare"), make("p", { class: "aim" }, make("span", {}, "With it"), this.way, this.examples), this.box, this.body, this.pair);
    element.addEventListener("dragover", (event) => event.preventDefault());
    element.addEventListener("drop", (event) => this.dropped(event));
  }

  dropped(event) {
    event.preventDefault();
    event.stopPropagation();
    if (event.dataTransfer.files[0]) this.open(event.dataTransfer.files[0]);
  }

  async open(file) {
    if (!file) return;
    this.way.value = "file";
    write(this.filed, `Reading ${file.name} …`);
    try {
      this.second = await upload("/api/compare-file", file, { name: file.name });
      write(this.filed, `${this.second.file}: ${count(this.second.variables, "variable")}`);
      this.loader.forget();
    } catch (problem) {
      this.second = undefined;
      write(this.filed, problem.message);
    }
    this.update(this.context);
  }

  get request() {
    return { other: this.way.value, example: this.way.value === "example" ? this.examples.value : "" };
  }

  async update(context) {
    this.box.hidden = this.way.value !== "file";
    this.examples.hidden = this.way.value !== "example";
    if (!this.examples.options.length) {
      this.examples.append(make("option", { value: "clinic" }, "clinic"));
    }
    if (!context.variables.size) return this.say("There is no variable yet.");
    if (this.way.value === "file" && !this.second) return this.say("Open the other network first.");
    return this.loader.load(context, this.request, (answer) => this.show(answer), (problem) => this.say(problem.message));
  }

  hidden({ marks }) {
    marks.clear("compare");
    this.loader.forget();
  }

  say(text) {
    this.loader.forget();
    this.context.marks.clear("compare");
    this.body.replaceChildren(make("p", { class: "soft" }, text));
    this.pair.replaceChildren();
  }

  show(answer) {
    const { tables, edges, examples } = answer;
    if (this.examples.options.length !== examples.length) {
      const chosen = this.examples.value;
      this.examples.replaceChildren(...examples.map((name) => make("option", { value: name }, name)));
      this.examples.value = chosen;
    }
    const differing = tables.filter((table) => table.reason || table.largest > 0);
    const changed = edges.filter(([, , change]) => change !== "same");
    this.context.marks.show("compare", this.lights(answer, differing));
    this.body.replaceChildren(...[
      make("p", {}, summary(answer, differing, changed)),
      answer.metrics.length ? metrics(answer.metrics) : answer.reason ? make("p", { class: "soft" }, answer.reason) : null,
      edgeList(changed),
      lists(answer),
      differing.length ? make("h3", {}, "Tables, the worst first") : null,
      make("ul", { class: "tornado" }, ...differing.slice(0, MOST).map((table) => this.table(table))),
      differing.length > MOST ? make("p", { class: "soft" }, `… and ${count(differing.length - MOST, "more table")}`) : null,
    ].filter(Boolean));
    if (this.paired && differing.some((table) => table.name === this.paired && !table.reason)) this.look(this.paired);
    else this.pair.replaceChildren();
  }

  table({ name, largest, mean, reason }) {
    const range = make("i", { class: "range against" });
    range.style.width = `${100 * (largest ?? 1)}%`;
    return make("li", {}, make("button", {
      type: "button", class: "line", click: () => this.look(name), disabled: Boolean(reason), title: reason || null,
      "aria-label": reason ? `${name} cannot be paired: ${reason}` : `${name} ${three(largest)} at most, ${three(mean)} on average; show both tables`,
    }, make("span", { class: "text" }, name), " ", make("span", { class: "digits" }, reason ? "cannot be paired" : `${three(largest)} at most`),
    make("span", { class: "track" }, reason ? null : range)));
  }

  look(name, start = 0) {
    this.paired = name;
    this.pairs.forget();
    this.context.actions.reveal(name);
    return this.pairs.load(this.context, { ...this.request, variable: name, start }, (answer) => this.showPair(answer),
      (problem) => this.pair.replaceChildren(make("p", { class: "wrong" }, problem.message)));
  }

  showPair({ variable, parents, states, rows, start, differing, contexts, same_parents: same }) {
    const tables = rows.map(({ context, other, here }) => paired(
      context.length ? `given ${parents.map((parent, k) => `${parent} = ${context[k]}`).join(", ")}` : "in all contexts", states, [other, here], ["Other", "Here"]));
    const more = start + rows.length < differing
      ? make("button", { type: "button", click: () => this.look(variable, start + rows.length) }, `Next contexts (${start + rows.length + 1} of ${differing})`) : null;
    const note = same ? "" : " It has other parents here: its degrees for the other network's contexts follow by inference.";
    this.pair.replaceChildren(...[
      make("h3", { tabindex: -1 }, `${variable}: both tables`),
      make("p", { class: "soft" }, `${count(differing, "context")} of ${contexts} differ, the worst first.${note}`),
      ...tables, more,
    ].filter(Boolean));
  }

  // Cards by how far their tables differ, in four steps; edges by what became of them.
  lights({ edges, added, other_states: states }, differing) {
    const cards = new Map(differing.map(({ name, largest }) => [name, { tone: `gap-${largest === null ? 4 : Math.min(4, 1 + Math.floor(4 * largest))}`, label: largest === null ? "?" : `Δ ${three(largest)}` }]));
    for (const name of added) cards.set(name, { tone: "new", label: "only here" });
    for (const name of states) cards.set(name, { tone: "gap-4", label: "other states" });
    return {
      cards,
      edges: edges.filter(([, , change]) => change !== "same").map(([from, to, change]) => (change === "reversed" ? { from: to, to: from, tone: "turned", label: "⇄" }
        : { from, to, tone: change === "added" ? "new" : "gone", label: change === "added" ? "+" : "−" })),
    };
  }
}

function summary({ other, tables }, differing, changed) {
  const name = other || "the other network";
  if (!differing.length && !changed.length) return `The same as ${name} in every table and edge.`;
  return `${count(differing.length, "table")} of ${tables.length} and ${count(changed.length, "edge")} differ from ${name}.`;
}

function metrics(listed) {
  const line = ({ label, meaning, value, ignorance }) => {
    const words = Number.isInteger(value) && Number.isInteger(ignorance) && Math.max(value, ignorance) > 1 ? String : three; // a number of edges is whole
    return make("tr", {}, make("th", { scope: "row", title: meaning }, label), make("td", { class: "digits" }, words(value)), make("td", { class: "digits" }, words(ignorance)));
  };
  const head = ["", "Here", "Knowing nothing"].map((text) => make("th", { scope: "col" }, text));
  return make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...listed.map(line)));
}

function edgeList(changed) {
  if (!changed.length) return null;
  const words = { added: "only here", removed: "only there", reversed: "reversed here" };
  return make("details", { class: "asking", open: changed.length <= 8 }, make("summary", {}, count(changed.length, "edge")),
    make("ul", { class: "edges-list" }, ...changed.slice(0, 200).map(([from, to, change]) => make("li", { class: change }, `${from} → ${to}: ${words[change]}`))));
}

function lists({ removed, added, other_states: states }) {
  const parts = [["Only there", removed], ["Only here", added], ["With other states", states]].filter(([, names]) => names.length);
  return parts.length ? make("p", {}, ...parts.flatMap(([title, names]) => [make("b", {}, `${title}: `), `${names.slice(0, 20).join(", ")}${names.length > 20 ? ", …" : ""}. `])) : null;
}

export const compareTab = new Compare();
