// The keyboard: cards by Tab and the arrows to the side, states by the arrows up and down.

export function useKeys(graph, view, stage, close) {
  stage.addEventListener("keydown", (event) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return;
    const done = pressed(event.key, event.target, graph, view);
    if (done) event.preventDefault();
  });
  stage.addEventListener("focusin", (event) => {
    const card = cardOf(event.target, graph);
    if (card && event.target.matches(":focus-visible")) view.reveal(card.place);
  });
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") close();
  });
}

function pressed(key, target, graph, view) {
  if (key === "+" || key === "=") view.zoom(1.25);
  else if (key === "-") view.zoom(0.8);
  else if (key === "0") view.fit();
  else if ((key === "Enter" || key === " ") && target.closest("[role=button], [role=checkbox]") && !target.closest("button")) {
    target.dispatchEvent(new MouseEvent("click", { bubbles: true }));
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
