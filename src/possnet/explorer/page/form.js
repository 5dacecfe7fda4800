// The form of the selected variable: its name, its states, its edges, a gate for its table, and its deletion.

import { make, write } from "./dom.js";
import { typed } from "./words.js";

const GATES = {
  or: ["OR: any active parent is enough", "stays inactive all the same"],
  and: ["AND: all parents are needed", "is not needed after all"],
  max: ["MAX: as high as the highest effect", "has a weaker effect"],
  min: ["MIN: as low as the lowest effect", "limits it less"],
};

export class VariableForm {
  constructor(variable, builder, actions) {
    Object.assign(this, { variable, builder, actions });
    const { name, states, ordered } = variable;
    this.lines = states.some((state) => state.includes(","));
    const field = (label, input) => make("label", { class: "field" }, make("span", {}, label), input);
    this.name = make("input", { value: name, spellcheck: "false", autocomplete: "off", change: () => this.send() });
    this.states = make(this.lines ? "textarea" : "input", {
      value: states.join(", "), spellcheck: "false", autocomplete: "off", rows: 4, change: () => this.send(),
      title: "As many as before: renamed in place. More or fewer: those of the same name keep their degrees.",
    });
    if (this.lines) this.states.value = states.join("\n");
    this.ordered = make("input", { type: "checkbox", checked: ordered, change: () => this.send() });
    this.name.addEventListener("keydown", (event) => this.onward(event));
    this.wrong = make("p", { class: "wrong", role: "status" });
    const remove = make("button", { type: "button", class: "danger", click: () => builder.remove(name) }, "Delete variable");
    this.element = make("details", { class: "form" }, make("summary", {}, "Change this variable"),
      field("Name", this.name), field(this.lines ? "States, one a line" : "States, with commas", this.states),
      make("label", { class: "check" }, this.ordered, " the states have an order, the lowest first"),
      this.edges("Parents", variable.parents, (other) => [other, name]),
      this.edges("Children", variable.children, (other) => [name, other]),
      variable.parents.length ? this.gates() : null, this.wrong, make("p", { class: "row" }, remove));
    this.element.addEventListener("toggle", () => { VariableForm.opened = this.element.open; });
    this.element.open = Boolean(VariableForm.opened);
  }

  // For a new card: its name is typed over, then its states.
  begin() {
    this.element.open = true;
    this.name.focus();
    this.name.select();
  }

  // Enter in the name leads to the states; the name is sent first.
  onward(event) {
    if (event.key !== "Enter") return;
    event.preventDefault();
    VariableForm.next = "states";
    if (this.name.value.trim() === this.variable.name) this.resume();
    else this.send();
  }

  // The form was made anew after its own change; go on where it was left.
  resume() {
    const { next } = VariableForm;
    VariableForm.next = undefined;
    if (next !== "states") return;
    this.states.focus();
    this.states.select();
  }

  // States as typed, each with the one that it was.
  list() {
    const old = this.variable.states;
    const names = this.states.value.split(this.lines ? "\n" : ",").map((text) => text.trim()).filter(Boolean);
    const renamed = names.length === old.length;
    return names.map((name, k) => ({
      name, was: old.includes(name) ? name : renamed && !names.includes(old[k]) ? old[k] : null,
    }));
  }

  async send() {
    if (this.sending) return;
    this.sending = true;
    const body = { variable: this.variable.name, name: this.name.value, states: this.list(), ordered: this.ordered.checked };
    const { bench } = this.builder;
    bench.view.fitted = false;
    try {
      bench.expect(body);
      await bench.change("/api/build/variable", { ...body, shape: bench.shape });
    } catch (problem) {
      write(this.wrong, problem.message);
      if (problem.status === 409) await bench.look();
    } finally {
      bench.expect(undefined);
      this.sending = false;
    }
  }

  edges(title, names, ends) {
    const chips = names.map((other) => make("span", { class: "chip" }, other, make("button", {
      type: "button", "aria-label": `delete the edge from ${ends(other).join(" to ")}`, click: () => this.builder.disconnect(...ends(other)),
    }, "×")));
    const input = make("input", { list: "names", size: 12, placeholder: "add", "aria-label": `Add to ${title.toLowerCase()}`, autocomplete: "off", spellcheck: "false" });
    const add = async () => {
      const other = input.value.trim();
      if (other && await this.builder.connect(...ends(other)) === undefined) input.select();
    };
    input.addEventListener("change", add);
    return make("p", { class: "ends" }, make("b", {}, `${title}: `), ...chips, input);
  }

  // A table from few numbers: how possible it is that a parent does not do what its gate says.
  gates() {
    const { parents, gate } = this.variable;
    const kind = make("select", { "aria-label": "Gate" }, ...Object.entries(GATES).map(([key, [words]]) => make("option", { value: key }, words)));
    const number = (label) => make("input", { value: "0", inputmode: "decimal", size: 5, "aria-label": label });
    const fields = parents.map((parent) => [parent, number(`${parent}: possibility that it does not act so`)]);
    const leak = number("leak: possibility of it without any parent");
    const hint = make("span", { class: "soft" });
    const show = () => write(hint, `How possible it is that each parent ${GATES[kind.value][1]}:`);
    kind.addEventListener("change", show);
    show();
    const fill = async () => {
      const numbers = Object.fromEntries(fields.map(([parent, input]) => [parent, typed(input.value)]));
      const wrong = [...Object.values(numbers), typed(leak.value)].some((value) => !(value >= 0 && value <= 1));
      write(this.wrong, wrong ? "A gate takes numbers from 0 to 1." : "");
      if (!wrong) await this.make({ kind: kind.value, numbers, leak: typed(leak.value) });
    };
    return make("details", { class: "gates" }, make("summary", {}, gate ? `Filled by a gate: ${gate}` : "Fill the table with a gate"), kind,
      make("p", {}, hint), ...fields.map(([parent, input]) => make("label", { class: "field" }, make("span", {}, parent), input)),
      make("label", { class: "field" }, make("span", {}, "leak"), leak),
      make("p", { class: "row" }, make("button", { type: "button", click: fill }, "Fill the table"),
        make("button", { type: "button", click: () => this.make({ kind: "ignorance" }) }, "Forget the table")));
  }

  async make(body) {
    try {
      await this.builder.bench.change("/api/build/gate", { variable: this.variable.name, ...body });
      this.actions.tell(`The table of ${this.variable.name} is filled.`);
    } catch (problem) {
      write(this.wrong, problem.message);
    }
  }
}
