// What would settle the selected variable: the unknown ones that are worth asking, and what each answer would make of it.

import { make, write } from "./dom.js";
import { asRequest } from "./evidence.js";
import { ask } from "./server.js";
import { three } from "./words.js";

const MOST = 5;

export class Questions {
  constructor(variable, actions) {
    this.variable = variable;
    this.actions = actions;
    this.list = make("ul", { class: "questions" });
    this.note = make("p", { class: "soft" });
    this.element = make("details", { class: "asking", toggle: () => this.load() },
      make("summary", {}, "What would settle it?"), this.note, this.list);
  }

  // The evidence has changed, perhaps; what is not looked at is not asked for.
  update(evidence) {
    const request = JSON.stringify(asRequest(evidence));
    this.element.hidden = evidence.has(this.variable.name);
    if (request === this.request) return;
    this.request = request;
    this.loaded = false;
    this.load();
  }

  // Tables have changed.
  revised() {
    this.loaded = false;
    this.load();
  }

  async load() {
    if (!this.element.open || this.element.hidden || this.loaded || this.request === undefined) return;
    this.running?.abort();
    const running = new AbortController();
    this.running = running;
    this.loaded = true;
    const body = { target: this.variable.name, evidence: JSON.parse(this.request) };
    try {
      const { questions } = await ask("/api/questions", body, running.signal);
      if (this.running === running) this.show(questions);
    } catch (problem) {
      if (problem.name === "AbortError" || this.running !== running) return;
      this.list.replaceChildren();
      write(this.note, problem.kind === "impossible" ? "The evidence is impossible." : problem.message);
    }
  }

  show(questions) {
    const worth = questions.filter((question) => question.reduction > 0).slice(0, MOST);
    write(this.note, worth.length ? "Ask next, the best first (bits that an answer is expected to settle):" : "No single answer is expected to.");
    this.list.replaceChildren(...worth.map((question) => {
      const [name] = question.names;
      const preview = question.answers.map((answer) => `${answer.answer}: ${this.outcome(answer.target)}`).join("\n");
      return make("li", {}, make("button", {
        type: "button", class: "near", title: preview, click: (event) => this.actions.select(name, event.detail === 0),
      }, name), ` ${three(question.reduction)}`);
    }));
  }

  // What an answer would make of the selected variable.
  outcome(degrees) {
    return this.variable.states.map((state, k) => `${state} ${three(degrees[k])}`).join(", ");
  }
}
