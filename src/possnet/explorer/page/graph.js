// The network as cards and edges.

import { Card } from "./card.js";
import { draw, set } from "./dom.js";

const LETTERS = "system-ui, sans-serif"; // as in style.css
const pen = document.createElement("canvas").getContext("2d");
const FEW = 60; // cards that are all drawn with their rows at once

export class Graph {
  constructor(svg, network, actions) {
    this.actions = actions;
    this.geometry = network.geometry;
    this.cards = new Map(network.variables.map((variable, k) => [variable.name, new Card(variable, network.geometry.cards[k], network.geometry, actions)]));
    this.lines = network.geometry.edges.map((edge) => this.edge(edge));
    this.world = draw("g", { class: "world" }, draw("g", { class: "edges" }, ...this.lines.flatMap((line) => [line.element, line.hit])));
    const inOrder = [...this.cards.values()].sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
    this.world.append(...inOrder.map((card) => card.element));
    this.order = inOrder.map((card) => card.variable.name);
    svg.replaceChildren(tip(), this.world);
    if (this.cards.size <= FEW) for (const card of inOrder) card.detail();
    this.squeeze(inOrder.flatMap((card) => card.fresh.splice(0)));
    this.near = new Map(network.variables.map(({ name }) => [name, []]));
    for (const line of this.lines) for (const end of new Set([line.from, line.to])) this.near.get(end).push(line);
  }

  // Rows for the cards that are looked at from near.
  look({ left, top, right, bottom }) {
    const fresh = [];
    for (const card of this.cards.values()) {
      const { x, y, width, height } = card.place;
      if (!card.detailed && x < right && y < bottom && x + width > left && y + height > top) {
        card.detail();
        fresh.push(...card.fresh.splice(0));
      }
    }
    this.squeeze(fresh);
    return fresh.length > 0;
  }

  // A card on its way, and the edges at it.
  move(name, x, y) {
    this.cards.get(name).move(x, y);
    for (const { from, to, element, hit } of this.near.get(name)) {
      const d = route(this.cards.get(from).place, this.cards.get(to).place, []);
      set(element, { d });
      set(hit, { d });
    }
  }

  // Press texts that are wider than their room; a canvas measures them, which lays nothing out.
  squeeze(texts) {
    for (const [text, room, font] of texts) {
      pen.font = `${font} ${LETTERS}`;
      const wide = pen.measureText(text.textContent).width > room;
      set(text, { textLength: wide ? room : null, lengthAdjust: wide ? "spacingAndGlyphs" : null });
    }
  }

  edge({ from, to, points }) {
    const d = route(this.cards.get(from).place, this.cards.get(to).place, points);
    const element = draw("path", { class: "edge", d, "marker-end": "url(#tip)" });
    const hit = draw("path", { class: "edge-hit", d }, draw("title", {}, `${from} → ${to}`));
    hit.addEventListener("click", (event) => this.actions.pickEdge?.(from, to, event));
    return { from, to, element, hit };
  }

  // Show degrees: of now, of before the evidence, and the states of the best configuration.
  update(shown) {
    for (const card of this.cards.values()) card.update(shown);
    this.squeeze([...this.cards.values()].flatMap((card) => card.fresh.splice(0)));
  }

  // Mark a card, and the edges at it.
  select(name) {
    for (const [other, card] of this.cards) card.element.classList.toggle("selected", other === name);
    for (const { from, to, element } of this.lines) element.classList.toggle("near", from === name || to === name);
  }
}

function tip() {
  return draw("defs", {}, draw("marker", {
    id: "tip", viewBox: "0 0 8 8", refX: 2, refY: 4, markerWidth: 8, markerHeight: 8, orient: "auto", markerUnits: "userSpaceOnUse",
  }, draw("path", { class: "tip", d: "M0 0L8 4L0 8z" })));
}

// The line of an edge: by the points of the layout, or else straight from rim to rim.
export function route(above, below, points) {
  const line = points.length > 1 ? points.map((point) => [...point]) : between(above, below);
  if (points.length > 1) {
    line[0][1] = above.y + above.height;
    line.at(-1)[1] = below.y - 5;
  }
  let path = `M${line[0][0]} ${line[0][1]}`;
  for (let k = 1; k < line.length; k += 1) {
    const [[x0, y0], [x1, y1]] = [line[k - 1], line[k]];
    const bend = 0.5 * (y1 - y0);
    path += x0 === x1 || line.straight ? `L${x1} ${y1}` : `C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`;
  }
  return path;
}

// Downwards from the lower side to the upper side; otherwise from the nearer sides.
function between(above, below) {
  const [cx, dx] = [above.x + above.width / 2, below.x + below.width / 2];
  if (below.y - 12 >= above.y + above.height) return [[cx, above.y + above.height], [dx, below.y - 5]];
  const [cy, dy] = [above.y + above.height / 2, below.y + below.height / 2];
  const line = below.x >= above.x + above.width ? [[above.x + above.width, cy], [below.x - 5, dy]]
    : above.x >= below.x + below.width ? [[above.x, cy], [below.x + below.width + 5, dy]]
      : [[cx, above.y], [dx, below.y + below.height + 5]];
  line.straight = true;
  return line;
}
