// The field for a number: evidence on a variable whose states are bins of numbers. Which bins they are the server says.

import { make, write } from "./dom.js";
import { ask } from "./server.js";

export class NumberField {
  constructor(variable, actions) {
    this.variable = variable;
    this.actions = actions;
    const { name, bins } = variable;
    this.input = make("input", {
      type: "text", size: 12, placeholder: "30, >40, 35±2", autocomplete: "off", spellcheck: false,
      "aria-label": `${name} as a number`, title: `${bins.text}; a number, a bound such as >40, or a range such as 30..40`,
    });
    this.wrong = make("p", { class: "wrong", role: "status" });
    this.element = make("form", { class: "number", submit: (event) => this.submit(event) },
      make("label", {}, "As a number ", this.input), make("span", { class: "soft" }, bins.unit),
      make("button", { type: "submit" }, "Set"), this.wrong);
  }

  async submit(event) {
    event.preventDefault();
    const text = this.input.value.trim();
    if (!text) return;
    const { name } = this.variable;
    try {
      const { states } = await ask("/api/reading", { variable: name, text });
      write(this.wrong, "");
      this.input.removeAttribute("aria-invalid");
      this.actions.assume(name, states, text);
    } catch (problem) {
      write(this.wrong, problem.message);
      this.input.setAttribute("aria-invalid", "true");
    }
  }
}
