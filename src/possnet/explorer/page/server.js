// Requests to the server that this page came from.

export class Problem extends Error {
  constructor(message, kind, status) {
    super(message);
    this.kind = kind;
    this.status = status;
  }
}

// The answer to a question; without a body, a plain look. An error of the server's becomes a Problem.
export async function ask(path, body, signal) {
  const how = body === undefined
    ? { signal }
    : { method: "POST", headers: { "Content-Type": "application/json" }, body: JSON.stringify(body), signal };
  return send(path, how);
}

// A file, as it is; what it is called goes into the address.
export async function upload(path, file, fields, signal) {
  const how = { method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file, signal };
  return send(`${path}?${new URLSearchParams(fields)}`, how);
}

async function send(path, how) {
  let reply;
  let answer;
  try {
    reply = await fetch(path, how);
    answer = await reply.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem("The server does not answer. Is the command still running? Start it again, then reload.", "gone", 0);
  }
  if (!reply.ok) throw new Problem(answer.error ?? `status ${reply.status}`, answer.kind ?? "refused", reply.status);
  return answer;
}
