// The start page: bundled networks, files of the folder, a file from elsewhere, or an empty canvas.

import { byId, make, write } from "./dom.js";
import { count } from "./words.js";

export class Start {
  constructor(bench, files) {
    Object.assign(this, { bench, files });
    this.element = byId("start");
    byId("open").addEventListener("click", () => this.show());
    this.element.addEventListener("cancel", (event) => { if (!bench.network.started) event.preventDefault(); });
  }

  async show() {
    try {
      this.offer = await this.bench.ask("/api/start");
    } catch (problem) {
      this.bench.actions.tell(problem.message);
      return;
    }
    this.render();
    if (!this.element.open) this.element.showModal();
    this.element.querySelector("button").focus();
  }

  render() {
    const { examples, files, folder, largest, suffixes } = this.offer;
    const { started } = this.bench.network;
    this.wrong = make("p", { class: "wrong", role: "status" });
    const choice = (title, note, click) => make("li", {}, make("button", { type: "button", click }, make("b", {}, title), make("span", { class: "soft" }, note)));
    const input = make("input", { type: "file", id: "file", class: "unseen", accept: [...suffixes.network, ...suffixes.data, ".gz"].join(","), change: () => this.take(input.files[0]) });
    const drop = make("label", { class: "drop-zone", for: "file" }, make("b", {}, "Drop a file here, or choose one"),
      make("span", { class: "soft" }, `A network (${suffixes.network.join(" ")}, gzipped too) or a table (${suffixes.data.join(" ")}), up to ${Math.round(largest / 2 ** 20)} MiB.`));
    this.element.replaceChildren(
      make("div", { class: "start-head" }, make("h2", { id: "start-title" }, "Open or begin a network"),
        started ? make("button", { type: "button", class: "close", "aria-label": "Close", click: () => this.close() }, "×") : null),
      this.wrong,
      make("div", { class: "start-columns" },
        make("section", {}, make("h3", {}, "Begin"),
          make("ul", {}, choice("Empty canvas", "double-click makes a variable", () => this.open("empty", ""))), input, drop),
        make("section", {}, make("h3", {}, "Examples"), make("ul", {}, ...examples.map(({ name, description, variables }) =>
          choice(name, `${description || "a bundled network"} (${count(variables, "variable")})`, () => this.open("example", name))))),
        make("section", {}, make("h3", {}, `In the folder ${folder}`), files.length
          ? make("ul", { class: "files" }, ...files.map((file) => choice(file.path,
            `${file.kind === "data" ? "table, " : ""}${size(file.size)}, ${new Date(file.modified * 1000).toLocaleString(undefined, { dateStyle: "medium", timeStyle: "short" })}`, () => this.openFile(file))))
          : make("p", { class: "soft" }, "No networks or tables here."))));
  }

  close() {
    this.element.close();
  }

  async open(kind, name) {
    try {
      await this.bench.change("/api/open", { kind, name }, () => this.opened());
    } catch (problem) {
      write(this.wrong, problem.message);
      if (problem.status === 409) await this.bench.look();
    }
  }

  // The cards are there: they can be looked at, clicked and found while their bars are computed.
  opened() {
    this.close();
    this.bench.view.fit();
    if (!this.bench.network.variables.length) this.bench.actions.tell("Double-click, or press N, to make a variable.");
  }

  // A table is for the tab that takes tables.
  openFile({ kind, path }) {
    return kind === "network" ? this.open("file", path) : this.files.hand({ path, name: path });
  }

  async take(file) {
    if (!file) return;
    try {
      await this.files.take(file, () => this.opened(), this.offer);
    } catch (problem) {
      write(this.wrong, problem.message);
    }
  }
}

function size(bytes) {
  return bytes < 1024 ? `${bytes} B` : bytes < 2 ** 20 ? `${Math.round(bytes / 1024)} KiB` : `${(bytes / 2 ** 20).toFixed(1)} MiB`;
}
