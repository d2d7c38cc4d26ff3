// Does a report work in a browser? See `run`.
import { basename, join } from "node:path";
import { chromium } from "playwright-core";
import { slip, violations } from "./axe.mjs";

const [report, room, executablePath] = process.argv.slice(2);
const failures = [];
const expect = (holds, what) => { if (!holds) failures.push(what); };
// Each launch has an empty profile of its own.
const browser = await chromium.launch({
  executablePath,
  headless: true,
  args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking", "--disable-component-update", "--disable-sync"],
});

const context = await browser.newContext();

async function open(scheme, width) {
  const page = await context.newPage();
  await page.emulateMedia({ colorScheme: scheme });
  await page.setViewportSize({ width, height: 900 });
  page.on("console", (message) => expect(false, `console: ${message.text()}`));
  page.on("pageerror", (error) => expect(false, `script: ${error.message}`));
  page.on("request", (request) => expect(/^(file|data):/.test(request.url()), `asks for ${request.url()}`));
  await page.goto(`file://${report}`);
  return page;
}

// Contrast of every visible text with what is behind it (WCAG 2.2: 4.5 to 1).
const faintTexts = () => {
  const channel = (value) => { value /= 255; return value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4; };
  const luminance = ([red, green, blue]) => 0.2126 * channel(red) + 0.7152 * channel(green) + 0.0722 * channel(blue);
  const colour = (text) => text.match(/[\d.]+/g).map(Number);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const found = colour(getComputedStyle(at).backgroundColor);
      if (found.length < 4 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const faint = [];
  for (const element of document.querySelectorAll("body *:not(script):not(svg *)")) {
    const says = [...element.childNodes].some((node) => node.nodeType === Node.TEXT_NODE && node.textContent.trim());
    if (!says || !element.checkVisibility()) continue;
    const [light, dark] = [luminance(colour(getComputedStyle(element).color)), luminance(ground(element))].sort((a, b) => b - a);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < 4.5) faint.push(`${element.className || element.tagName} "${element.textContent.trim().slice(0, 30)}" ${ratio.toFixed(2)}`);
  }
  return faint;
};

for (const [name, scheme, width] of [["light-wide", "light", 1440], ["dark-wide", "dark", 1440], ["light-narrow", "light", 390], ["dark-narrow", "dark", 390]]) {
  const page = await open(scheme, width);
  const scrolled = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
  expect(scrolled <= 0, `${name}: ${scrolled} pixels too wide`);
  (await violations(page, room)).forEach((violation) => expect(false, `${name}: ${violation}`));
  const word = await slip(page);
  expect(!word, `${name}: a word of the program stands on the page: ${word}`);
  (await page.evaluate(faintTexts)).slice(0, 5).forEach((text) => expect(false, `${name}: faint ${text}`));
  await page.screenshot({ path: join(room, `${basename(report, ".html")}-${name}.png`), fullPage: true });
  await page.close();
}

const page = await open("light", 1440);
// Everything that can be reached by keyboard or is a picture has a name.
const tree = await (await page.context().newCDPSession(page)).send("Accessibility.getFullAXTree");
const nameless = tree.nodes.filter((node) => !node.ignored && ["button", "link", "slider", "combobox", "img", "image", "group", "table"].includes(node.role?.value) && !node.name?.value);
expect(nameless.length === 0, `without a name: ${nameless.map((node) => node.role.value).join(", ")}`);
const roles = (role) => tree.nodes.filter((node) => !node.ignored && node.role?.value === role).length;
expect(roles("main") === 1 && roles("heading") > 3, "no main part or headings");

const sliders = page.locator(".cursor:visible");
if (await sliders.count()) {
  const slider = sliders.first();
  await slider.focus();
  await page.keyboard.press("Home");
  const first = await slider.getAttribute("aria-valuetext");
  await page.keyboard.press("ArrowRight");
  const second = await slider.getAttribute("aria-valuetext");
  expect(first && second && first !== second, `the cursor says "${first}", then "${second}"`);
  expect(await page.locator(".tip").count() === 1, "no figures beside the cursor");
  await page.keyboard.press("Escape");
  expect(await page.locator(".tip").count() === 0, "Escape leaves the figures");

  const view = () => slider.evaluate((element) => element.parentElement.querySelector("svg").getAttribute("viewBox"));
  const whole = await view();
  await page.keyboard.press("+");
  const near = await view();
  expect(near !== whole, "+ does not zoom");
  await page.keyboard.press("0");
  expect(await view() === whole, "0 does not show the whole");
  const box = await slider.boundingBox();
  await page.mouse.move(box.x + box.width * 0.25, box.y + 20);
  expect(await page.locator(".tip").count() === 1, "nothing under the pointer");
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.5, box.y + 20, { steps: 4 });
  await page.mouse.up();
  const dragged = (await view()).split(" ").map(Number);
  expect(Math.abs(dragged[2] - 2500) < 100, `dragging a quarter shows ${dragged[2]}`);
  await page.mouse.dblclick(box.x + box.width / 2, box.y + 20);
  expect(await view() === whole, "a double click does not show the whole");
}

const choice = page.locator("#task-choice");
if (await choice.count()) {
  expect(await page.locator(".task:visible").count() === 1, "not one task at first");
  await choice.selectOption("");
  const tasks = await page.locator(".task").count();
  expect(await page.locator(".task:visible").count() === tasks, "not all tasks on request");
  const link = page.locator(".figures a, .changes a").last();
  if (await link.count()) {
    await link.focus();
    await page.keyboard.press("Enter");
    // The change of the page's address is told to the script a moment later.
    await page.waitForFunction(() => document.activeElement.tagName === "H3", undefined, { timeout: 2000 }).catch(() => {});
    expect(await page.locator(".task:visible").count() === 1, "a link shows more than its task");
    expect(await page.evaluate(() => document.activeElement.tagName) === "H3", "a link does not lead to its task");
  }
}
const least = page.locator("#least");
const verdict = page.locator("#least option[value=verdict]");
if (await verdict.count()) {
  await least.selectOption("verdict");
  const wanted = await page.locator(".changes tr[data-verdict]").count();
  expect(await page.locator(".changes tr[data-change]:visible").count() === wanted, "not exactly the shown differences on request");
  expect(/^Shows \d+ rows$/.test(await page.locator("#said").textContent()), "the number of rows is not said");
  await least.selectOption("0");
}
if (await least.count()) {
  const rows = () => page.locator(".changes tr[data-change]:visible").count();
  const all = await rows();
  await least.selectOption("25");
  expect(await rows() <= all, "the choice of changes shows more");
}
const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
const light = await ground();
// Reports of advice and of a search for settings have no script, and so no buttons.
const hasScript = await page.locator("#theme").count() > 0;
if (hasScript) {
  await page.locator("#theme").click();
  expect(await ground() !== light, "the button does not change the colours");
}

// Tab reaches something new each time, and gets out of every plot.
await page.evaluate(() => document.activeElement.blur());
const seen = new Set();
for (let presses = 0; presses < 60; presses++) {
  await page.keyboard.press("Tab");
  seen.add(await page.evaluate(() => { const at = document.activeElement; return at.id || at.getAttribute("aria-label") || at.textContent.slice(0, 40); }));
}
expect(seen.size >= (hasScript ? 12 : 1), `Tab reaches only ${[...seen].join(", ")}`);

// Without the script all plots and tables are there.
const bare = await (await browser.newContext({ javaScriptEnabled: false })).newPage();
await bare.goto(`file://${report}`);
const [visible, drawn] = [await bare.locator(".task:visible").count(), await bare.locator(".task").count()];
expect(visible === drawn, `without scripts ${visible} of ${drawn} tasks are there`);
expect(await bare.locator(".zoom:visible, .chooser:visible, #theme:visible").count() === 0, "without scripts there are buttons that do nothing");
await browser.close();
failures.forEach((failure) => console.error(`${basename(report)}: ${failure}`));
console.log(`${basename(report)}: ${failures.length === 0 ? "fine" : failures.length + " failures"}; pictures in ${room}`);
process.exit(failures.length === 0 ? 0 : 1);
