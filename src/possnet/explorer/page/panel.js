// The panel of the selected variable: all its states, its neighbours, and its table.

import { make, set, write } from "./dom.js";
import { Editor } from "./editor.js";
import { reading } from "./evidence.js";
import { VariableForm } from "./form.js";
import { NumberField } from "./number.js";
import { Questions } from "./questions.js";
import { between, bounded, count, three } from "./words.js";

const MOST_STATES = 2000;

export class Panel {
  constructor(element, actions, context, builder) {
    Object.assign(this, { element, actions, builder });
    this.editor = new Editor(actions, context);
    this.rows = [];
    this.tab = { name: "variable", title: "Variable", element, mount: () => this.variable || this.invite() };
  }

  // Nothing is selected.
  invite() {
    this.element.replaceChildren(make("p", { class: "soft" }, "Click the name of a variable to see its states and its table."));
  }

  open(variable) {
    this.variable = variable;
    const { actions } = this;
    this.drop = make("button", { type: "button", click: () => actions.clear(variable.name) }, "Clear its evidence");
    const shown = variable.states.slice(0, MOST_STATES);
    this.rows = shown.map((state) => this.row(state));
    this.questions = new Questions(variable, actions);
    this.form = new VariableForm(variable, this.builder, actions);
    const cut = variable.states.length - shown.length;
    const body = make("tbody", {}, ...this.rows.map((row) => row.element));
    const head = make("tr", {}, ...["State", "", "Π", "N"].map((text) => make("th", { scope: "col" }, text)));
    this.element.replaceChildren(...[
      make("h2", { tabindex: -1 }, variable.name),
      make("p", { class: "soft" }, count(variable.states.length, variable.ordered ? "ordered state" : "state")),
      make("div", { class: "states-scroll" }, make("table", { class: "states" }, make("thead", {}, head), body)),
      cut > 0 ? make("p", { class: "soft" }, `... and ${count(cut, "more state")}`) : null,
      variable.bins ? new NumberField(variable, actions).element : null,
      this.drop,
      this.questions.element,
      this.neighbours("Parents", variable.parents),
      this.neighbours("Children", variable.children),
      this.form.element,
      this.editor.element,
    ].filter(Boolean));
    this.element.parentElement.scrollTop = 0;
    this.editor.open(variable);
    this.form.resume();
  }

  // For those who came by key; the way back is Escape.
  focus() {
    this.element.querySelector("h2").focus();
  }

  close() {
    this.variable = undefined;
    this.invite();
  }

  // The network was edited; the table is looked at again if it is older.
  revised(revision) {
    if (this.variable && this.editor.page && this.editor.page.revision !== revision) this.editor.reload();
    if (this.variable) this.questions.revised();
  }

  row(state) {
    const { actions, variable } = this;
    const toggle = make("button", {
      type: "button", role: "checkbox", class: "toggle", "aria-checked": "false", "data-state": state,
      click: () => actions.toggle(variable.name, state),
    }, make("span", { class: "square", "aria-hidden": "true" }), make("span", { class: "text" }, state));
    const band = make("i", { class: "band" });
    const possible = make("i", { class: "possible" });
    const necessary = make("i", { class: "necessary" });
    const point = make("i", { class: "point" });
    const ghost = make("i", { class: "ghost" });
    const pi = make("button", { type: "button", class: "ask-why", title: "Why?", click: (event) => actions.why(variable.name, state, event.detail === 0) });
    const n = make("td", { class: "digits" });
    const element = make("tr", {}, make("td", {}, toggle),
      make("td", { class: "bar" }, make("div", { class: "rail" }, band, possible, necessary, point, ghost)), make("td", { class: "digits" }, pi), n);
    return { element, toggle, band, possible, necessary, point, ghost, pi, n };
  }

  neighbours(title, names) {
    const buttons = names.map((name) => make("button", { type: "button", class: "near", click: (event) => this.actions.select(name, event.detail === 0) }, name));
    return make("p", { class: "neighbours" }, make("b", {}, `${title}: `), ...(buttons.length ? buttons : ["none"]));
  }

  update(shown) {
    if (!this.variable) return;
    this.drop.disabled = !shown.evidence.has(this.variable.name);
    this.questions.update(shown.evidence);
    this.rows.forEach((row, k) => {
      const { pi, n, was, moved, band, given, excluded, best } = reading(shown, this.variable, k);
      write(row.pi, pi === undefined ? "" : band ? between(band.low, band.high) : three(pi));
      set(row.pi, { "aria-label": `why is ${row.toggle.dataset.state} possible to ${row.pi.textContent}?` });
      write(row.n, n === undefined ? "" : band ? between(band.least, band.most) : three(n));
      row.band.style.width = `${100 * (band?.high ?? 0)}%`;
      row.possible.style.width = `${100 * (band?.low ?? pi ?? 0)}%`;
      row.necessary.style.width = `${100 * (band?.least ?? n ?? 0)}%`;
      row.point.style.left = `${100 * (pi ?? 0)}%`;
      row.point.hidden = !band || band.high - band.low <= 0.005;
      set(row.element, { title: band ? bounded(band) : null });
      row.ghost.style.left = `${100 * (was ?? 0)}%`;
      row.ghost.hidden = !moved;
      set(row.toggle, { "aria-checked": String(given) });
      row.element.classList.toggle("excluded", excluded);
      row.element.classList.toggle("best", best);
    });
  }
}
