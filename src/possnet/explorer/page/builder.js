// Building with the pointer and the keyboard: new cards, moved cards, edges from rim to card, and their deletion.

import { byId, draw, make, set } from "./dom.js";

const STEP = 20;

export class Builder {
  constructor(bench, stage) {
    Object.assign(this, { bench, stage });
    stage.addEventListener("pointerdown", (event) => this.down(event), true);
    stage.addEventListener("pointermove", (event) => this.move(event), true);
    for (const kind of ["pointerup", "pointercancel"]) stage.addEventListener(kind, (event) => this.up(event), true);
    stage.addEventListener("dblclick", (event) => this.double(event));
    stage.addEventListener("click", (event) => this.swallow(event), true);
    stage.addEventListener("keydown", (event) => this.pressed(event));
    bench.actions.pickEdge = (from, to, event) => this.pickEdge(from, to, event);
    byId("add").addEventListener("click", () => this.add());
    byId("tidy").addEventListener("click", () => this.try("/api/build/move", { places: null }).then(() => bench.view.fit()));
    this.menu = make("div", { id: "edge-menu", role: "group", "aria-label": "Edge", hidden: true });
    stage.append(this.menu);
    document.addEventListener("pointerdown", (event) => { if (!this.menu.contains(event.target)) this.menu.hidden = true; });
  }

  // A change of the network; what is refused is told.
  async try(path, body) {
    this.bench.view.fitted = false; // the picture does not move while something is built
    try {
      return await this.bench.change(path, { ...body, shape: this.bench.shape });
    } catch (problem) {
      this.bench.actions.tell(problem.message);
      if (problem.status === 409) await this.bench.look();
      return undefined;
    }
  }

  async add(place, fields = {}) {
    const { bench } = this;
    const summary = await this.try("/api/build/add", { place: place ?? this.middle(), ...fields });
    if (!summary) return;
    const [name] = summary.touched;
    if (bench.selection !== name || bench.dock.open !== "variable") bench.select(name);
    bench.panel.form.begin();
  }

  // The middle of the window, where a new card goes that has no place of its own.
  middle() {
    const { view, network } = this.bench;
    if (!network.variables.length) return [0, 0];
    const box = this.stage.getBoundingClientRect();
    const { width, height } = view.room;
    const [x, y] = view.locate(box.x + width / 2, box.y + height / 2);
    return [Math.round(x - 80), Math.round(y - 40)];
  }

  double(event) {
    if (event.target.closest(".card, button, input, .edge-hit, #tabs, #notice, #edge-menu")) return;
    const [x, y] = this.bench.view.locate(event.clientX, event.clientY);
    this.add([Math.round(x - 80), Math.round(y - 14)]);
  }

  cardAt(target) {
    const element = target?.closest?.(".card");
    return element ? [...this.bench.graph.cards.values()].find((card) => card.element === element) : undefined;
  }

  down(event) {
    const card = event.button === 0 ? this.cardAt(event.target) : undefined;
    const kind = event.target.matches?.(".rim, .port") ? "edge" : event.target.closest?.(".head") ? "move" : undefined;
    if (!card || !kind || this.gesture || this.stage.classList.contains("farthest")) return;
    event.stopPropagation();
    this.gesture = { kind, card, pointer: event.pointerId, from: [event.clientX, event.clientY], at: [card.place.x, card.place.y] };
  }

  move(event) {
    const { gesture, bench } = this;
    if (!gesture || gesture.pointer !== event.pointerId) return;
    event.stopPropagation();
    const [dx, dy] = [event.clientX - gesture.from[0], event.clientY - gesture.from[1]];
    if (!gesture.begun && Math.hypot(dx, dy) < 5) return;
    if (!gesture.begun) this.stage.setPointerCapture(event.pointerId);
    gesture.begun = true;
    if (gesture.kind === "move") {
      const { scale } = bench.view;
      bench.graph.move(gesture.card.variable.name, Math.round(gesture.at[0] + dx / scale), Math.round(gesture.at[1] + dy / scale));
      return;
    }
    const [x, y] = bench.view.locate(event.clientX, event.clientY);
    this.line ??= bench.graph.world.appendChild(draw("path", { class: "edge drawn", "marker-end": "url(#tip)" }));
    const { place } = gesture.card;
    set(this.line, { d: `M${place.x + place.width / 2} ${place.y + place.height / 2}L${x} ${y}` });
    this.aim(this.cardAt(document.elementFromPoint(event.clientX, event.clientY)));
  }

  aim(card) {
    this.target?.element.classList.remove("aimed");
    this.target = card;
    card?.element.classList.add("aimed");
  }

  up(event) {
    const { gesture } = this;
    if (!gesture || gesture.pointer !== event.pointerId) return;
    event.stopPropagation();
    this.gesture = undefined;
    const { name } = gesture.card.variable;
    const child = this.target?.variable.name;
    this.aim(undefined);
    this.line?.remove();
    this.line = undefined;
    if (!gesture.begun) return;
    this.ended = true;
    if (gesture.kind === "move") {
      const { x, y } = gesture.card.place;
      if (event.type === "pointerup") this.try("/api/build/move", { places: { [name]: [x, y] } });
      else this.bench.graph.move(name, ...gesture.at);
    } else if (event.type === "pointerup" && child !== undefined) this.connect(name, child);
  }

  connect(parent, child) {
    return this.try("/api/build/edge", { parent, child });
  }

  disconnect(parent, child) {
    return this.try("/api/build/edge", { parent, child, remove: true });
  }

  async remove(name) {
    if (await this.try("/api/build/remove", { names: [name] })) this.bench.actions.tell(`${name} is deleted. Undo brings it back.`);
  }

  // The end of a drag is no click.
  swallow(event) {
    if (this.ended && event.detail) {
      event.stopPropagation();
      event.preventDefault();
    }
    this.ended = false;
  }

  pickEdge(from, to, event) {
    const box = this.stage.getBoundingClientRect();
    this.menu.replaceChildren(make("span", {}, `${from} → ${to}`), make("button", {
      type: "button", click: () => { this.menu.hidden = true; this.disconnect(from, to); },
    }, "Delete edge"));
    this.menu.style.left = `${event.clientX - box.x}px`;
    this.menu.style.top = `${event.clientY - box.y}px`;
    this.menu.hidden = false;
    this.menu.querySelector("button").focus();
  }

  pressed(event) {
    if (event.target.closest("button, input, select") || event.ctrlKey || event.metaKey) return;
    const card = this.cardAt(event.target);
    const way = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }[event.key];
    if (event.altKey && way && card) {
      const { x, y } = card.place;
      const { name } = card.variable;
      this.try("/api/build/move", { places: { [name]: [x + STEP * way[0], y + STEP * way[1]] } })
        .then(() => this.bench.graph.cards.get(name)?.heading.focus());
    } else if (event.altKey) return;
    else if (event.key === "n" || event.key === "N") this.add();
    else if (event.shiftKey && event.key === "Delete" && card) this.remove(card.variable.name);
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }
}
