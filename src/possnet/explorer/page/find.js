// Finding a variable: a list of what begins or contains the text, or else of what is spelt nearly so.

import { byId, make, set } from "./dom.js";

const MOST = 8;

// How many letters two texts differ by: inserted, deleted, replaced, or two that changed places; at most `most` + 1.
export function distance(one, other, most) {
  if (Math.abs(one.length - other.length) > most) return most + 1;
  let [last, line] = [[], Array.from({ length: other.length + 1 }, (_, k) => k)];
  for (let i = 1; i <= one.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const same = one[i - 1] === other[j - 1];
      next[j] = Math.min(line[j] + 1, next[j - 1] + 1, line[j - 1] + (same ? 0 : 1));
      if (i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1]) next[j] = Math.min(next[j], last[j - 2] + 1);
    }
    if (Math.min(...next) > most) return most + 1;
    [last, line] = [line, next];
  }
  return line[other.length];
}

// Names for a text, the best first, and whether they only come near it.
export function suggest(text, names) {
  const wanted = text.trim().toLowerCase();
  if (!wanted) return { names: [], near: false };
  const rank = (name) => (name === wanted ? 0 : name.startsWith(wanted) ? 1 : name.includes(wanted) ? 2 : 3);
  const fits = names.map((name) => [rank(name.toLowerCase()), name]).filter(([place]) => place < 3);
  if (fits.length) return { names: fits.sort((a, b) => a[0] - b[0]).slice(0, MOST).map(([, name]) => name), near: false };
  const most = wanted.length < 4 ? 1 : wanted.length < 8 ? 2 : 3;
  const near = names.map((name) => [distance(wanted, name.toLowerCase(), most), name]).filter(([apart]) => apart <= most);
  return { names: near.sort((a, b) => a[0] - b[0]).slice(0, MOST).map(([, name]) => name), near: true };
}

export class Finder {
  constructor(bench) {
    this.bench = bench;
    this.input = byId("find");
    this.list = byId("suggestions");
    set(this.input, { role: "combobox", "aria-expanded": "false", "aria-controls": "suggestions", "aria-autocomplete": "list" });
    this.input.addEventListener("input", () => this.show());
    this.input.addEventListener("keydown", (event) => this.pressed(event));
    this.input.addEventListener("blur", () => this.hide());
  }

  // The network is another one, or what was typed was typed before there was one.
  renew() {
    if (this.input.value && document.activeElement === this.input) this.show();
  }

  show() {
    const { names, near } = suggest(this.input.value, [...this.bench.variables.keys()]);
    this.names = names;
    this.at = 0;
    const items = names.map((name, k) => make("li", {
      role: "option", id: `suggestion-${k}`, "aria-selected": String(k === 0), pointerdown: (event) => { event.preventDefault(); this.choose(name); },
    }, near ? `did you mean ${name}?` : name));
    this.list.replaceChildren(...items);
    if (this.input.value.trim() && !names.length) this.list.append(make("li", { role: "option", "aria-disabled": "true" }, "no such variable"));
    this.list.hidden = !this.list.children.length;
    set(this.input, { "aria-expanded": String(!this.list.hidden), "aria-activedescendant": names.length ? "suggestion-0" : null });
  }

  hide() {
    this.list.hidden = true;
    set(this.input, { "aria-expanded": "false", "aria-activedescendant": null });
  }

  pressed(event) {
    const { key } = event;
    if (key === "Escape") this.hide();
    else if (key === "Enter") {
      this.show();
      if (this.names.length) this.choose(this.names[this.at]);
      else if (this.input.value.trim()) this.bench.actions.tell(`No variable is called “${this.input.value}”.`);
    } else if (key === "ArrowDown" || key === "ArrowUp") {
      if (this.list.hidden) this.show();
      if (!this.names?.length) return;
      this.at = (this.at + (key === "ArrowDown" ? 1 : -1) + this.names.length) % this.names.length;
      [...this.list.children].forEach((item, k) => set(item, { "aria-selected": String(k === this.at) }));
      set(this.input, { "aria-activedescendant": `suggestion-${this.at}` });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  }

  choose(name) {
    this.input.value = "";
    this.hide();
    if (this.bench.selection !== name || this.bench.dock.open !== "variable") this.bench.select(name);
    requestAnimationFrame(() => requestAnimationFrame(() => this.bench.reveal(name, true)));
  }
}
