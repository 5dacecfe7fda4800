// Evidence: variable -> set of states, one of which is so. Values are never changed, only replaced.

// With a state added, or taken back if it was there; a set that becomes empty is no evidence.
export function toggled(evidence, name, state) {
  const states = new Set(evidence.get(name) ?? []);
  if (!states.delete(state)) states.add(state);
  const next = new Map(evidence);
  if (states.size) next.set(name, states);
  else next.delete(name);
  return next;
}

export function without(evidence, name) {
  const next = new Map(evidence);
  next.delete(name);
  return next;
}

export function sameEvidence(one, other) {
  return one.size === other.size && [...one].every(([name, states]) => other.get(name)?.size === states.size
    && [...states].every((state) => other.get(name).has(state)));
}

// What of some evidence a network knows.
export function fitting(evidence, variables) {
  const known = [...evidence].map(([name, states]) => [name, new Set((variables.get(name)?.states ?? []).filter((state) => states.has(state)))]);
  return new Map(known.filter(([, states]) => states.size));
}

// Evidence after a variable got another name, or its states others: { variable, name, states: [{ name, was }] }.
export function renamed(evidence, { variable, name, states }) {
  const names = new Map(states.map((state) => [state.was, state.name]));
  return new Map([...evidence].map(([one, known]) => (one === variable
    ? [name.trim(), new Set([...known].map((state) => names.get(state) ?? state))] : [one, known])));
}

// States in the order of the domain.
export function inOrder(states, variable) {
  return variable.states.filter((state) => states.has(state));
}

// What there is to show of a state: how possible and certain it is, how possible it was, and what is known of it.
export function reading({ marginals, bounds, before, evidence, best }, { name, states }, k) {
  const [state, known] = [states[k], evidence.get(name)];
  const pi = marginals?.[name]?.possibility[k];
  const was = before?.[name]?.possibility[k];
  const given = Boolean(known?.has(state));
  return {
    state, pi, n: marginals?.[name]?.necessity?.[k], was, moved: Math.abs(was - pi) > 5e-4,
    band: band(bounds?.[name], k),
    given, excluded: Boolean(known) && !given, best: best?.[name] === state,
  };
}

// Bounds of a state's possibility and necessity, if the network carries any.
function band(bounds, k) {
  return bounds && { low: bounds.lower[k], high: bounds.upper[k], least: bounds.least[k], most: bounds.most[k] };
}

export function asRequest(evidence) {
  return Object.fromEntries([...evidence].map(([name, states]) => [name, [...states]]));
}

// #fever=mild|high&rash=spots, every name and state percent-encoded.
export function asHash(evidence) {
  const parts = [...evidence].map(([name, states]) => `${encode(name)}=${[...states].map(encode).join("|")}`);
  return parts.length ? `#${parts.join("&")}` : "";
}

function encode(text) {
  return encodeURIComponent(text.toWellFormed ? text.toWellFormed() : text);
}

// The evidence of an address, and what in it the network does not know.
export function fromHash(hash, variables) {
  const evidence = new Map();
  const unknown = [];
  for (const part of hash.replace(/^#/, "").split("&").filter(Boolean)) {
    const [name, states] = part.split("=", 2).map((text) => text.split("|").map(decode));
    const variable = variables.get(name[0]);
    if (!variable || !states) unknown.push(name[0]);
    else {
      const known = states.filter((state) => variable.states.includes(state));
      unknown.push(...states.filter((state) => !known.includes(state)).map((state) => `${name[0]} = ${state}`));
      if (known.length) evidence.set(variable.name, new Set(known));
    }
  }
  return { evidence, unknown };
}

function decode(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
