// Rows of the table, one at a time, as evidence; what the network makes of what a row leaves open.

import { make, set, write } from "../dom.js";
import { inOrder } from "../evidence.js";
import { either, three } from "../words.js";

export class Rows {
  constructor(context) {
    this.context = context;
    this.number = undefined;
    const step = (by) => () => this.go((this.number ?? (by > 0 ? -1 : this.count)) + by);
    this.place = make("input", { type: "number", min: 1, "aria-label": "Number of the row", change: () => this.go(Number(this.place.value) - 1) });
    this.total = make("span", { class: "soft" });
    this.back = make("button", { type: "button", click: step(-1), "aria-label": "The row before" }, "‹");
    this.on = make("button", { type: "button", click: step(1), "aria-label": "The next row" }, "›");
    this.fill = make("button", { type: "button", click: () => this.complete(), hidden: true }, "Complete this row");
    this.note = make("p", { class: "wrong", role: "status" });
    this.cells = make("div", { "aria-live": "polite" });
    this.element = make("div", {}, make("p", { class: "row stepper" }, this.back, this.place, this.total, this.on, this.fill), this.note, this.cells);
  }

  show(rows) {
    this.count = rows;
    this.number = undefined;
    this.place.value = "";
    write(this.total, `of ${rows.toLocaleString("en")}`);
    this.clear();
  }

  clear() {
    this.fill.hidden = true;
    write(this.note, "");
    this.cells.replaceChildren();
    this.context.marks.clear("row");
  }

  async go(number) {
    if (!Number.isInteger(number)) return;
    const wanted = Math.min(Math.max(number, 0), this.count - 1);
    try {
      const [row, page] = await Promise.all([this.context.ask("/api/table-row", { number: wanted }), this.context.ask("/api/table-rows", { start: wanted, count: 1 })]);
      this.number = wanted;
      this.place.value = String(wanted + 1);
      set(this.back, { disabled: wanted === 0 });
      set(this.on, { disabled: wanted === this.count - 1 });
      this.take(row, page);
    } catch (problem) {
      this.clear();
      write(this.note, problem.message);
    }
  }

  take(row, page) {
    const { actions } = this.context;
    this.row = row;
    const evidence = new Map(Object.entries(row.evidence).map(([name, states]) => [name, new Set(states)]));
    actions.replaceEvidence(evidence, `took row ${row.number + 1}`);
    write(this.note, row.left_out.length ? `Left out: ${row.left_out.slice(0, 5).join("; ")}${row.left_out.length > 5 ? "; …" : ""}.` : "");
    const open = Object.entries(row.completed);
    this.fill.hidden = !open.length;
    this.list(row, page);
    this.context.marks.clear("row");
  }

  // Every cell as it is given, and what the network would make of it.
  list({ completed, conflicts }, { columns, rows }) {
    const given = Object.fromEntries(columns.map((name, k) => [name, rows[0].cells[k]]));
    const names = [...columns, ...Object.keys(completed).filter((name) => !columns.includes(name))];
    const line = (name) => {
      const answer = completed[name];
      const words = answer ? `${either(answer.states.slice(0, 4))}${answer.states.length > 1 ? " (tied)" : `, certain to ${three(answer.certain)}`}` : "";
      const cell = name in given ? given[name] === null ? "unknown" : either(given[name]) : "no column";
      return make("tr", {}, make("th", { scope: "row" }, name), make("td", { class: given[name] ? null : "soft" }, cell), make("td", {}, words));
    };
    const head = ["Column", "Cell", "Most possible"].map((text) => make("th", { scope: "col" }, text));
    this.cells.replaceChildren(
      conflicts ? make("p", { class: "wrong" }, "The network calls this row impossible; what contradicts what stands above the picture.") : "",
      make("div", { class: "scroll" }, make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...names.map(line)))));
  }

  // The most possible states of every open cell as evidence; those that tie stay a set.
  complete() {
    const { actions, evidence, variables } = this.context;
    const next = new Map(evidence);
    for (const [name, { states }] of Object.entries(this.row.completed)) {
      const variable = variables.get(name);
      if (variable && states.length < variable.states.length) next.set(name, new Set(inOrder(new Set(states), variable)));
    }
    actions.replaceEvidence(next, `completed row ${this.row.number + 1}`);
    const filled = [...next.keys()].filter((name) => !(name in this.row.evidence));
    this.context.marks.show("row", { cards: new Map(filled.map((name) => [name, { tone: "asked", label: "completed" }])) });
    actions.tell(`Completed ${filled.length ? filled.join(", ") : "nothing that is not tied"}.`);
  }
}
