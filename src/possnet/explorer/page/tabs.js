// The tabs of the dock, in their order. A tab is a module that exports
//   { name, title, mount(element, context), update(context), shown?(context), hidden?(context), takes?(file name), take?(source, context) }:
// `mount` is called once with an empty element, `update` whenever something has changed while the tab is open, `shown` and
// `hidden` when it is opened and left. A tab that `takes` files of a name, such as tables of rows, gets those that are dropped
// or opened: `take({ name, file }, context)` with a File, or `take({ name, path }, context)` with its path below the folder. What a context is stands in context.js.

import { dataTab } from "./data/data.js";
import { compareTab } from "./insight/compare.js";
import { mattersTab } from "./insight/matters.js";
import { nextTab } from "./insight/next.js";
import { whatIfTab } from "./insight/whatif.js";
import { whyTab } from "./insight/why.js";
import { overview } from "./overview.js";

export const TABS = [whyTab, mattersTab, nextTab, whatIfTab, compareTab, dataTab, overview];
