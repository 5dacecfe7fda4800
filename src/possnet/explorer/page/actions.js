// What the parts of the page may do, by name.

import { fitting } from "./evidence.js";

export function makeActions(bench) {
  return {
    toggle: (name, state) => bench.toggle(name, state),
    assume: (name, states, text) => bench.assume(name, states, text),
    replaceEvidence: (evidence, text) => bench.replaceEvidence(fitting(evidence, bench.variables), text),
    clear: (name) => bench.clear(name),
    select: (name, byKey) => bench.select(name, byKey),
    openTab: (name, byKey) => bench.dock.show(name, byKey),
    closeDock: () => bench.close(),
    reveal: (name) => bench.reveal(name),
    noticed: (summary) => bench.noticed(summary),
    changed: (summary) => bench.changed(summary),
    tell: (text) => bench.header.tell(text),
    explain: () => { bench.explaining = !bench.explaining; return bench.refresh(); },
    undo: () => bench.timeline.step("undo"),
    redo: () => bench.timeline.step("redo"),
    refresh: () => bench.refresh(),
    aim: (target, state) => { bench.aimed = { target, state }; bench.dock.update(); },
    why: (target, state, byKey) => { bench.aimed = { target, state }; bench.dock.show("why", byKey); bench.dock.update(); },
  };
}
