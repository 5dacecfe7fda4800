// Zoom and pan: a transform of the world inside the stage.

const LEAST = 0.08;
const MOST = 3;
const FAR = 0.48;
const MARGIN = 18;
const BUTTONS = 34;

// Whether a window is wide or tall, as pictures are laid out.
export function shapeOf({ innerWidth, innerHeight }) {
  return innerWidth < 0.9 * innerHeight ? "tall" : "wide";
}

export class View {
  constructor(stage) {
    this.stage = stage;
    this.scale = 1;
    this.x = 0;
    this.y = 0;
    this.pointers = new Map();
    this.dragged = false;
    stage.addEventListener("wheel", (event) => this.wheel(event), { passive: false });
    stage.addEventListener("pointerdown", (event) => this.down(event));
    stage.addEventListener("pointermove", (event) => this.move(event));
    for (const kind of ["pointerup", "pointercancel"]) stage.addEventListener(kind, (event) => this.up(event));
    stage.addEventListener("click", (event) => this.swallow(event), true);
    new ResizeObserver(() => this.resized()).observe(stage);
  }

  // Another picture: the view stays where it is, unless it fits the picture into the window.
  show(world, size) {
    this.world = world;
    this.size = size;
    if (this.fitted) this.fit();
    else this.apply();
  }

  get room() {
    return { width: this.stage.clientWidth, height: this.stage.clientHeight };
  }

  fit() {
    const { width, height } = this.room;
    const high = height - 2 * MARGIN - (width < 760 ? BUTTONS : 0);
    const scale = Math.min((width - 2 * MARGIN) / Math.max(this.size.width, 1), high / Math.max(this.size.height, 1), 1.35);
    this.scale = Math.max(scale, LEAST);
    this.x = (width - this.size.width * this.scale) / 2 - this.size.x * this.scale;
    this.y = MARGIN + Math.max(0, (high - this.size.height * this.scale) / 2) - this.size.y * this.scale;
    this.fitted = true;
    this.apply();
  }

  resized() {
    if (this.fitted) this.fit();
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
      this.apply();
      return;
    }
    const [x, y] = [this.x + card.x * this.scale, this.y + card.y * this.scale];
    const [w, h] = [card.width * this.scale, card.height * this.scale];
    const dx = x < MARGIN ? MARGIN - x : Math.min(0, width - MARGIN - x - w);
    const dy = y < MARGIN ? MARGIN - y : Math.min(0, height - MARGIN - y - h);
    if (dx || dy) {
      this.x += dx;
      this.y += dy;
      this.fitted = false;
      this.apply();
    }
  }

  apply() {
    this.world.setAttribute("transform", `translate(${this.x} ${this.y}) scale(${this.scale})`);
    this.stage.classList.toggle("far", this.scale < FAR);
  }

  wheel(event) {
    event.preventDefault();
    const box = this.stage.getBoundingClientRect();
    const lines = event.deltaMode === 1 ? 18 : 1;
    this.zoom(Math.exp(-event.deltaY * lines * (event.ctrlKey ? 0.01 : 0.0018)), event.clientX - box.x, event.clientY - box.y);
  }

  down(event) {
    if (event.button !== 0 || event.target.closest("#banner, #notice, button, input")) return;
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
