for (const table of document.querySelectorAll("table.sortable")) {
  const heads = [...table.tHead.rows[0].cells], body = table.tBodies[0];
  heads.forEach((head, k) => head.querySelector("button").addEventListener("click", () => {
    const up = head.getAttribute("aria-sort") !== "ascending";
    const key = row => { const v = row.cells[k].dataset.v; return v === undefined ? row.cells[k].textContent : Number(v); };
    const order = (a, b) => { const x = key(a), y = key(b); return x < y ? -1 : x > y ? 1 : 0; };
    const rows = [...body.rows].sort((a, b) => up ? order(a, b) : order(b, a));
    body.append(...rows);
    heads.forEach(h => h.removeAttribute("aria-sort"));
    head.setAttribute("aria-sort", up ? "ascending" : "descending");
  }));
}
for (const form of document.querySelectorAll("form.filters")) {
  const table = form.nextElementSibling.querySelector("table"), choices = [...form.querySelectorAll("select")];
  form.addEventListener("change", () => {
    let shown = 0;
    for (const row of table.tBodies[0].rows) {
      const fits = choice => !choice.value || row.cells[choice.dataset.column].firstChild.textContent === choice.value;
      row.hidden = !choices.every(fits);
      shown += !row.hidden;
    }
    form.querySelector("output").value = shown + " of " + table.tBodies[0].rows.length + " lines";
  });
}
const reveal = () => {
  const place = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (!place) return;
  for (let node = place; node; node = node.parentElement) if (node.tagName === "DETAILS") node.open = true;
  place.scrollIntoView();
};
addEventListener("hashchange", reveal);
reveal();
for (const panel of document.querySelectorAll('figure svg g[id*="panel-"]'))
  panel.addEventListener("click", () => history.replaceState(null, "", "#" + panel.id));
const picture = async svg => {
  const copy = svg.cloneNode(true), box = svg.viewBox.baseVal;
  copy.setAttribute("width", 3 * box.width);
  copy.setAttribute("height", 3 * box.height);
  copy.removeAttribute("style");
  const image = new Image();
  image.src = "data:image/svg+xml," + encodeURIComponent(new XMLSerializer().serializeToString(copy));
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), {width: 3 * box.width, height: 3 * box.height});
  const ink = canvas.getContext("2d");
  ink.fillStyle = "#fff";
  ink.fillRect(0, 0, canvas.width, canvas.height);
  ink.drawImage(image, 0, 0);
  return new Promise(done => canvas.toBlob(done, "image/png"));
};
for (const button of document.querySelectorAll("button[data-copy]")) button.addEventListener("click", async () => {
  const words = button.textContent, svg = [...button.closest("figure").querySelectorAll("svg")].find(s => s.getClientRects().length);
  try {
    if (button.dataset.copy !== "figure") await navigator.clipboard.writeText(button.dataset.copy);
    else await navigator.clipboard.write([new ClipboardItem({"image/png": picture(svg)})]);
    button.textContent = "copied";
  } catch { button.textContent = "the browser does not allow it"; }
  setTimeout(() => { button.textContent = words; }, 1500);
});
