// Data in the page: drop a table, look at its columns, learn from it, step through its rows, and see how reliable it makes the degrees.

import { make } from "../dom.js";
import { count } from "../words.js";
import { Columns } from "./columns.js";
import { JobWatch } from "./job.js";
import { Learning } from "./learning.js";
import { Rows } from "./rows.js";
import { upload } from "../server.js";

class DataTab {
  name = "data";
  title = "Data";

  mount(element, context) {
    this.context = context;
    this.watch = new JobWatch(context, (desk) => this.settle(desk));
    this.columns = new Columns((options) => this.watch.start("/api/table-read", options));
    this.learning = new Learning(context, (path, body) => this.watch.start(path, body));
    this.rows = new Rows(context);
    this.file = make("input", { type: "file", accept: ".csv,.tsv,.txt,.parquet,.gz", "aria-label": "A table with rows", change: () => this.open(this.file.files[0]) });
    this.zone = make("div", { class: "drop-zone" }, make("label", {}, "Drop a table here (CSV or Parquet), or choose one ", this.file));
    this.heading = make("p");
    this.notes = make("div");
    this.folded = make("details", { class: "asking", open: true }, make("summary", {}, "Columns"), this.columns.element);
    this.table = make("div", { hidden: true }, this.folded,
      this.learning.element,
      make("h3", {}, "Rows as evidence"), this.rows.element, this.learning.checking);
    element.append(make("h2", { tabindex: -1 }, "Data"), this.zone, this.heading, this.watch.element, this.notes, this.table);
    element.addEventListener("dragover", (event) => event.preventDefault());
    element.addEventListener("drop", (event) => this.dropped(event));
    this.watch.look();
  }

  // Tables that are dropped anywhere on the page, or chosen on the start page, come here.
  takes(name) {
    return /\.(csv|tsv|txt|parquet|pq)(\.gz)?$/i.test(name);
  }

  take({ file, path }) {
    return file ? this.open(file) : this.begin(path, () => this.context.ask("/api/table-open", { path }));
  }

  update(context) {
    this.learning.update(context);
  }

  shown() {
    this.watch.look();
  }

  hidden({ marks }) {
    marks.clear("row");
    clearTimeout(this.watch.timer);
  }

  dropped(event) {
    event.preventDefault();
    event.stopPropagation();
    this.open(event.dataTransfer.files[0]);
  }

  async open(file) {
    if (!file) return;
    await this.begin(file.name, () => upload("/api/table-upload", file, { name: file.name }));
    this.file.value = "";
  }

  // Another table: what is known of the one before is forgotten once it is there.
  async begin(name, send) {
    this.columns.asked = new Map();
    this.watch.say(`Opening ${name} …`);
    await this.watch.follow(async () => {
      const desk = await send();
      this.learning.clear();
      return desk;
    });
  }

  // The table or the job is another one, or the job has ended.
  settle(desk) {
    const { table, job } = desk;
    this.table.hidden = !table?.page;
    this.heading.replaceChildren(...(table?.page ? [make("b", {}, table.name), ` · ${count(table.page.rows, "row")}, ${count(table.page.columns.length, "column")} `,
      make("button", { type: "button", click: () => this.watch.start("/api/table-close", {}) }, "Close the table")] : []));
    this.notes.replaceChildren(...(table?.page?.notes ?? []).slice(0, 5).map((note) => make("p", { class: "soft" }, note)));
    const key = JSON.stringify(table?.page ?? null);
    if (table?.page && key !== this.key) {
      this.columns.show(table.page);
      this.folded.open = true;
      this.rows.show(table.page.rows);
    }
    this.key = key;
    if (!table) this.learning.clear();
    if (job?.task === "learn" && job.state === "done") this.folded.open = false;
    return this.learning.settle({ job }, table);
  }
}

export const dataTab = new DataTab();
