// The keyboard: cards by Tab and the arrows to the side, states by the arrows up and down.

export function useKeys(bench, stage) {
  stage.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const done = pressed(event.key, event.target, bench.graph, bench.view);
    if (done) event.preventDefault();
  });
  stage.addEventListener("focusin", (event) => {
    const card = cardOf(event.target, bench.graph);
    if (card && event.target.matches(":focus-visible")) bench.view.reveal(card.place);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") bench.close();
    const step = (event.ctrlKey || event.metaKey) && !event.altKey
      && { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
    if (!step || event.target.matches?.("input, textarea")) return; // a field has an undo of its own
    event.preventDefault();
    bench.timeline.step(step);
  });
}

function pressed(key, target, graph, view) {
  if (key === "+" || key === "=") view.zoom(1.25);
  else if (key === "-") view.zoom(0.8);
  else if (key === "0") view.fit();
  else if ((key === "Enter" || key === " ") && target.closest("[role=button], [role=checkbox]") && !target.closest("button")) {
    target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
  } else if (key === "w" && target.closest(".state")) {
    graph.actions.why(cardOf(target, graph).variable.name, target.closest(".state").dataset.state, true);
  } else if (key === "Delete" || key === "Backspace") graph.actions.clear(cardOf(target, graph)?.variable.name);
  else return key.startsWith("Arrow") && moved(key, target, graph);
  return true;
}

function moved(key, target, graph) {
  const card = cardOf(target, graph);
  if (!card) return false;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    const step = key === "ArrowRight" ? 1 : -1;
    const place = (graph.order.indexOf(card.variable.name) + step + graph.order.length) % graph.order.length;
    graph.cards.get(graph.order[place]).heading.focus();
    return true;
  }
  const stops = [card.heading, ...card.rows.map((row) => row.element), ...card.element.querySelectorAll(".more")];
  const next = stops.indexOf(target.closest(".head, .state, .more")) + (key === "ArrowDown" ? 1 : -1);
  stops[(next + stops.length) % stops.length].focus();
  return true;
}

function cardOf(target, graph) {
  const element = target.closest?.(".card");
  return element ? [...graph.cards.values()].find((card) => card.element === element) : undefined;
}
