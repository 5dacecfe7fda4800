// Files: dropped ones, saving, autosave, and downloads as JSON, SVG, PNG or a page of its own.

import { byId, make, write } from "./dom.js";
import { download, pageOf, pngOf, svgOf } from "./picture.js";
import { upload } from "./server.js";

export class Files {
  constructor(bench) {
    this.bench = bench;
    this.menu = byId("file-menu");
    const click = (id, what) => byId(id).addEventListener("click", () => this.run(what));
    click("save", () => this.save());
    click("save-as", () => this.ask());
    click("svg", async () => download(`${this.stem}.svg`, svgOf(bench), "image/svg+xml"));
    click("png", async () => download(`${this.stem}.png`, await pngOf(bench), "image/png"));
    click("page", async () => download(`${this.stem}.html`, pageOf(bench), "text/html"));
    byId("autosave").addEventListener("change", (event) => this.run(() => this.autosave(event.target.checked)));
    for (const kind of ["dragover", "drop"]) document.addEventListener(kind, (event) => this.dropped(event));
    document.addEventListener("keydown", (event) => this.pressed(event));
    document.addEventListener("pointerdown", (event) => { if (!this.menu.contains(event.target)) this.menu.open = false; });
    window.addEventListener("beforeunload", (event) => { if (!bench.network.saved && !bench.network.autosave) event.preventDefault(); });
  }

  get stem() {
    return (this.bench.network.name || "network").replace(/[^\w-]+/g, "-").replace(/^-+|-+$/g, "").slice(0, 60) || "network";
  }

  async run(work) {
    try {
      await work();
      this.menu.open = false;
    } catch (problem) {
      this.bench.actions.tell(problem.message);
      if (problem.status === 409) await this.bench.look();
    }
  }

  show({ file, saved, autosave, autosaved, trouble, variables }) {
    write(byId("file-state"), [file, variables.length && !saved ? "not saved" : "", autosave && autosaved ? `kept in ${autosaved}` : ""].filter(Boolean).join(" · "));
    byId("autosave").checked = autosave;
    byId("download").toggleAttribute("inert", !variables.length);
    if (trouble && trouble !== this.told) this.bench.actions.tell(`Not kept: ${trouble}`);
    this.told = trouble;
  }

  async save(name = null, overwrite = false) {
    if (name === null && !this.bench.network.file) return this.ask();
    const summary = await this.bench.ask("/api/save", { name, overwrite, revision: this.bench.network.revision });
    await this.bench.noticed(summary);
    this.bench.actions.tell(`Saved as ${summary.file}.`);
    return undefined;
  }

  // A name for the file; one that is there is replaced only when that is said.
  async ask() {
    const dialog = byId("naming");
    const name = make("input", { value: this.bench.network.file ?? `${this.stem}.json`, "aria-label": "Name of the file", autocomplete: "off", spellcheck: "false" });
    const wrong = make("p", { class: "wrong", role: "status" });
    const over = make("input", { type: "checkbox" });
    const replace = make("label", { class: "check", hidden: true }, over, " replace it");
    const form = make("form", {
      method: "dialog", submit: async (event) => {
        event.preventDefault();
        try {
          await this.save(name.value, over.checked);
          dialog.close();
        } catch (problem) {
          write(wrong, problem.message);
          replace.hidden = problem.kind !== "exists";
          if (problem.status === 409) await this.bench.look();
        }
      },
    }, make("h2", {}, "Save the network"), make("label", { class: "field" }, make("span", {}, "Name, below the folder"), name), wrong, replace,
    make("p", { class: "row" }, make("button", { type: "submit" }, "Save"), make("button", { type: "button", click: () => dialog.close() }, "Cancel")));
    dialog.replaceChildren(form);
    dialog.showModal();
    name.select();
  }

  async autosave(on) {
    const saving = await this.bench.ask("/api/autosave", { on });
    Object.assign(this.bench.network, saving);
    this.show(this.bench.network);
    this.bench.actions.tell(on ? `Every change is kept${saving.autosaved ? ` in ${saving.autosaved}` : ""}.` : "Changes are no longer kept by themselves.");
  }

  // Open what was dropped or chosen: a network here, `drawn` being called once it is, a table in the tab that takes tables.
  async take(file, drawn, offer = undefined) {
    const { suffixes, largest } = offer ?? await this.bench.ask("/api/start");
    const plain = file.name.toLowerCase().replace(/\.gz$/, "");
    const isData = suffixes.data.some((suffix) => plain.endsWith(suffix)) && !suffixes.network.some((suffix) => plain.endsWith(suffix));
    if (isData && this.hand({ file, name: file.name })) return;
    if (file.size > largest) throw new Error(`${file.name}: ${file.size.toLocaleString("en")} bytes; a page opens files of at most ${largest.toLocaleString("en")}.`);
    const summary = await upload("/api/upload", file, { name: file.name, revision: this.bench.network.revision });
    await this.bench.changed(summary, drawn);
  }

  // Give a table to the tab that takes tables.
  hand(source) {
    const tab = [...this.bench.dock.tabs.values()].find((entry) => entry.tab.takes?.(source.name));
    if (!tab) return false;
    byId("start").close();
    this.bench.dock.show(tab.name);
    tab.tab.take(source, this.bench.context);
    return true;
  }

  dropped(event) {
    if (![...event.dataTransfer.types].includes("Files")) return;
    event.preventDefault();
    if (event.type !== "drop") return;
    const [file] = event.dataTransfer.files;
    this.run(() => this.take(file, () => this.bench.startPage.opened()));
  }

  pressed(event) {
    if (!(event.ctrlKey || event.metaKey) || event.altKey || event.key.toLowerCase() !== "s") return;
    event.preventDefault();
    this.run(() => this.save());
  }
}
