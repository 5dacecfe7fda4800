// Ask next: the unknown variables, ranked by what asking them would settle, with a preview of every answer.

import { make } from "../dom.js";
import { clipped, short, three } from "../words.js";
import { Aim, obstacle, situation } from "./aim.js";
import { Loader } from "./loader.js";

const MOST = 8;
const MOST_ANSWERS = 12;

class Next {
  name = "next";
  title = "Ask next";

  mount(element, context) {
    this.context = context;
    this.loader = new Loader("/api/questions");
    this.aim = new Aim(context, { states: false, label: "To settle" });
    this.body = make("div", { "aria-live": "polite" });
    element.append(make("h2", { tabindex: -1 }, "Ask next"), this.aim.element, this.body);
  }

  update(context) {
    const aimed = this.aim.update(context);
    const known = aimed && context.evidence.has(aimed.target) ? `${aimed.target} is known; choose another variable.` : undefined;
    const stop = obstacle(context, aimed) ?? known;
    if (stop) return this.say(stop);
    const body = { target: aimed.target, ...situation(context) };
    return this.loader.load(context, body, (answer) => this.show(answer), (problem) => this.say(problem.message));
  }

  hidden({ marks }) {
    marks.clear("next");
    this.loader.forget();
  }

  say(text) {
    this.loader.forget();
    this.context.marks.clear("next");
    this.body.replaceChildren(make("p", { class: "soft" }, text));
  }

  show({ target, now, nonspecificity, questions }) {
    this.context.marks.clear("next");
    const worth = questions.filter((question) => question.reduction > 0 && !this.context.doing.map.has(question.names[0]));
    const { states } = this.context.variables.get(target);
    const line = states.slice(0, 4).map((state, k) => `${clipped(state, 18)} ${three(now[k])}`).join(", ");
    const open = `${target} now: ${line}${states.length > 4 ? ", …" : ""}; ${three(nonspecificity)} bits are open.`;
    const none = "No single answer is expected to settle anything.";
    this.body.replaceChildren(make("p", { class: "soft" }, open), worth.length
      ? make("ol", { class: "next" }, ...worth.slice(0, MOST).map((question) => this.question(question, target)))
      : make("p", {}, none));
  }

  question({ names: [name], reduction, answers }, target) {
    const { actions } = this.context;
    const shown = [...answers].sort((a, b) => b.weight - a.weight).slice(0, MOST_ANSWERS);
    return make("li", {},
      make("p", {}, make("button", { type: "button", class: "near", click: () => actions.reveal(name), title: "Show its card" }, name),
        make("span", { class: "digits" }, ` settles ${three(reduction)} bits`)),
      make("ul", { class: "answers" }, ...shown.map((answer) => make("li", {}, this.answer(name, answer, target)))));
  }

  // An answer: looked at, it shows on the target's card what it would make of it; clicked, it is taken.
  answer(name, { answer, target: degrees, possibility }, target) {
    const { actions, marks, variables, evidence } = this.context;
    const { states } = variables.get(target);
    const order = states.map((state, k) => [state, degrees[k]]).sort((a, b) => b[1] - a[1]);
    const outcome = order.slice(0, 3).map(([state, degree]) => `${clipped(state, 16)} ${short(degree)}`).join(", ");
    const show = () => marks.show("next", {
      cards: new Map([[name, { tone: "asked" }], [target, { tone: "asked", label: `if ${clipped(answer, 20)}` }]]),
      states: new Map([[name, new Map([[answer, { tone: "asked" }]])], [target, new Map(states.map((state, k) => [state, { bar: degrees[k] }]))]]),
    });
    const hide = () => marks.clear("next");
    return make("button", {
      type: "button", class: "line", pointerenter: show, pointerleave: hide, focus: show, blur: hide,
      click: () => { hide(); actions.replaceEvidence(new Map(evidence).set(name, new Set([answer])), `answered ${name} = ${answer}`); },
      "aria-label": `${answer} → ${outcome}: what ${target} would be if ${name} = ${answer}, which is possible to ${three(possibility)}; take this answer`,
    }, make("span", { class: "text" }, answer), " ", make("span", { class: "digits" }, `→ ${outcome}`));
  }
}

export const nextTab = new Next();
