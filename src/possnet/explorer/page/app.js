// The start: the network as the server has it, the workbench over it, and the tabs of the dock.

import { byId, write } from "./dom.js";
import { Contradictions } from "./insight/conflicts.js";
import { Doing } from "./insight/doing.js";
import { ask } from "./server.js";
import { TABS } from "./tabs.js";
import { shapeOf } from "./view.js";
import { Workbench } from "./workbench.js";

// The token has become a cookie; it does not stay in the address.
if (new URLSearchParams(location.search).has("token")) history.replaceState(null, "", location.pathname + location.hash);
try {
  const workbench = new Workbench(await ask(`/api/network?shape=${shapeOf(window)}`));
  new Doing(workbench);
  new Contradictions(workbench);
  for (const tab of TABS) workbench.dock.register(tab);
  workbench.start();
} catch (problem) {
  write(byId("banner"), problem.message);
  byId("banner").hidden = false;
}
