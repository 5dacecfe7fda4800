// A question that is asked again when what it is about has changed, and only then; the last one wins.

export class Loader {
  constructor(path) {
    this.path = path;
    this.key = undefined;
  }

  // Ask, unless the last question was the same; `show(answer)` or `fail(problem)` is called for the newest question only.
  async load(context, body, show, fail) {
    const key = JSON.stringify([context.network.revision, body]);
    if (key === this.key) return;
    this.key = key;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    try {
      const answer = await context.ask(this.path, body, running.signal);
      if (this.running === running) show(answer);
    } catch (problem) {
      if (problem.name === "AbortError" || this.running !== running) return;
      this.key = undefined;
      fail(problem);
    }
  }

  forget() {
    this.key = undefined;
    this.running?.abort();
    this.running = undefined;
  }
}
