// Undo and redo over everything: evidence, which is this window's, and the network, which is the server's.
//
// What this window did is a list of its own, so that Ctrl+Z takes back the last thing that was done here; what is left
// after that, such as the edits of another window, the server still knows.

import { fitting } from "./evidence.js";

const MOST = 500;

export class Timeline {
  constructor(bench) {
    this.bench = bench;
    this.done = [];
    this.undone = [];
  }

  // Evidence that was replaced.
  evidence(before, after, text) {
    this.add({ before, after, text });
  }

  // A change of the network.
  network(text) {
    this.add({ network: true, text });
  }

  add(entry) {
    this.done.push(entry);
    if (this.done.length > MOST) this.done.shift();
    this.undone = [];
  }

  // The evidence of a link has no past.
  forgetEvidence() {
    this.done = this.done.filter((entry) => entry.network);
    this.undone = this.undone.filter((entry) => entry.network);
  }

  // Another window has changed the network: what was undone here cannot be done again in its order.
  forgetRedo() {
    this.undone = [];
  }

  // The evidence of a network that is gone: names and states may be others now.
  next(step, summary) {
    const entries = step === "undo" ? this.done : this.undone;
    const entry = entries.at(-1);
    if (entry && !(entry.network && !summary[step])) return entry;
    return summary[step] ? { network: true, text: summary[step], foreign: true } : undefined;
  }

  // One step after the other, however quickly they are asked for.
  step(step) {
    this.last = (this.last ?? Promise.resolve()).then(() => this.take(step));
    return this.last;
  }

  async take(step) {
    const { bench } = this;
    const entry = this.next(step, bench.network);
    const [from, to] = step === "undo" ? [this.done, this.undone] : [this.undone, this.done];
    try {
      if (entry) await this.apply(step, entry);
      bench.actions.tell(entry ? `${step === "undo" ? "Undone" : "Done again"}: ${entry.text}` : `Nothing is left to ${step}.`);
      if (entry && !entry.foreign) to.push(from.splice(from.lastIndexOf(entry), 1)[0]);
    } catch (problem) {
      bench.actions.tell(problem.message);
      if (problem.status === 409) await bench.look();
    }
    bench.header.show();
  }

  async apply(step, { network, before, after, run, text }) {
    const { bench } = this;
    if (run) {
      await run(step);
      return;
    }
    if (!network) {
      await bench.become(fitting(step === "undo" ? before : after, bench.variables), `${step}: ${text}`);
      return;
    }
    const summary = await bench.ask("/api/history", { step, revision: bench.network.revision });
    bench.others.postMessage(summary.revision);
    await bench.noticed(summary);
  }
}
