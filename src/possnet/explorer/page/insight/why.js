// Why: the best story behind a degree and its best rival, on the graph and factor by factor, and what would flip it.

import { make } from "../dom.js";
import { without } from "../evidence.js";
import { small, three } from "../words.js";
import { Aim, apartNote, finding, obstacle, situation } from "./aim.js";
import { Loader } from "./loader.js";

class Why {
  name = "why";
  title = "Why";

  mount(element, context) {
    this.context = context;
    this.loader = new Loader("/api/why");
    this.aim = new Aim(context, { label: "Why is" });
    this.body = make("div", { "aria-live": "polite" });
    element.append(make("h2", { tabindex: -1 }, "Why?"), this.aim.element, this.body);
  }

  update(context) {
    const aimed = this.aim.update(context);
    const stop = obstacle(context, aimed);
    if (stop) return this.say(stop);
    return this.loader.load(context, { ...aimed, ...situation(context, aimed.target) }, (why) => this.show(why), (problem) => this.say(problem.message));
  }

  hidden({ marks }) {
    marks.clear("why");
    this.loader.forget();
  }

  say(text) {
    this.loader.forget();
    this.context.marks.clear("why");
    this.body.replaceChildren(make("p", { class: "soft" }, text));
  }

  show(why) {
    const { target, state } = why;
    const rival = why.rival[target];
    const names = Object.keys(why.findings);
    const given = names.length ? ` given ${names.map((name) => finding(name, this.context)).join(", ")}` : "";
    const apart = apartNote(target, this.context);
    this.body.replaceChildren(...[
      apart ? make("p", { class: "soft" }, apart) : null,
      make("p", {}, make("b", {}, `${target} = ${state}`), `${given} is possible to `, make("b", {}, three(why.possibility)),
        `, certain to `, make("b", {}, three(why.necessity)), "."),
      story("story", `Its best story: ${small(why.story_possibility)}`, why.story_factors, why),
      rival === undefined ? null : story("rival", `Its best rival, ${target} = ${rival}: ${small(why.rival_possibility)}`, why.rival_factors, why),
      rival === undefined ? null : make("p", { class: "soft" }, ratio(why)),
      ...this.findings(why),
      ...this.flips(why),
    ].filter(Boolean));
    this.context.marks.show("why", lights(why, this.context.variables));
  }

  findings({ findings }) {
    const listed = Object.entries(findings);
    if (!listed.length) return [];
    const line = ([name, effect]) => make("tr", {}, make("th", { scope: "row" }, finding(name, this.context)), make("td", { class: "digits" }, three(effect.possibility_without)),
      make("td", { class: "digits" }, three(effect.necessity_without)), make("td", {}, effect.caps ? "caps it" : ""));
    const head = ["Finding", "Π without it", "N without it", ""].map((text) => make("th", { scope: "col" }, text));
    return [make("h3", {}, "What each finding does"),
      make("table", { class: "plain" }, make("thead", {}, make("tr", {}, ...head)), make("tbody", {}, ...listed.map(line)))];
  }

  flips({ flips, target, state, possibility }) {
    const { actions, evidence, variables } = this.context;
    const items = [];
    if (flips.drop) {
      const rest = flips.drop.reduce((known, name) => without(known, name), evidence);
      const words = `without ${flips.drop.map((name) => finding(name, this.context)).join(", ")}`;
      items.push([words, "Try it", () => actions.replaceEvidence(rest, words)]);
    }
    for (const [name, other] of Object.entries(flips.replace ?? {})) {
      const words = `with ${name} = ${other} in place of ${finding(name, this.context)}`;
      items.push([words, "Try it", () => actions.replaceEvidence(new Map(evidence).set(name, new Set([other])), words)]);
    }
    if (flips.entry) {
      const { entry, side, needed, now } = flips.entry;
      const name = variables.has(entry.split("=")[0]) ? entry.split("=")[0] : undefined;
      items.push([`with the table entry ${entry} ${side} ${three(needed)} (now ${three(now)})`, name && "Its table", () => actions.select(name)]);
    }
    if (!items.length) return [];
    const verb = possibility === 1 ? "no longer among" : "among";
    return [make("h3", {}, "What would flip it"),
      make("p", { class: "soft" }, `The smallest changes after which ${target} = ${state} is ${verb} the most possible states:`),
      make("ul", { class: "ways" }, ...items.map(([words, label, click]) => make("li", {}, make("span", {}, words),
        label ? make("button", { type: "button", "aria-label": `${label}: ${words}`, click }, label) : null)))];
  }
}

// The degrees that a story is made of, as far as they lower it.
function story(tone, title, factors, { conjunction }) {
  const lower = factors.filter((factor) => factor.decisive);
  const line = (factor) => make("tr", {}, make("th", { scope: "row" }, label(factor)), bar(factor.degree), make("td", { class: "digits" }, three(factor.degree)));
  const rest = lower.length ? `Every other degree on the way is ${conjunction === "min" ? "larger" : "1"}.` : "Nothing speaks against it: every degree on the way is 1.";
  return make("section", { class: `story ${tone}` }, make("h3", {}, title),
    lower.length ? make("table", { class: "plain" }, make("tbody", {}, ...lower.map(line))) : null,
    make("p", { class: "soft" }, rest));
}

export function bar(degree) {
  const fill = make("i", { class: "possible" });
  fill.style.width = `${100 * degree}%`;
  return make("td", { class: "bar" }, make("div", { class: "rail" }, fill));
}

function label({ variable, state, context, kind }) {
  const given = Object.entries(context).map(([name, value]) => `${name} = ${value}`).join(", ");
  return `${kind === "finding" ? "finding " : ""}${variable} = ${state}${given ? ` given ${given}` : ""}`;
}

function ratio({ conjunction, story_possibility: own, rival_possibility: other, possibility }) {
  if (possibility === 1) return other >= own ? "The rival is as possible, so that neither is certain." : "The rival is less possible: nothing beats the story.";
  return conjunction === "min" ? `The rival is more possible, so that the state keeps ${small(own)}.`
    : `The rival is more possible: ${small(own)} / ${small(other)} = ${three(possibility)}.`;
}

// Both stories on the graph: states where they differ or that lower one of them, and the edges that lead there.
export function lights(why, variables) {
  const decisive = (factors) => new Set(factors.filter((factor) => factor.decisive).map((factor) => factor.variable));
  const [own, other] = [decisive(why.story_factors), decisive(why.rival_factors)];
  const [cards, states, edges] = [new Map(), new Map(), []];
  for (const [name, variable] of variables) {
    const [first, second] = [why.story[name], why.rival[name]];
    if (first === second && !own.has(name) && !other.has(name) && name !== why.target) continue;
    const tone = own.has(name) && other.has(name) ? "both" : own.has(name) ? "story" : other.has(name) ? "rival" : undefined;
    if (tone) cards.set(name, { tone });
    states.set(name, new Map(first === second ? [[first, { tone: "both" }]] : [[first, { tone: "story" }], [second, { tone: "rival" }]].filter(([state]) => state !== undefined)));
    for (const parent of tone ? variable.parents : []) edges.push({ from: parent, to: name, tone });
  }
  return { cards, states, edges };
}

export const whyTab = new Why();
