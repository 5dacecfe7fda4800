// The picture as it stands, as a file of its own: SVG, PNG, or a page with the evidence and the degrees as a table.

import { byId } from "./dom.js";
import { inOrder } from "./evidence.js";
import { either, small, three } from "./words.js";

const MARGIN = 16;
const LARGEST = 8192; // pixels of a side that browsers draw

// The rules of this page's own style sheets, and the colours as they are now.
function styles() {
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules]);
  const wanted = rules.filter((rule) => rule.selectorText && /\.(card|edge|tip|state|head|more|drop|far|strip|badge|rim|port|tone|mark)/.test(rule.selectorText));
  const colours = getComputedStyle(document.documentElement);
  const names = [...new Set(rules.flatMap((rule) => [...(rule.selectorText === ":root" ? rule.style : [])]).filter((name) => name.startsWith("--")))];
  const values = names.map((name) => `${name}:${colours.getPropertyValue(name)}`).join(";");
  return `svg{${values};--tint:transparent}${wanted.map((rule) => rule.cssText).join("")}.rim,.port,.edge-hit{display:none}`;
}

function escaped(text) {
  return text.replace(/[&<>"]/g, (letter) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" }[letter]))
    // eslint-disable-next-line no-control-regex
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, "\ufffd");
}

// The drawing with its styles, at its full size.
export function svgOf({ graph, network }) {
  for (const card of graph.cards.values()) card.detail();
  const { x, y, width, height } = network.geometry;
  const world = graph.world.cloneNode(true);
  world.removeAttribute("transform");
  for (const element of world.querySelectorAll("[tabindex], [role]")) for (const name of ["tabindex", "role", "aria-label", "aria-checked"]) element.removeAttribute(name);
  for (const element of world.querySelectorAll(".rim, .port, .edge-hit, .drop, .strip")) element.remove();
  for (const element of world.querySelectorAll(".selected, .near, .aimed")) element.classList.remove("selected", "near", "aimed");
  const tips = byId("graph").querySelector("defs").cloneNode(true);
  const text = (node) => new XMLSerializer().serializeToString(node);
  const [wide, high] = [Math.ceil(width + 2 * MARGIN), Math.ceil(height + 2 * MARGIN)];
  const paper = getComputedStyle(document.body).backgroundColor;
  return `<svg xmlns="http://www.w3.org/2000/svg" role="img" aria-label="${escaped(network.name || "network")}" width="${wide}" height="${high}" `
    + `viewBox="${x - MARGIN} ${y - MARGIN} ${wide} ${high}" font-family="system-ui, sans-serif"><style>${escaped(styles()).replaceAll("&quot;", '"')}</style>`
    + `<rect x="${x - MARGIN}" y="${y - MARGIN}" width="${wide}" height="${high}" fill="${paper}"/>${text(tips)}${text(world)}</svg>`;
}

export async function pngOf(bench) {
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svgOf(bench))}`;
  await image.decode();
  const scale = Math.min(2, LARGEST / Math.max(image.width, image.height));
  const canvas = document.createElement("canvas");
  [canvas.width, canvas.height] = [Math.round(image.width * scale), Math.round(image.height * scale)];
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((resolve) => { canvas.toBlob(resolve, "image/png"); });
}

// One page that needs nothing else: no script, no address, the picture and what is known in words.
export function pageOf(bench) {
  const { answer, evidence, network, variables } = bench;
  const title = escaped(network.name || "network");
  const known = [...evidence].map(([name, states]) => `<li>${escaped(`${name} = ${either(inOrder(states, variables.get(name)))}`)}</li>`).join("");
  const rows = [...variables.values()].flatMap(({ name, states }) => states.map((state, k) => {
    const { possibility, necessity } = answer?.marginals?.[name] ?? {};
    const cells = [k ? "" : name, state, possibility ? three(possibility[k]) : "", necessity ? three(necessity[k]) : ""];
    return `<tr>${cells.map((cell) => `<td>${escaped(cell)}</td>`).join("")}</tr>`;
  })).join("");
  const paper = getComputedStyle(document.body);
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title>`
    + '<meta http-equiv="Content-Security-Policy" content="default-src \'none\'; style-src \'unsafe-inline\'">'
    + `<style>body{font:15px/1.5 system-ui,sans-serif;margin:24px auto;max-width:1200px;padding:0 16px;background:${paper.backgroundColor};color:${paper.color}}`
    + "svg{max-width:100%;height:auto}td,th{padding:1px 14px 1px 0;text-align:left;font-variant-numeric:tabular-nums}</style></head><body>"
    + `<h1>${title}</h1><p>${escaped(network.description)}</p>`
    + (evidence.size ? `<h2>Known</h2><ul>${known}</ul><p>Π(evidence) = ${answer?.degree === undefined ? "0" : escaped(small(answer.degree))}</p>` : "<p>Without evidence.</p>")
    + `${svgOf(bench)}<h2>Degrees</h2><table><thead><tr><th>variable</th><th>state</th><th>Π</th><th>N</th></tr></thead><tbody>${rows}</tbody></table></body></html>`;
}

export function download(name, content, type) {
  const address = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  const link = document.createElement("a");
  Object.assign(link, { href: address, download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
}
