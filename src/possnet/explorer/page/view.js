// Zoom and pan: a transform of the world inside the stage.

const LEAST = 0.02;
const MOST = 3;
const FAR = 0.48;
const FARTHEST = 0.16;
const MARGIN = 18;
const NARROW = 8;
const FINGER = 24; // pixels of a row, at least, in a narrow window
const BUTTONS = 34;

// Whether a window is wide, tall or narrow, as pictures are laid out.
export function shapeOf({ innerWidth, innerHeight }) {
  return innerWidth < 560 ? "narrow" : innerWidth < 0.9 * innerHeight ? "tall" : "wide";
}

export class View {
  constructor(stage) {
    this.stage = stage;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.pointers = new Map();
    this.dragged = false;
    this.fitted = true;
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) stage.addEventListener(kind, (event) => this.up(event));
    stage.addEventListener("click", (event) => this.swallow(event), true);
    new ResizeObserver(() => this.resized()).observe(stage);
    window.addEventListener("beforeprint", () => this.print(true));
    window.addEventListener("afterprint", () => this.print(false));
  }

  // Another picture: the view stays where it is, unless it fits the picture into the window.
  show(world, size, graph) {
    Object.assign(this, { world, size, graph });
    if (this.printing) this.print(true);
    else if (this.fitted) this.fit();
    else this.apply();
  }

  // Draw another picture; the room is measured before, so that thousands of shapes are laid out once and not twice.
  replace(drawing, size) {
    this.measured = this.room;
    const graph = drawing();
    this.show(graph.world, size, graph);
    this.measured = undefined;
    return graph;
  }

  // The part of the stage that no sheet covers.
  get room() {
    if (this.measured) return this.measured;
    const { clientWidth: width, clientHeight: height } = this.stage;
    const sheet = this.sheet;
    const covered = sheet && !sheet.hidden && getComputedStyle(sheet).position === "absolute" ? sheet.offsetHeight : 0;
    return { width, height: Math.max(height - covered, 80), narrow: width < 560 };
  }

  fit() {
    const { width, height, narrow } = this.room;
    const { x, y, width: wide, height: long, line } = this.size;
    const side = narrow ? NARROW : MARGIN;
    const high = height - 2 * side - BUTTONS * (narrow ? 1 : 2); // tabs above and, in a wide window, buttons below
    const scale = Math.min((width - 2 * side) / Math.max(wide, 1), narrow ? 1.35 : high / Math.max(long, 1), 1.35);
    this.scale = wide ? Math.max(scale, narrow ? FINGER / line : LEAST) : 1;
    this.x = Math.max((width - wide * this.scale) / 2, side) - x * this.scale;
    this.y = side + BUTTONS + Math.max(0, (high - long * this.scale) / 2) - y * this.scale;
    this.fitted = true;
    this.apply();
  }

  resized() {
    if (!this.size) return;
    if (this.fitted) this.fit();
    else this.apply();
  }

  // On paper the whole picture is shown, however near it is looked at.
  print(on) {
    const { x, y, width, height } = this.size;
    const svg = this.world.parentNode;
    this.printing = on;
    if (on) {
      svg.setAttribute("viewBox", `${x - MARGIN} ${y - MARGIN} ${width + 2 * MARGIN} ${height + 2 * MARGIN}`);
      this.world.removeAttribute("transform");
      this.stage.classList.remove("far", "farthest");
      for (const card of this.graph.cards.values()) card.detail();
    } else {
      svg.removeAttribute("viewBox");
      this.apply();
    }
  }

  // A point of the window, in the picture.
  locate(clientX, clientY) {
    const box = this.stage.getBoundingClientRect();
    return [(clientX - box.x - this.x) / this.scale, (clientY - box.y - this.y) / this.scale];
  }

  zoom(factor, cx = this.room.width / 2, cy = this.room.height / 2) {
    const scale = Math.min(Math.max(this.scale * factor, LEAST), MOST);
    this.x = cx - ((cx - this.x) * scale) / this.scale;
    this.y = cy - ((cy - this.y) * scale) / this.scale;
    this.scale = scale;
    this.fitted = false;
    this.apply();
  }

  // Bring a card into the window; into its middle and large enough to read, if asked to.
  reveal(card, readable = false) {
    this.resized();
    const { width, height } = this.room;
    if (readable) {
      this.zoom(Math.max(0.9 / this.scale, 1));
      this.x = width / 2 - (card.x + card.width / 2) * this.scale;
      this.y = height / 2 - (card.y + card.height / 2) * this.scale;
      this.settle();
      this.apply();
    }
    const [x, y] = [this.x + card.x * this.scale, this.y + card.y * this.scale];
    const [w, h] = [card.width * this.scale, card.height * this.scale];
    const dx = x < MARGIN ? MARGIN - x : Math.min(0, width - MARGIN - x - w);
    const top = MARGIN + BUTTONS;
    const dy = y < top ? top - y : Math.min(0, height - MARGIN - y - h);
    if (dx || dy) {
      this.x += dx;
      this.y += dy;
      this.fitted = false;
      this.apply();
    }
  }

  // Leave no empty side where there is more of the picture to see.
  settle() {
    const { width, height } = this.room;
    const clamp = (at, from, size, room) => {
      const [first, last] = [MARGIN - from * this.scale, room - MARGIN - (from + size) * this.scale];
      return first < last ? (first + last) / 2 : Math.min(Math.max(at, last), first);
    };
    this.x = clamp(this.x, this.size.x, this.size.width, width);
    this.y = clamp(this.y, this.size.y, this.size.height, height);
  }

  apply() {
    if (this.printing) return; // the page is laid out for paper, which is no other window
    this.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
    this.stage.classList.toggle("far", this.scale < FAR);
    this.stage.classList.toggle("farthest", this.scale < FARTHEST);
    this.moved?.();
    if (this.scale < FAR || this.looking) return;
    this.looking = true;
    requestAnimationFrame(() => {
      this.looking = false;
      const { width, height } = this.room;
      const [left, top] = [-this.x / this.scale, -this.y / this.scale];
      if (this.scale >= FAR && this.graph.look({ left, top, right: left + width / this.scale, bottom: top + height / this.scale })) this.detailed?.();
    });
  }

  wheel(event) {
    event.preventDefault();
    const box = this.stage.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 18 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018)), event.clientX - box.x, event.clientY - box.y);
  }

  down(event) {
    if (event.button !== 0 || event.target.closest("#tabs, #notice, button, input")) return;
    this.pointers.set(event.pointerId, [event.clientX, event.clientY]);
    if (this.pointers.size === 1) {
      this.dragged = false;
      this.start = [event.clientX, event.clientY];
    }
  }

  move(event) {
    const before = this.pointers.get(event.pointerId);
    if (!before) return;
    const after = [event.clientX, event.clientY];
    if (!this.dragged && Math.hypot(after[0] - this.start[0], after[1] - this.start[1]) < 5) return;
    if (!this.dragged) {
      this.dragged = true;
      this.stage.setPointerCapture(event.pointerId);
      this.stage.classList.add("dragging");
    }
    if (this.pointers.size === 2) {
      const other = [...this.pointers].find(([id]) => id !== event.pointerId)[1];
      const box = this.stage.getBoundingClientRect();
      const factor = distance(after, other) / Math.max(distance(before, other), 1);
      this.zoom(factor, (after[0] + other[0]) / 2 - box.x, (after[1] + other[1]) / 2 - box.y);
    }
    const share = this.pointers.size === 2 ? 0.5 : 1;
    this.x += (after[0] - before[0]) * share;
    this.y += (after[1] - before[1]) * share;
    this.pointers.set(event.pointerId, after);
    this.fitted = false;
    this.apply();
  }

  up(event) {
    this.pointers.delete(event.pointerId);
    this.stage.classList.remove("dragging");
  }

  // The end of a drag is no click.
  swallow(event) {
    if (this.dragged && event.detail) {
      event.stopPropagation();
      event.preventDefault();
    }
    this.dragged = false;
  }
}

function distance([x0, y0], [x1, y1]) {
  return Math.hypot(x1 - x0, y1 - y0);
}
