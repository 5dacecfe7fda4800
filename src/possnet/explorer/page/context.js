// What a tab of the dock works with: the network and the answer as they are now, marks on the picture, and questions.
//
//   context.network            as /api/network tells it: name, conjunction, variables, revision, edited, ...
//   context.variables          Map: name -> { name, states, parents, children, ordered, bins, gate }
//   context.evidence           Map: name -> Set of states; never changed, only replaced
//   context.answer             as /api/answer tells it: marginals, degree, bounds, best; undefined before the first
//   context.before             marginals without evidence; undefined before the first
//   context.problem            what went wrong with the last question: { kind, message }, or undefined
//   context.aimed              the degree that is asked about: { target, state }, or undefined
//   context.doing              Map: name -> state that was set from outside; set(name, state), release(name)
//   context.selection          name of the selected variable, or undefined
//   context.marks              marks on cards, states and edges: marks.show(layer, {cards, states, edges}), marks.clear(layer)
//   context.ask(path, body, signal)      a question to the server; throws a Problem with .message, .kind, .status
//   context.change(path, body)           a change of the network: sends the revision along, and shows what became of it
//   context.extend(name, value)          something that every /api/answer is asked with, such as { do: ... }; undefined ends it
//   context.actions            toggle(name, state), aim(target, state), why(target, state), assume(name, states, text), replaceEvidence(map, text), clear(name?),
//                              select(name), openTab(name), closeDock(), reveal(name), tell(text), undo(), redo()

export function makeContext(bench) {
  return {
    get network() { return bench.network; },
    get variables() { return bench.variables; },
    get evidence() { return bench.evidence; },
    get answer() { return bench.answer; },
    get before() { return bench.before; },
    get problem() { return bench.problem; },
    get selection() { return bench.selection; },
    get aimed() { return bench.aimed; },
    get doing() { return bench.doing; },
    get marks() { return bench.marks; },
    ask: bench.ask,
    change: (path, body) => bench.change(path, body),
    extend: (name, value) => bench.extend(name, value),
    actions: bench.actions,
  };
}
