// Learning from the table, and checking what was learned: options, results, and the reliability picture.

import { make } from "../dom.js";
import { count, three } from "../words.js";

const METHODS = ["auto", "boss", "greedy", "hidden-tree", "mwst", "k2", "hybrid-tree", "hybrid-dag"];

export class Learning {
  constructor(context, start) {
    Object.assign(this, { context, start });
    this.keep = make("select", { "aria-label": "What to learn" }, make("option", { value: "learn" }, "structure and tables"), make("option", { value: "keep" }, "tables of the structure on the page"));
    this.method = make("select", { "aria-label": "How to search for a structure" }, ...METHODS.map((name) => make("option", { value: name }, name === "auto" ? "the method that fits" : name)));
    this.keep.addEventListener("change", () => { this.method.hidden = this.keep.value === "keep"; });
    this.seconds = make("input", { type: "number", min: 1, max: 3600, value: 300, "aria-label": "Seconds at most" });
    this.go = make("button", { type: "button", class: "main", click: () => this.learn() }, "Learn");
    this.how = make("select", { "aria-label": "What to check" }, make("option", { value: "0" }, "this network on these rows"), make("option", { value: "5" }, "learning, in 5 folds"));
    this.check = make("button", { type: "button", click: () => this.start("/api/table-check", { ...this.options, folds: Number(this.how.value) }) }, "Check");
    this.result = make("div", { "aria-live": "polite" });
    this.picture = make("div", { class: "reliability", "aria-live": "polite" });
    this.element = make("div", {},
      make("h3", {}, "Learn"),
      make("p", { class: "row" }, this.keep, this.method, make("label", {}, "at most ", this.seconds, " s"), this.go), this.result);
    this.checking = make("div", {},
      make("h3", {}, "How reliable are the degrees?"),
      make("p", { class: "row" }, this.how, this.check), this.picture);
  }

  get options() {
    return { keep: this.keep.value === "keep", method: this.method.value, seconds: Math.min(3600, Math.max(1, Number(this.seconds.value) || 300)) };
  }

  learn() {
    this.mine = true;
    this.start("/api/table-learn", this.options);
  }

  update({ variables }) {
    this.keep.options[1].disabled = !variables.size;
    this.how.options[0].disabled = !variables.size;
    if (!variables.size) {
      this.how.value = "5";
      this.keep.value = "learn";
    }
  }

  async settle({ job }, table) {
    if (job?.state !== "done" || job.task === "read") return;
    if (job.task === "check") this.showCheck(job.result);
    else {
      this.showLearned(job, table);
      if (this.mine) await this.adopt(job);
      this.mine = false;
    }
  }

  // The learned network takes the place of the one on the page, as a step that can be undone.
  async adopt(job) {
    try {
      await this.context.change("/api/table-adopt", { job: job.number });
      this.how.value = "5"; // its own rows would praise it
      this.context.actions.tell("The learned network is on the page; Undo brings the one before back.");
    } catch (problem) {
      this.result.append(make("p", { class: "wrong" }, problem.message));
    }
  }

  showLearned(job, table) {
    const { rows, variables, count: edges, method, reason, how, notes, edges: listed } = job.result;
    const known = listed.filter(([, , value]) => value !== null).sort((a, b) => b[2] - a[2]);
    const strongest = known.slice(0, 8).map(([parent, child, value, open]) => make("tr", {},
      make("th", { scope: "row" }, `${parent} ${open ? "–" : "→"} ${child}`), make("td", { class: "digits" }, value.toFixed(1))));
    this.result.replaceChildren(...[
      make("p", {}, make("b", {}, `${count(variables, "variable")} and ${count(edges, "edge")}`), ` from ${count(rows, "row")} of ${table?.name ?? "the table"}: ${method || how}.`),
      reason ? make("p", { class: "soft" }, reason) : null,
      strongest.length ? make("details", { class: "asking" }, make("summary", {}, "What the edges are worth"),
        make("table", { class: "plain" }, make("tbody", {}, ...strongest)), known.length > 8 ? make("p", { class: "soft" }, `… and ${known.length - 8} more`) : null) : null,
      ...(notes ?? []).slice(0, 4).map((note) => make("p", { class: "soft" }, note)),
      this.mine ? null : make("button", { type: "button", click: () => this.adopt(job) }, "Put it on the page"),
    ].filter(Boolean));
  }

  // The picture comes from the server as SVG text, and is shown as a picture: nothing in it can be more than that.
  showCheck({ sentence, picture, points, tables, method }) {
    const image = make("img", { alt: `Reliability: ${points.map(([promised, held]) => `promised ${promised}, held ${three(held)}`).join("; ")}` });
    image.src = `data:image/svg+xml,${encodeURIComponent(picture)}`;
    const [first] = tables;
    const row = (cells, tag, scope) => make("tr", {}, ...cells.map((cell, k) => make(k && tag === "td" ? "td" : "th", { scope: k && tag === "td" ? null : scope, class: k ? "digits" : null }, cell)));
    const table = make("table", { class: "plain" }, make("thead", {}, row(first.head, "th", "col")), make("tbody", {}, ...first.rows.slice(0, 60).map((cells) => row(cells, "td", "row"))));
    this.picture.replaceChildren(make("p", {}, make("b", {}, sentence)), image,
      make("p", { class: "soft" }, "A cut at level a promises to hold the truth in 1 − a of the cells. The line should lie on the dashed one or above it."),
      make("details", { class: "asking" }, make("summary", {}, "By variable"), make("div", { class: "scroll" }, table), ...(first.note ? [make("p", { class: "soft" }, first.note)] : [])),
      ...method.map((line) => make("p", { class: "soft" }, line)));
  }

  clear() {
    this.result.replaceChildren();
    this.picture.replaceChildren();
  }
}
