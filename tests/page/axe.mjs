// axe and words of programs: what both checks ask of a page.
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** Violations that axe finds, as lines; in a world of its own: the page's policy lets no foreign script run, and that stays so. `room`: where it is installed. */
export async function violations(page, room) {
  const axe = readFileSync(join(room, "node_modules/axe-core/axe.min.js"), "utf8");
  const session = await page.context().newCDPSession(page);
  const { frameTree } = await session.send("Page.getFrameTree");
  const { executionContextId } = await session.send("Page.createIsolatedWorld", { frameId: frameTree.frame.id, worldName: "axe" });
  const run = async (expression) => {
    const { result, exceptionDetails } = await session.send("Runtime.evaluate", { expression, contextId: executionContextId, awaitPromise: true, returnByValue: true });
    if (exceptionDetails) throw new Error(`axe: ${exceptionDetails.exception?.description ?? exceptionDetails.text}`);
    return result.value;
  };
  await run(`${axe}; 1`);
  const found = await run(`axe.run(document, { resultTypes: ["violations"] }).then((all) => JSON.stringify(all.violations.map((v) => [v.id, v.nodes.length, v.nodes[0].html.slice(0, 140), v.nodes[0].failureSummary.slice(0, 200)])))`);
  return JSON.parse(found).map((violation) => `axe ${violation.join(" | ")}`);
}

/** A word of the program that stands on the page, with what is around it; `undefined` where there is none. */
export async function slip(page) {
  const text = await page.evaluate(() => document.body.innerText);
  return text.match(/.{0,20}(\bundefined\b|\bNaN\b|\[object |\b1 (documents|races|requests|findings)\b).{0,20}/)?.[0];
}
