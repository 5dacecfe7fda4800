// The dock at the side (a sheet below, on a phone): tabs, one of them open, or none.

import { make, set } from "./dom.js";

export class Dock {
  constructor(element, list, closer) {
    this.element = element;
    this.list = list;
    this.tabs = new Map();
    this.open = undefined;
    list.addEventListener("keydown", (event) => this.pressed(event));
    closer.addEventListener("click", () => this.context.actions.closeDock());
  }

  // Add a tab; its body is mounted when it is first opened.
  register(tab) {
    const { name, title } = tab;
    const button = make("button", {
      type: "button", role: "tab", id: `tab-${name}`, "aria-controls": `pane-${name}`, "aria-selected": "false", tabindex: -1,
      click: (event) => this.clicked(name, event),
    }, title);
    const pane = tab.element ?? make("section", { class: "pane" });
    set(pane, { role: "tabpanel", id: tab.element ? pane.id : `pane-${name}`, "aria-labelledby": `tab-${name}`, "data-tab": name });
    set(button, { "aria-controls": pane.id });
    pane.hidden = true;
    this.list.append(button);
    if (!tab.element) this.element.append(pane);
    this.tabs.set(name, { ...tab, button, pane, mounted: false, tab });
    this.mend();
  }

  clicked(name, event) {
    if (this.open === name) this.context.actions.closeDock();
    else this.show(name, event.detail === 0);
  }

  show(name, byKey = false) {
    const entry = this.tabs.get(name);
    if (!entry) return;
    if (this.open !== name) {
      this.leave();
      this.open = name;
      this.element.hidden = false;
      entry.pane.hidden = false;
      if (!entry.mounted) entry.tab.mount?.(entry.pane, this.context);
      entry.mounted = true;
      this.mend();
      entry.button.scrollIntoView({ block: "nearest", inline: "nearest" });
      entry.tab.shown?.(this.context);
      entry.tab.update?.(this.context);
      this.changed?.();
    }
    if (byKey) (entry.pane.querySelector("[tabindex='-1'], button, input, select, summary") ?? entry.button).focus();
  }

  leave() {
    const entry = this.tabs.get(this.open);
    if (!entry) return;
    entry.pane.hidden = true;
    entry.tab.hidden?.(this.context);
  }

  close() {
    this.leave();
    this.open = undefined;
    this.element.hidden = true;
    this.mend();
    this.changed?.();
  }

  update() {
    this.tabs.get(this.open)?.tab.update?.(this.context);
  }

  mend() {
    for (const [name, { button }] of this.tabs) {
      set(button, { "aria-selected": String(name === this.open), tabindex: name === (this.open ?? [...this.tabs.keys()][0]) ? 0 : -1 });
    }
  }

  pressed(event) {
    const names = [...this.tabs.keys()].filter((name) => !this.tabs.get(name).button.hidden);
    const at = names.findIndex((name) => this.tabs.get(name).button === document.activeElement);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1, Home: 0, End: names.length - 1 }[event.key];
    if (at < 0 || to === undefined) return;
    this.tabs.get(names[(to + names.length) % names.length]).button.focus();
    event.preventDefault();
  }
}
