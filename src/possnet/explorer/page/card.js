// A card: the name of a variable, and a row for every state: its length possibility, its dark part necessity.

import { draw, set, write } from "./dom.js";
import { reading } from "./evidence.js";
import { bounded, clipped, either, short, three } from "./words.js";

const LABEL = 18;
const BOX = 15;
const NUMBER = 26;

export class Card {
  constructor(variable, place, geometry, actions) {
    Object.assign(this, { variable, place, geometry, actions, fresh: [], rows: [] });
    this.build();
  }

  // The frame, the name and a strip of bars: all that is seen from afar.
  build() {
    const { variable, place, actions } = this;
    const { head } = this.geometry;
    this.name = draw("text", { class: "name", x: place.width / 2, y: 18, "text-anchor": "middle" }, place.name);
    this.heading = draw("g", { class: "head", role: "button", tabindex: 0, "data-name": variable.name },
      draw("title", {}, variable.name),
      draw("rect", { class: "hit", x: 1, y: 1, width: place.width - 2, height: head - 2, rx: 6 }),
      this.name);
    this.heading.addEventListener("click", (event) => actions.select(variable.name, event.detail === 0));
    this.name.style.setProperty("--letters", `${place.letters}px`);
    this.strip = { possible: draw("path", { class: "strip possible" }), necessary: draw("path", { class: "strip necessary" }) };
    this.element = draw("g", { class: "card", transform: `translate(${place.x} ${place.y})` },
      draw("rect", { class: "rim", x: -5, y: -5, width: place.width + 10, height: place.height + 10, rx: 10 }),
      draw("rect", { class: "frame", width: place.width, height: place.height, rx: 7 }), this.heading,
      this.strip.possible, this.strip.necessary,
      draw("circle", { class: "port", cx: place.width / 2, cy: place.height, r: 6 }));
  }

  // The rows, once the card is looked at from near.
  detail() {
    if (this.detailed) return;
    this.detailed = true;
    const { variable, place, actions } = this;
    this.fresh.push([this.name, place.width - 44, "600 13px"]); // from afar it has letters of another size
    const clear = draw("g", { class: "drop", role: "button", tabindex: -1, "aria-label": `clear the evidence on ${variable.name}` },
      draw("title", {}, "clear this evidence"),
      draw("circle", { cx: place.width - 14, cy: 13.5, r: 8 }),
      draw("path", { d: `M${place.width - 17} 10.5l6 6m0 -6l-6 6` }));
    clear.addEventListener("click", () => actions.clear(variable.name));
    this.rows = Array.from({ length: place.rows }, (_, k) => this.row(variable, place, k));
    this.element.append(draw("text", { class: "pencil", x: 9, y: 18 }, "✎"), clear, ...this.rows.map((row) => row.element));
    if (place.rows < variable.states.length) this.element.append(this.more(variable, place));
    if (this.shown) this.update(this.shown);
  }

  // Show degrees: of now, of before the evidence, and the states of the best configuration.
  update(shown) {
    this.shown = shown;
    const { variable, heading, element } = this;
    const { name, states } = variable;
    const known = shown.evidence.get(name);
    const edited = shown.edited.includes(name);
    element.classList.toggle("known", Boolean(known));
    element.classList.toggle("edited", edited);
    const readings = foremost(states.map((_, k) => reading(shown, variable, k)), this.place.rows);
    set(heading, { "aria-label": headingLabel(variable, known, edited, readings) });
    if (!this.detailed) this.sketch(readings);
    if (!this.detailed) return;
    const at = document.activeElement;
    const held = this.rows.find((row) => row.element === at)?.state;
    this.rows.forEach((row, k) => this.fill(row, name, readings[k]));
    const moved = held !== undefined && this.rows.find((row) => row.state === held);
    if (moved && moved.element !== at) moved.element.focus();
    this.sketch(readings);
  }

  // The bars as two shapes, for the view from afar.
  sketch(readings) {
    const { head, line, pad } = this.geometry;
    const room = this.place.width - 2 * pad;
    const bars = (share) => readings.map((one, k) => {
      const long = room * (share(one) ?? 0);
      return long > 0 ? `M${pad} ${(head + (k + 0.22) * line).toFixed(1)}h${long.toFixed(1)}v${(0.56 * line).toFixed(1)}h${(-long).toFixed(1)}z` : "";
    }).join("");
    set(this.strip.possible, { d: bars(({ pi, band }) => band?.low ?? pi) });
    set(this.strip.necessary, { d: bars(({ n, band }) => band?.least ?? n) });
  }

  // Put the card somewhere else.
  move(x, y) {
    Object.assign(this.place, { x, y });
    set(this.element, { transform: `translate(${x} ${y})` });
  }

  row(variable, place, k) {
    const { head, line, pad } = this.geometry;
    const middle = line / 2;
    const left = pad + BOX + place.labels + pad;
    const room = place.width - left - pad - NUMBER - pad / 2;
    const row = { room, left, middle, labels: place.labels + 4, state: null };
    row.label = draw("text", { class: "label", x: pad + BOX, y: middle + 4.2 });
    row.full = draw("title");
    row.box = draw("path", { class: "tick", d: `M${pad + 2.2} ${middle + 0.2}l2.4 2.6l4.4 -5.4` });
    row.band = draw("rect", { class: "band", x: left, y: middle - 5, height: 10, width: 0, rx: 2 });
    row.possible = draw("rect", { class: "possible", x: left, y: middle - 5, height: 10, width: 0, rx: 2 });
    row.necessary = draw("rect", { class: "necessary", x: left, y: middle - 5, height: 10, width: 0, rx: 2 });
    row.second = draw("rect", { class: "second", x: left, y: middle + 3.5, height: 4, width: 0, visibility: "hidden" });
    row.point = draw("rect", { class: "point", y: middle - 5, height: 10, width: 1.8 });
    row.ghost = draw("rect", { class: "ghost", x: left, y: middle - 7.5, height: 15, width: 3.2 });
    row.number = draw("text", { class: "number", x: place.width - pad, y: middle + 3.8, "text-anchor": "end" });
    row.element = draw("g", {
      class: "state", role: "checkbox", tabindex: -1, "aria-checked": "false",
      transform: `translate(0 ${head + k * line})`,
    },
    row.full,
    draw("rect", { class: "hit", x: 3, y: 0, width: place.width - 6, height: line, rx: 4 }),
    draw("rect", { class: "box", x: pad, y: middle - 5, width: 10.5, height: 10.5, rx: 2.5 }), row.box, row.label,
    draw("rect", { class: "rail", x: left, y: middle - 5, width: room, height: 10, rx: 2 }),
    row.band, row.possible, row.necessary, row.second, row.point, row.ghost, row.number);
    const why = (event) => { event.stopPropagation(); if (row.state !== null) this.actions.why(variable.name, row.state); };
    row.element.append(draw("rect", { class: "ask-why", x: place.width - pad - NUMBER, y: 0.5, width: NUMBER + pad - 3, height: line - 1, rx: 4, click: why }));
    row.element.addEventListener("click", () => row.state !== null && this.actions.toggle(variable.name, row.state));
    return row;
  }

  more(variable, place) {
    const { head, line, pad } = this.geometry;
    const hidden = variable.states.length - place.rows;
    const element = draw("g", { class: "more", role: "button", tabindex: -1, transform: `translate(0 ${head + place.rows * line})` },
      draw("rect", { class: "hit", x: 3, y: 0, width: place.width - 6, height: line, rx: 4 }),
      draw("text", { class: "label", x: pad + BOX, y: line / 2 + 4.2 }, `${hidden} more`));
    element.addEventListener("click", (event) => this.actions.select(variable.name, event.detail === 0));
    return element;
  }

  fill(row, name, { state, pi, n, was, moved, band, given, excluded, best }) {
    const look = `${given || best} ${state}`;
    if (look !== row.look) this.fresh.push([row.label, row.labels, given || best ? "600 12px" : "12px"]);
    row.look = look;
    row.state = state;
    const degrees = (possibility, necessity) => (pi === undefined ? "" : possibility + three(pi))
      + (n === undefined ? "" : necessity + three(n));
    write(row.label, clipped(state, LABEL));
    const words = band ? `. ${bounded(band)}` : "";
    write(row.full, `${name} = ${state}${degrees(": Π ", ", N ")}${words}`);
    write(row.number, pi === undefined ? "" : short(pi));
    set(row.band, { width: (row.room * (band?.high ?? 0)).toFixed(1) });
    set(row.possible, { width: (row.room * (band?.low ?? pi ?? 0)).toFixed(1) });
    set(row.necessary, { width: (row.room * (band?.least ?? n ?? 0)).toFixed(1) });
    const x = (row.left + row.room * (pi ?? 0) - 0.9).toFixed(1);
    set(row.point, { x, visibility: band && band.high - band.low > 0.005 ? null : "hidden" });
    set(row.ghost, { x: (row.left + row.room * (was ?? 0) - 1.6).toFixed(1), visibility: moved ? null : "hidden" });
    set(row.element, {
      "data-state": state, "data-pi": pi ?? 0, "data-n": n ?? 0, "aria-checked": String(given),
      "aria-label": `${name} = ${state}${degrees(", possibility ", ", necessity ")}${moved ? `, possibility before the evidence ${three(was)}` : ""}${excluded ? ", excluded" : ""}${words}`,
    });
    row.element.classList.toggle("given", given);
    row.element.classList.toggle("excluded", excluded);
    row.element.classList.toggle("best", best);
  }
}

// Of the readings of all states those that a card has room for, in their order: those that matter, then the most possible.
function foremost(readings, room) {
  if (readings.length <= room) return readings;
  const matters = ({ given, best }) => Number(given || best);
  const first = [...readings].sort((a, b) => matters(b) - matters(a) || (b.pi ?? 0) - (a.pi ?? 0)).slice(0, room);
  return readings.filter((one) => first.includes(one));
}

// What a card says to those who do not see it: what is known of it, what became of it, and its edges.
function headingLabel({ name, parents, children }, known, edited, readings) {
  const most = readings.filter(({ pi }) => pi === 1).map(({ state }) => state);
  const moved = readings.filter((one) => one.moved).map(({ state, was, pi }) => `${state} from ${short(was)} to ${short(pi)}`);
  return [
    name,
    known ? `known to be ${either([...known])}` : most.length && most.length < 4 ? `fully possible: ${most.join(", ")}` : "",
    moved.length ? `possibility changed: ${moved.slice(0, 4).join(", ")}` : "",
    parents.length ? `parents ${parents.slice(0, 8).join(", ")}` : "no parents",
    children.length ? `children ${children.slice(0, 8).join(", ")}` : "no children",
    edited ? "edited" : "",
  ].filter(Boolean).join("; ") + ": details";
}
