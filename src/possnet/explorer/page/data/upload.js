// A file to the server, as it is.

import { Problem } from "../server.js";

export async function uploadFile(path, file) {
  let reply;
  let answer;
  try {
    reply = await fetch(`${path}?name=${encodeURIComponent(file.name.toWellFormed?.() ?? file.name)}`, {
      method: "POST", headers: { "Content-Type": "application/octet-stream" }, body: file,
    });
    answer = await reply.json();
  } catch {
    throw new Problem(`${file.name}: the server did not take it; it may be too large, or the command has ended.`, "gone", 0);
  }
  if (!reply.ok) throw new Problem(answer.error ?? `status ${reply.status}`, answer.kind ?? "refused", reply.status);
  return answer;
}
