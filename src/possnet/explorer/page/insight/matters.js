// What matters: a tornado of the table entries, each moved alone from 0 to 1, and how far each finding moves the degree.

import { make } from "../dom.js";
import { three } from "../words.js";
import { Aim, apartNote, finding, obstacle, situation } from "./aim.js";
import { Loader } from "./loader.js";

class Matters {
  name = "matters";
  title = "What matters";

  mount(element, context) {
    this.context = context;
    this.loader = new Loader("/api/influences");
    this.aim = new Aim(context, { label: "For" });
    this.body = make("div", { "aria-live": "polite" });
    element.append(make("h2", { tabindex: -1 }, "What matters"), this.aim.element, this.body);
  }

  update(context) {
    const aimed = this.aim.update(context);
    const stop = obstacle(context, aimed);
    if (stop) return this.say(stop);
    return this.loader.load(context, { ...aimed, ...situation(context, aimed.target) }, (answer) => this.show(answer), (problem) => this.say(problem.message));
  }

  hidden({ marks }) {
    marks.clear("matters");
    this.loader.forget();
  }

  say(text) {
    this.loader.forget();
    this.context.marks.clear("matters");
    this.body.replaceChildren(make("p", { class: "soft" }, text));
  }

  show({ target, state, possibility, entries, findings, before, exact }) {
    const shares = findings.length ? [
      make("h3", {}, "Findings"),
      make("p", { class: "soft" }, `From ${three(before[0])} before to ${three(possibility)} now: how much each finding brings or takes${exact ? "" : ", estimated"} (Shapley values).`),
      make("ul", { class: "tornado" }, ...findings.map((one) => this.share(one))),
    ] : [];
    this.body.replaceChildren(
      make("p", { class: "soft" }, apartNote(target, this.context)),
      make("p", {}, make("b", {}, `${target} = ${state}`), " is possible to ", make("b", {}, three(possibility)), "."),
      ...shares,
      make("h3", {}, "Table entries"),
      make("p", { class: "soft" }, entries.length ? "What each entry alone, moved from 0 to 1, could make of it; the tick is now. Click one for its table."
        : "No single table entry can move it."),
      make("ul", { class: "tornado" }, ...entries.map((entry) => this.entry(entry, possibility))));
  }

  entry({ variable, state, context: given, degree, low, high, normalises }, now) {
    const { actions, marks } = this.context;
    const words = Object.entries(given).map(([name, value]) => `${name} = ${value}`).join(", ");
    const label = `${variable} = ${state}${words ? ` given ${words}` : ""}`;
    const [range, tick] = [make("i", { class: "range" }), make("i", { class: "now" })];
    Object.assign(range.style, { left: `${100 * low}%`, width: `${Math.max(100 * (high - low), 0.8)}%` });
    tick.style.left = `${100 * now}%`;
    const light = () => marks.show("matters", {
      cards: new Map([[variable, { tone: "asked" }]]),
      states: new Map([[variable, new Map([[state, { tone: "asked" }]])], ...Object.entries(given).map(([name, value]) => [name, new Map([[value, { tone: "asked" }]])])]),
      edges: Object.keys(given).map((name) => ({ from: name, to: variable, tone: "asked" })),
    });
    const dark = () => marks.clear("matters");
    return make("li", {}, make("button", {
      type: "button", class: "line", pointerenter: light, pointerleave: dark, focus: light, blur: dark, click: () => actions.select(variable),
      "aria-label": `${label} ${three(low)} – ${three(high)}: what it could make of the answer; it is ${three(degree)} now${normalises ? ", its context is normalised" : ""}; open its table`,
    }, make("span", { class: "text" }, label), " ", make("span", { class: "digits" }, `${three(low)} – ${three(high)}`),
    make("span", { class: "track" }, range, tick)));
  }

  share({ name, possibility, left_out: leftOut }) {
    const { actions, marks } = this.context;
    const words = finding(name, this.context);
    const range = make("i", { class: possibility < 0 ? "range against" : "range" });
    Object.assign(range.style, { left: `${50 + 50 * Math.min(possibility, 0)}%`, width: `${Math.max(50 * Math.abs(possibility), 0.8)}%` });
    const light = () => marks.show("matters", { cards: new Map([[name, { tone: "asked" }]]) });
    const dark = () => marks.clear("matters");
    const signed = `${possibility < 0 ? "−" : "+"}${three(Math.abs(possibility))}`;
    return make("li", {}, make("button", {
      type: "button", class: "line", pointerenter: light, pointerleave: dark, focus: light, blur: dark, click: () => actions.reveal(name),
      "aria-label": `${words} ${signed}: its share; left out alone ${three(Math.abs(leftOut))} ${leftOut < 0 ? "more" : "less"}; show the card`,
    }, make("span", { class: "text" }, words), " ", make("span", { class: "digits" }, signed),
    make("span", { class: "track middle" }, range)));
  }
}

export const mattersTab = new Matters();
