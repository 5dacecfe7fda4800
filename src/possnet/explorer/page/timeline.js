// Undo and redo over everything: evidence, which is this window's, and the network, which is the server's.
//
// What this window did is a list of its own, so that Ctrl+Z takes back the last thing that was done here; what is left
// after that, such as the edits of another window, the server still knows.

const MOST = 500;

export class Timeline {
  constructor(apply) {
    this.apply = apply;
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

  async step(step, summary) {
    const entry = this.next(step, summary);
    if (!entry) return false;
    const [from, to] = step === "undo" ? [this.done, this.undone] : [this.undone, this.done];
    if (!entry.foreign) to.push(from.splice(from.lastIndexOf(entry), 1)[0]);
    await this.apply(step, entry);
    return true;
  }
}
