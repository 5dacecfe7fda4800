// Numbers and evidence in words.

export function short(degree) {
  if (degree > 0 && degree < 0.005) return "<.01";
  if (degree < 1 && degree >= 0.995) return ">.99";
  return degree.toFixed(2);
}

export function three(degree) {
  if (degree > 0 && degree < 0.0005) return "<.001";
  if (degree < 1 && degree >= 0.9995) return ">.999";
  return degree.toFixed(3);
}

// Two ends in figures; one number if they look the same.
export function between(low, high) {
  return three(low) === three(high) ? three(low) : `${short(low)}–${short(high)}`;
}

// What is known of a state whose degrees have bounds.
export function bounded({ low, high, least, most }) {
  const ends = (what, from, to) => (three(from) === three(to) ? `${what} is known to be ${three(to)}`
    : `${what} is only known to lie between ${three(from)} and ${three(to)}`);
  return `${ends("Π", low, high)}; ${ends("N", least, most)}`;
}

export function small(degree) {
  if (degree === 0 || degree >= 0.0005) return three(degree);
  return degree.toExponential(2);
}

export function clipped(text, most) {
  const letters = Array.from(text);
  return letters.length <= most ? text : `${letters.slice(0, most - 1).join("")}…`;
}

export function either(states) {
  return states.join(" or ");
}

export function count(number, what) {
  return `${number.toLocaleString("en")} ${what}${number === 1 ? "" : "s"}`;
}

// A long number as it is shown where there is little room; never a 0 or a 1 that is none.
export function rounded(text) {
  const value = Number(typed(text).toPrecision(typed(text) < 0.1 ? 3 : 4));
  return text.length > 6 && value > 0 && value < 1 ? String(value) : text;
}

// A degree as someone types it; NaN if it is none.
export function typed(text) {
  const plain = text.trim().replace(",", ".");
  return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(plain) ? Number(plain) : NaN;
}
