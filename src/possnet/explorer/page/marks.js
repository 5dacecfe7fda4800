// Marks on the picture, in layers: each feature has a layer of its own, shows it as a whole, and takes it away as a whole.
//
//   marks.show("why", {
//     cards: new Map([["fever", { tone: "story", label: "high" }]]),
//     states: new Map([["fever", new Map([["high", { tone: "story", bar: 0.4, label: "A" }]])]]),
//     edges: [{ from: "flu", to: "fever", tone: "story", label: "+" }],
//   });
//
// A tone becomes the class `tone-<tone>` of the card, the row or the line (marks.css has them); a label becomes a small
// badge; a bar is a second, thin bar below that of the state. Marks last through answers, not through other cards.

import { draw, set, write } from "./dom.js";

export class Marks {
  constructor(graph) {
    this.graph = graph;
    this.layers = new Map();
    this.worn = [];
  }

  show(layer, marks) {
    this.layers.set(layer, marks);
    this.apply();
  }

  clear(layer) {
    if (this.layers.delete(layer)) this.apply();
  }

  // The picture was drawn anew, or the rows of its cards are other states.
  attach(graph) {
    this.graph = graph;
    this.worn = [];
    this.apply();
  }

  apply() {
    for (const undo of this.worn) undo();
    this.worn = [];
    for (const { cards, states, edges } of this.layers.values()) {
      for (const [name, mark] of cards ?? []) this.card(name, mark);
      for (const [name, marked] of states ?? []) for (const [state, mark] of marked) this.state(name, state, mark);
      for (const mark of edges ?? []) this.edge(mark);
    }
  }

  wear(element, tone) {
    if (!tone) return;
    element.classList.add(`tone-${tone}`);
    this.worn.push(() => element.classList.remove(`tone-${tone}`));
  }

  card(name, { tone, label }) {
    const card = this.graph.cards.get(name);
    if (!card) return;
    this.wear(card.element, tone);
    if (label) this.badge(card.element, label, card.place.width - 6, -5, "end");
  }

  state(name, state, { tone, bar, label }) {
    const row = this.graph.cards.get(name)?.rows.find((one) => one.state === state);
    if (!row) return;
    this.wear(row.element, tone);
    if (bar !== undefined) {
      set(row.second, { width: (row.room * bar).toFixed(1), visibility: null });
      this.worn.push(() => set(row.second, { width: 0, visibility: "hidden" }));
    }
    if (label) this.badge(row.element, label, row.left + row.room - 3, row.middle + 4, "end");
  }

  edge({ from, to, tone, label }) {
    const line = this.graph.lines.find((one) => one.from === from && one.to === to) ?? this.ghost(from, to);
    if (!line) return;
    this.wear(line.element, tone);
    if (!label) return;
    const at = line.element.getPointAtLength(line.element.getTotalLength() / 2);
    this.badge(this.graph.world, label, at.x, at.y + 4, "middle");
  }

  // A line where the network has no edge, from the side of one card that is nearer to the other.
  ghost(from, to) {
    const [above, below] = [this.graph.cards.get(from)?.place, this.graph.cards.get(to)?.place];
    if (!above || !below) return undefined;
    const down = below.y >= above.y + above.height;
    const [x0, y0] = [above.x + above.width / 2, down ? above.y + above.height : above.y];
    const [x1, y1] = [below.x + below.width / 2, down ? below.y - 5 : below.y + below.height + 5];
    const bend = Math.max(30, Math.abs(y1 - y0) / 2) * (down ? 1 : -1);
    const element = draw("path", { class: "edge ghost-edge", d: `M${x0} ${y0}C${x0} ${y0 + bend} ${x1} ${y1 - bend} ${x1} ${y1}`, "marker-end": "url(#tip)" });
    this.graph.world.querySelector(".edges").append(element);
    this.worn.push(() => element.remove());
    return { element };
  }

  badge(parent, label, x, y, anchor) {
    const text = draw("text", { class: "badge", x, y, "text-anchor": anchor, "aria-hidden": "true" });
    write(text, String(label));
    parent.append(text);
    this.worn.push(() => text.remove());
  }
}
