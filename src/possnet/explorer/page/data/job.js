// The job of the server: watched while it runs, with a bar and a button to stop it.

import { make, set, write } from "../dom.js";

const EVERY = 300;
const TITLES = { read: "Reading the table", learn: "Learning", check: "Checking" };

export class JobWatch {
  // `settled(desk)` is called when a job ends, and once at the start.
  constructor(context, settled) {
    this.context = context;
    this.settled = settled;
    this.title = make("b");
    this.words = make("span", { class: "soft" });
    this.bar = make("progress", { "aria-label": "Progress" });
    this.stopper = make("button", { type: "button", click: () => this.stop() }, "Stop");
    this.status = make("p", { class: "wrong", role: "status" });
    this.running = make("div", { class: "job", hidden: true }, this.title, this.words, this.bar, this.stopper);
    this.element = make("div", {}, this.running, this.status);
  }

  look() {
    return this.follow(() => this.context.ask("/api/table-job"));
  }

  start(path, body) {
    return this.follow(() => this.context.ask(path, body));
  }

  // Send something that the server answers with its table and its job; a late answer to an earlier question is void.
  async follow(send) {
    const turn = (this.turn ?? 0) + 1;
    this.turn = turn;
    try {
      const desk = await send();
      if (turn === this.turn) this.take(desk);
    } catch (problem) {
      this.say(problem.message);
      if (turn === this.turn && !this.running.hidden) this.timer = setTimeout(() => this.look(), EVERY);
    }
  }

  // What the server says of its table and its job.
  take(desk) {
    const { job } = desk;
    const busy = job?.state === "running";
    this.running.hidden = !busy;
    clearTimeout(this.timer);
    if (busy) {
      write(this.title, `${TITLES[job.task]}: `);
      write(this.words, `${job.stage}${job.total ? `, ${job.done.toLocaleString("en")} of ${job.total.toLocaleString("en")}` : job.done ? `, step ${job.done.toLocaleString("en")}` : ""} (${job.seconds.toFixed(0)} s of at most ${job.limit} s)`);
      set(this.bar, { value: job.total ? job.done : null, max: job.total || null });
      this.say("");
      this.timer = setTimeout(() => this.look(), EVERY);
    } else if (job) {
      this.say({ failed: job.error, stopped: `${TITLES[job.task]} was stopped; nothing has changed.` }[job.state] ?? "");
    }
    const key = JSON.stringify([desk.table?.name, job?.number, job?.state]);
    if (key !== this.key) {
      this.key = key;
      this.settled(desk);
    }
  }

  async stop() {
    await this.start("/api/table-stop", {});
    this.status.tabIndex = -1;
    this.status.focus();
  }

  say(text) {
    write(this.status, text);
  }
}
