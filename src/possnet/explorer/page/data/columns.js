// The columns of a table: their states, how imprecise and how unknown their cells are; which to use, and in which bins.

import { make } from "../dom.js";
import { clipped, count, typed } from "../words.js";

const SHOWN = 6;

export class Columns {
  constructor(apply) {
    this.apply = apply;
    this.asked = new Map(); // how columns were read last, as far as someone said so
    this.element = make("div");
  }

  show({ columns }) {
    this.rows = columns.map((column) => this.row(column));
    const all = (chosen) => this.rows.forEach(({ use }) => { use.checked = chosen && !use.disabled; });
    const words = make("input", { type: "text", size: 14, placeholder: "NA, none given", autocomplete: "off", spellcheck: false, value: this.words?.value ?? "" });
    this.words = words;
    const head = ["Column", "States", "Sets", "Unknown"].map((text) => make("th", { scope: "col" }, text));
    this.wrong = make("p", { class: "wrong", role: "status" });
    this.element.replaceChildren(
      make("div", { class: "scroll" }, make("table", { class: "plain columns" },
        make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...this.rows.flatMap(({ lines }) => lines)))),
      make("p", { class: "row" },
        make("button", { type: "button", click: () => all(true) }, "All"), make("button", { type: "button", click: () => all(false) }, "None"),
        make("label", {}, "Words for unknown ", words),
        make("button", { type: "button", click: () => this.send() }, "Read again")),
      this.wrong);
  }

  row(column) {
    const { name, states, count: number, imprecise, unknown, sets, bins, chosen, wide, unusable } = column;
    const use = make("input", { type: "checkbox", "aria-label": `use ${name}`, disabled: Boolean(unusable) });
    use.checked = chosen;
    const listed = unusable ? `left out: it ${unusable}` : `${states.slice(0, SHOWN).map((state) => clipped(state, 16)).join(", ")}${number > SHOWN ? `, … (${number.toLocaleString("en")})` : ""}`;
    const line = make("tr", { class: wide ? "wide" : null },
      make("th", { scope: "row" }, make("label", {}, use, " ", clipped(name, 40))),
      make("td", { title: bins ?? null }, listed),
      ...unusable ? [make("td"), make("td")] : [share(sets, `${count(Math.round(100 * imprecise), "percent").replace("percents", "percent")} imprecise, unknown ones too`), share(unknown)]);
    const fields = column.number ? this.bins(column) : undefined;
    const lines = [line, ...(fields ? [make("tr", {}, make("td", { colspan: 4 }, fields.element))] : [])];
    return { name, use, fields, lines };
  }

  // How a column of numbers becomes states.
  bins({ name, bins, edges, count: number }) {
    const way = make("select", { "aria-label": `bins of ${name}` }, ...[["quantile", "bins of equally many"], ["width", "bins of equal width"], ["edges", "bins with edges"], ["states", "every number a state"]]
      .map(([value, text]) => make("option", { value }, text)));
    const last = this.asked.get(name);
    way.value = !bins ? "states" : last?.way ?? "quantile";
    const amount = make("input", { type: "number", min: 2, max: 50, value: bins ? number : 4, "aria-label": `how many bins of ${name}` });
    const ends = make("input", { type: "text", size: 14, value: (edges ?? []).join(", "), "aria-label": `edges of the bins of ${name}`, placeholder: "37.5, 38.5" });
    const error = make("input", { type: "text", size: 5, value: last?.error ?? "0", "aria-label": `error of a reading of ${name}` });
    const fit = () => {
      amount.hidden = !["quantile", "width"].includes(way.value);
      ends.hidden = way.value !== "edges";
      error.parentElement.hidden = way.value === "states";
    };
    const element = make("span", { class: "bins" }, way, amount, ends, make("label", {}, " error ± ", error));
    way.addEventListener("change", fit);
    fit();
    return { element, way, amount, ends, error, name };
  }

  send() {
    this.wrong.textContent = "";
    const columns = this.rows.filter(({ use }) => use.checked).map(({ name }) => name);
    const bins = {};
    this.asked = new Map(this.rows.filter(({ fields }) => fields).map(({ name, fields }) => [name, { way: fields.way.value, error: fields.error.value }]));
    for (const { name, fields } of this.rows.filter((row) => row.fields && row.fields.way.value !== "states")) {
      const { way, amount, ends, error } = fields;
      const edges = way.value === "edges" ? ends.value.split(/[;\s]+|,\s*/).filter(Boolean).map(Number) : way.value;
      const width = typed(error.value || "0");
      const odd = way.value === "edges" && (!edges.length || edges.some(Number.isNaN)) ? "edges such as 37.5, 38.5" : !(width >= 0) ? "an error such as 0.2" : undefined;
      if (odd) {
        this.wrong.textContent = `${name}: expected ${odd}.`;
        return;
      }
      bins[name] = { edges, error: width, ...(way.value === "edges" ? {} : { bins: Number(amount.value) }) };
    }
    const words = this.words.value.split(",").map((word) => word.trim()).filter(Boolean);
    this.apply({ columns, bins, unknown_words: words });
  }
}

function share(part, title) {
  const fill = make("i", { class: "possible" });
  fill.style.width = `${100 * part}%`;
  const text = part > 0 && part < 0.01 ? "<1 %" : `${Math.round(100 * part)} %`;
  return make("td", { class: "share", title: title ?? null }, make("span", { class: "digits" }, text), make("div", { class: "rail bar" }, fill));
}
