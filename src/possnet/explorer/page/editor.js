// The conditional table of a variable: a row for every context, degrees to edit, and what is wrong with them.

import { make, set, write } from "./dom.js";
import { ask } from "./server.js";
import { count, rounded, typed } from "./words.js";

export class Editor {
  constructor(actions, context) {
    this.actions = actions;
    this.context = context;
    this.body = make("div", { class: "scroll", role: "region", "aria-label": "Conditional table", tabindex: 0 });
    this.note = make("p", { class: "soft" });
    this.wrong = make("p", { class: "wrong", role: "status" });
    const button = (text, what, title) => make("button", { type: "button", title, click: () => this.run(what) }, text);
    this.buttons = {
      apply: button("Apply", () => this.apply(), "Use these degrees"),
      normalise: button("Normalise", () => this.normalise(), "Bring the peak of every edited context to 1"),
      discard: button("Discard", () => this.discard(), "Forget what was typed"),
      reset: button("Reset", () => this.reset(this.variable.name), "The original table of this variable"),
      first: button("Reset all", () => this.reset(null), "The network as it was opened"),
    };
    const { apply, normalise, discard, reset, first } = this.buttons;
    [this.turner, this.chooser, this.cut] = [make("span"), make("span", { class: "picker" }), make("span")];
    this.pages = make("p", { class: "pages", hidden: true }, this.turner, this.chooser, this.cut);
    this.element = make("section", { class: "editor" }, make("h3", {}, "Conditional table"), this.note, this.body, this.pages,
      this.wrong, make("p", { class: "row" }, apply, normalise, discard), make("p", { class: "row" }, reset, first));
  }

  open(variable) {
    this.variable = variable;
    this.draft = new Map();
    this.contexts = new Map();
    this.page = undefined;
    for (const button of Object.values(this.buttons)) button.disabled = true;
    write(this.wrong, "");
    this.body.replaceChildren();
    this.run(() => this.load(0));
  }

  // Do something with the server; what goes wrong is shown here.
  async run(work) {
    try {
      await work();
    } catch (problem) {
      write(this.wrong, problem.message);
      if (problem.status === 409) await this.load(this.page.start, false).catch(() => {});
    }
  }

  reload() {
    return this.run(() => this.load(this.page.start));
  }

  async load(start, checked = true) {
    const { variable } = this;
    const asked = {};
    this.asked = asked;
    const page = await ask("/api/table", { variable: variable.name, start });
    if (variable !== this.variable || this.asked !== asked) return; // a later page was asked for
    this.page = page;
    this.actions.noticed(page);
    this.render(checked);
  }

  render(checked = true) {
    const { page, variable } = this;
    const given = page.parents.length;
    write(this.note, given
      ? `π(${variable.name} | ${page.parents.join(", ")}): ${count(page.contexts, "context")}, each peaks at 1.`
      : `π(${variable.name}): no parents; the degrees peak at 1.`);
    if (!page.normal) write(this.note, `${count(page.contexts, "context")}; this network is subnormal, and peaks may lie below 1.`);
    const head = make("tr", {}, ...page.parents.map((name) => make("th", { scope: "col", class: "given" }, name)),
      ...variable.states.slice(0, page.rows[0].degrees.length).map((state) => make("th", { scope: "col" }, state)));
    this.body.replaceChildren(make("table", { class: "degrees" }, make("thead", {}, head),
      make("tbody", {}, ...page.rows.map((row) => this.row(row)))));
    this.turning();
    if (checked) this.check();
  }

  row(row) {
    const context = row.context.join(", ");
    const whole = (k) => this.draft.get(row.number)?.[k] ?? String(row.degrees[k]);
    const cells = row.degrees.map((_, k) => make("td", {}, make("input", {
      value: rounded(whole(k)), inputmode: "decimal", autocomplete: "off", spellcheck: "false",
      focus: ({ target }) => { target.value = whole(k); target.select(); },
      blur: ({ target }) => { target.value = rounded(whole(k)); },
      readonly: !this.page.whole, "aria-label": `${this.variable.states[k]}${context ? ` given ${context}` : ""}`,
      input: (event) => this.type(row, k, event.target.value),
      keydown: (event) => { if (event.key === "Enter" && !this.buttons.apply.disabled) this.run(() => this.apply()); },
    })));
    return make("tr", { "data-context": row.number, title: row.support === null ? null : `learned from ${row.support} rows` },
      ...row.context.map((state) => make("th", { scope: "row", class: "given" }, state)), ...cells);
  }

  turning() {
    const { start, rows, contexts } = this.page;
    const held = this.turner.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : undefined;
    const end = start + rows.length;
    const turn = (text, to, label) => make("button", { type: "button", "aria-label": label, disabled: to === null, click: () => this.run(() => this.load(to)) }, text);
    if (start === 0) this.size = rows.length;
    const back = start > 0 ? Math.max(0, start - this.size) : null;
    const whole = (number) => number.toLocaleString("en");
    const long = contexts > rows.length;
    this.turner.replaceChildren(...(long ? [turn("‹", back, "The contexts before"),
      ` contexts ${whole(start + 1)} to ${whole(end)} of ${whole(contexts)} `, turn("›", end < contexts ? end : null, "The next contexts")] : []));
    if (held) (this.turner.querySelector(`[aria-label="${held}"]:not(:disabled)`) ?? this.turner.querySelector("button:not(:disabled)"))?.focus();
    this.picker(long ? this.page.parents : []);
    write(this.cut, this.page.whole ? "" : ` The first ${rows[0].degrees.length} states; so wide a table is not edited here.`);
    this.pages.hidden = !long && this.page.whole;
  }

  // A context by the states of its parents, for tables that are too long to leaf through; who types in it keeps the focus.
  picker(parents) {
    const variables = parents.map((name) => this.context.variables.get(name));
    if (this.picked !== this.variable || this.chooser.children.length !== parents.length) {
      this.picked = this.variable;
      const selects = variables.map(({ name, states }) => make("select", { "aria-label": `Context: ${name}` }, ...states.map((state) => make("option", { value: state }, state))));
      const number = () => selects.reduce((place, select, k) => place * variables[k].states.length + select.selectedIndex, 0);
      for (const select of selects) select.addEventListener("change", () => this.run(() => this.load(number())));
      this.chooser.replaceChildren(...selects.map((select, k) => make("label", {}, `${parents[k]} `, select)));
    }
    [...this.chooser.querySelectorAll("select")].forEach((select, k) => { select.value = this.page.rows[0].context[k]; });
  }

  type(row, k, text) {
    const draft = this.draft.get(row.number) ?? row.degrees.map(String);
    draft[k] = text;
    if (draft.every((value, place) => typed(value) === row.degrees[place])) this.draft.delete(row.number);
    else this.draft.set(row.number, draft);
    this.contexts.set(row.number, row.context);
    this.check();
  }

  // What is wrong with the draft: first a degree that is none, then a context without a peak.
  faults() {
    const found = { degree: null, peak: null };
    for (const [number, draft] of this.draft) {
      const where = this.where(number);
      const values = draft.map(typed);
      const odd = values.findIndex((value) => !(value >= 0 && value <= 1));
      const peak = Math.max(...values);
      if (odd >= 0) found.degree ??= `${this.variable.states[odd]}${where}: “${draft[odd]}”; expected a number from 0 to 1.`;
      else if (this.page.normal && peak !== 1) found.peak ??= `The degrees${where} peak at ${peak}; expected 1. Normalise them, or set one to 1.`;
    }
    return found;
  }

  where(number) {
    const context = this.contexts.get(number) ?? [];
    return context.length ? ` given ${this.page.parents.map((parent, k) => `${parent} = ${context[k]}`).join(", ")}` : "";
  }

  check() {
    const { degree, peak } = this.faults();
    write(this.wrong, degree ?? peak ?? "");
    for (const line of this.body.querySelectorAll("tr[data-context]")) {
      const draft = this.draft.get(Number(line.dataset.context));
      if (!draft && !line.classList.contains("draft")) continue;
      line.classList.toggle("draft", Boolean(draft));
      for (const input of line.querySelectorAll("input")) {
        const value = typed(input.value);
        set(input, { "aria-invalid": !(value >= 0 && value <= 1) ? "true" : null });
      }
    }
    const { apply, normalise, discard, reset, first } = this.buttons;
    apply.disabled = !this.draft.size || Boolean(degree ?? peak);
    normalise.disabled = !peak || Boolean(degree);
    discard.disabled = !this.draft.size;
    reset.disabled = !this.page?.edited.includes(this.variable.name);
    first.disabled = !this.page?.edited.length;
  }

  async apply() {
    const rows = Object.fromEntries([...this.draft].map(([number, draft]) => [number, draft.map(typed)]));
    await this.done(await ask("/api/edit", { variable: this.variable.name, rows, revision: this.page.revision }));
  }

  async normalise() {
    const numbers = [...this.draft.keys()];
    const rows = numbers.map((number) => this.draft.get(number).map(typed));
    const found = await ask("/api/normalise", { variable: this.variable.name, rows });
    numbers.forEach((number, k) => this.draft.set(number, found.rows[k].map(String)));
    this.render();
  }

  discard() {
    this.draft.clear();
    this.render();
  }

  async reset(variable) {
    await this.done(await ask("/api/reset", { variable, revision: this.page.revision }));
  }

  async done(summary) {
    this.draft.clear();
    await this.actions.changed(summary);
    if (!summary.touched.includes(this.variable.name)) this.actions.tell(`This changed the table of ${summary.touched.join(", ") || "nothing"}.`);
  }
}
