// The pages of `alike serve` in a real browser, of a collection and of an output: what stands on them, keys, the slider, the way back, and what an accessibility
// checker says of them, 360 and 1,440 pixels wide, light and dark. It needs Chromium, and playwright-core and axe-core from npm:
//
//     mkdir /tmp/browser && (cd /tmp/browser && npm install playwright-core axe-core)
//     node tests/browser/browse.mjs --alike target/release/alike --modules /tmp/browser --shots /tmp/shots
//
// --chromium FILE names the browser (/usr/bin/chromium). Each page is put into the folder of --shots as a picture. The exit code
// is 1 if anything is wrong, and every wrong thing is a line.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { parseArgs } from "node:util";

const { values: options } = parseArgs({
  options: {
    alike: { type: "string", default: "target/release/alike" },
    modules: { type: "string", default: "." },
    chromium: { type: "string", default: "/usr/bin/chromium" },
    shots: { type: "string" },
  },
});
const alike = resolve(options.alike);
const shots = options.shots && resolve(options.shots);
const require = createRequire(join(resolve(options.modules), "package.json"));
const { chromium } = require("playwright-core");
const axe = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const HOSTILE = [
  "<script>alert(1)</script>", "\u202etxt.exe", "\u001b[2J", "..", "a/b.json", "q?x=1&y#z", "x".repeat(3000),
  "\u4e2d\u6587", "\"><img src=x onerror=alert(1)>", "javascript:alert(1)",
];
const wrong = [];

function expect(good, what) {
  if (!good) {
    wrong.push(what);
    console.log(`WRONG: ${what}`);
  }
}

/// So many words, different ones for each beginning.
function words(from, count) {
  return Array.from({ length: count }, (_, at) => `word${(from * 7919 + at * 104729) % 1000003}`).join(" ");
}

/// A collection with families, hostile ids and texts, long texts, and three commits.
function collection(folder) {
  const load = (name, records) => {
    writeFileSync(join(folder, name), records.map((record) => `${JSON.stringify(record)}\n`).join(""));
    const ran = spawnSync(alike, ["load", "c", name, "--store-text", "--quiet"], { cwd: folder, encoding: "utf8" });
    if (ran.status !== 0) throw new Error(ran.stderr);
  };
  const families = [];
  for (let family = 0; family < 130; family += 1) {
    const size = family === 0 ? 24 : 2 + (family % 5);
    for (let member = 0; member < size; member += 1) {
      const text = words(family * 1000, 80).split(" ");
      // Each has a word less in common with the first than the one before it.
      for (let at = 0; at < Math.min(member, 6); at += 1) text[at * 2] = `other${at}`;
      text[79 - (member % 3)] = `own${member % 3}`;
      families.push({ id: `f${family}-${String(member).padStart(2, "0")}`, text: text.join(" ") });
    }
  }
  load("one.jsonl", families);
  const hostile = HOSTILE.flatMap((id, at) => {
    const text = `${words(900000 + at * 1000, 60)} <b>bold</b> \u202e \u001b[31m`;
    return [{ id, text }, { id: `${id} again`, text: `${text} once more` }];
  });
  load("two.jsonl", [...hostile, { id: "long word", text: "y".repeat(1_000_000) }, { id: "no token", text: "..." }]);
  load("three.jsonl", [
    { id: "f3-99", text: `${words(3000, 80)} more` },
    { id: "f4-00", text: words(777777, 80) },
    { id: "f1-00", text: words(888888, 80) },
  ]);
}

/// An output of the same files.
function output(folder) {
  const words = ["dedup", "one.jsonl", "two.jsonl", "three.jsonl", "--out", "out", "--clustering", "transitive", "--quiet"];
  const ran = spawnSync(alike, words, { cwd: folder, encoding: "utf8" });
  if (ran.status !== 0) throw new Error(ran.stderr);
}

/// Starts a server of a collection or an output, which takes verdicts; gives its address and itself.
function serve(folder, what) {
  const server = spawn(alike, ["serve", what, "--listen", "0", "--verdicts", `verdicts-of-${what}.jsonl`], { cwd: folder, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    server.on("error", failed);
    server.stdout.once("data", (line) => done([line.toString().trim(), server]));
  });
}

/// Opens a page, and watches what it does.
async function watched(context, base) {
  const page = await context.newPage();
  page.on("console", (message) => {
    const is404 = message.location().url === page.url() && message.text().includes("status of 4");
    expect(!["error", "warning"].includes(message.type()) || is404, `${page.url()} says ${message.text()}`);
  });
  page.on("pageerror", (error) => expect(false, `${page.url()} throws ${error}`));
  page.on("dialog", (dialog) => {
    expect(false, `${page.url()} opens ${dialog.message()}`);
    dialog.dismiss();
  });
  page.on("request", (request) => expect(request.url().startsWith(base), `${page.url()} asks for ${request.url()}`));
  return page;
}

/// What must hold of every page.
async function examine(page, name) {
  // What is evaluated by the owner of the browser is under no policy of the page.
  await page.evaluate(axe);
  const wide = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
  expect(wide <= 0, `${name}: ${wide} pixels wider than the window`);
  expect((await page.locator("h1").count()) === 1, `${name}: not one heading`);
  expect((await page.locator("main").count()) === 1, `${name}: not one main part`);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document);
    return violations.map(({ id, impact, nodes }) => `${impact} ${id}: ${nodes.map((node) => node.html).slice(0, 3).join(" ")}`);
  });
  for (const what of found) expect(false, `${name}: ${what}`);
  if (shots) await page.screenshot({ path: join(shots, `${name}.png`), fullPage: true });
}

/// Keys step through the members of a cluster, and the way back leads through them.
async function step(page, base) {
  await page.goto(`${base}clusters`);
  await Promise.all([page.waitForURL(/clusters\/[0-9.]+$/), page.locator("tbody th a").first().click()]);
  const cluster = page.url();
  const members = [];
  for (let at = 0; at < 3; at += 1) {
    await Promise.all([page.waitForURL((url) => url.searchParams.get("member") !== (members.at(-1) ?? null)), page.keyboard.press("jnj"[at])]);
    members.push(new URL(page.url()).searchParams.get("member"));
  }
  expect(new Set(members).size === 3 && !members.includes(null), `three steps lead to ${members}`);
  expect((await page.locator(".sides del, .sides ins").count()) > 0, "no difference is marked");
  for (const [key, member] of [["k", members[1]], ["p", members[0]]]) {
    await Promise.all([page.waitForURL((url) => url.searchParams.get("member") === member), page.keyboard.press(key)]);
  }
  for (const member of [members[1], members[2], members[1], members[0], null]) {
    await page.goBack();
    expect(new URL(page.url()).searchParams.get("member") === member, `back leads to ${page.url()}, not to ${member}`);
  }
  expect(page.url() === cluster, `back leads to ${page.url()}`);
  await page.goForward();
  expect(new URL(page.url()).searchParams.get("member") === members[0], "forward leads elsewhere");
}

/// The slider of a cluster: what it is set to is in the address, and the way back leads to what was shown before.
async function slide(page, base) {
  await page.goto(`${base}clusters/1.1`);
  const slider = page.locator("input[type=range]");
  const before = page.url();
  expect((await page.textContent("output")) === "0.8", "the slider does not stand at the threshold of the collection");
  await slider.focus();
  await Promise.all([page.waitForURL((url) => url.searchParams.has("threshold")), page.keyboard.press("End")]);
  const parts = await page.locator("#parts tbody tr").count();
  expect(parts > 1, `at the highest threshold there are ${parts} parts`);
  await page.goBack();
  expect(page.url() === before, `back from the slider leads to ${page.url()}`);
}

/// Forms do what they say.
async function forms(page, base) {
  await page.goto(`${base}clusters`);
  await page.locator("#sort").selectOption("newest");
  await page.locator("#min-size").fill("3");
  await page.getByRole("button", { name: "Show" }).click();
  expect(page.url() === `${base}clusters?sort=newest&min-size=3`, `the filter leads to ${page.url()}`);
  await page.goto(`${base}clusters`);
  await page.keyboard.press("j");
  await page.waitForURL((url) => url.searchParams.has("after"));
  await page.goto(`${base}documents`);
  await page.locator("#q").fill("f12-");
  await page.getByRole("button", { name: "Find", exact: true }).click();
  expect((await page.locator("tbody tr").count()) === 4, "documents that begin with f12-");
  await page.goto(`${base}check`);
  await page.locator("textarea").fill(`${words(5000, 80)}\n<script>alert(2)</script>`);
  await page.getByRole("button", { name: "Check" }).click();
  expect((await page.locator("tbody tr").count()) > 0, "nothing resembles a text of the collection");
  expect((await page.locator("textarea").inputValue()).includes("<script>alert(2)"), "the text is not there again");
  await examine(page, "checked");
  await page.goto(`${base}compare`);
  await page.locator("#a").fill("f5-00");
  await page.locator("#b").fill("..");
  await page.getByRole("button", { name: "Compare" }).click();
  expect((await page.textContent("main")).includes("not together"), "two documents that have nothing in common");
  await page.goto(base);
  await page.keyboard.press("Tab");
  expect((await page.evaluate(() => document.activeElement.className)) === "skip", "the first stop is not the way past the links");
  await page.keyboard.press("Enter");
  expect((await page.evaluate(() => document.activeElement.id)) === "main", "the way past the links leads elsewhere");
}

/// Buttons write verdicts on two documents, whatever their ids are, and lead back to the page that has them.
async function judge(page, base, folder, what) {
  const file = join(folder, `verdicts-of-${what}.jsonl`);
  const pairs = [["f0-03", HOSTILE[0]], [HOSTILE[1], HOSTILE[2]], [HOSTILE[3], HOSTILE[8]]];
  const before = readFileSync(file, "utf8").split("\n").length;
  for (const [at, pair] of pairs.entries()) {
    const address = `${base}compare?a=${encodeURIComponent(pair[0])}&b=${encodeURIComponent(pair[1])}`;
    await page.goto(address);
    const name = ["the same", "not the same", "unsure"][at];
    await page.getByRole("button", { name, exact: true }).click();
    expect((await page.textContent("main")).includes(`The last verdict: ${name}.`), `${name} is not on ${page.url()}`);
    const line = JSON.parse(readFileSync(file, "utf8").trim().split("\n").at(-1));
    const grade = [1, 0, "unsure"][at];
    expect(line.id_a === pair[0] && line.id_b === pair[1] && line.grade === grade, `${JSON.stringify(line)} was written`);
    await examine(page, `verdict-${at}-of-${what}`);
  }
  await page.goto(`${base}clusters`);
  await page.locator("tbody th a").first().click();
  await page.getByRole("link", { name: "First member against the representative" }).click();
  const member = page.url();
  await page.getByRole("button", { name: "unsure", exact: true }).click();
  expect(page.url() === member, `a verdict leads to ${page.url()}, not to ${member}`);
  expect((await page.locator("tbody tr.here").textContent()).includes("unsure"), "the list does not say the verdict");
  await examine(page, `verdict-of-a-member-of-${what}`);
  const after = readFileSync(file, "utf8").split("\n").length;
  expect(after === before + 4, `${after - before} lines were written by four presses`);
}

/// Each hostile id leads from the list to its page, on which it is shown.
async function hostile(page, base) {
  await page.goto(`${base}documents?limit=1000`);
  const links = await page.locator("tbody th a").evaluateAll((all) => all.map((link) => link.href));
  let shown = 0;
  for (const link of links.filter((link) => !/documents\/f\d/.test(link))) {
    const answer = await page.goto(link);
    expect(answer.status() === 200 && (await page.locator("h1").textContent()).startsWith("Document"), `${link}: ${answer.status()}`);
    shown += 1;
  }
  expect(shown === HOSTILE.length * 2 + 2, `${shown} hostile documents were shown`);
}

const PAGES = [
  ["summary", ""], ["clusters", "clusters"], ["newest", "clusters?sort=newest&min-size=3&limit=10"],
  ["loosest", "clusters?sort=looseness&limit=10"], ["cluster", "clusters/1.1"],
  ["member", "clusters/1.1?member=f0-11#member"], ["threshold", "clusters/1.1?threshold=0.95"], ["documents", "documents"],
  ["search", "documents?q=f1"], ["words", "documents?words=SCRIPT+again"], ["document", "documents/f0-07"], ["hostile", "documents/%3Cscript%3Ealert(1)%3C%2Fscript%3E"],
  ["long-word", "documents/long%20word"], ["long-id", `documents/${"x".repeat(3000)}`], ["no-token", "documents/no%20token"],
  ["compare-form", "compare"], ["together", "compare?a=f0-03&b=f0-07"], ["apart", "compare?a=f0-03&b=f1-01"],
  ["changes", "changes"], ["later-changes", "changes?since=1"], ["check", "check"], ["missing", "clusters/99.1"],
];

const OUTPUT_PAGES = [
  ["output", ""], ["output-clusters", "clusters"], ["output-loosest", "clusters?sort=looseness&min-size=3&limit=10"],
  ["output-cluster", "clusters/1"], ["output-threshold", "clusters/1?threshold=0.95"], ["output-member", "clusters/1?member=one.jsonl:12#member"],
  ["output-documents", "documents"], ["output-document", "documents/f0-07"],
  ["output-hostile", "documents/%3Cscript%3Ealert(1)%3C%2Fscript%3E"], ["output-alone", "documents/no%20token"],
  ["output-compare-form", "compare"], ["output-together", "compare?a=f0-03&b=f0-07"],
  ["output-apart", "compare?a=f0-03&b=f1-01"], ["output-missing", "changes"],
];

/// Looks at pages as wide as a telephone and as a desk, light and dark.
async function look(browser, base, pages) {
  for (const width of [360, 1440]) {
    for (const colorScheme of ["light", "dark"]) {
      const context = await browser.newContext({ viewport: { width, height: 900 }, colorScheme });
      const page = await watched(context, base);
      for (const [name, path] of pages) {
        const answer = await page.goto(base + path);
        expect(answer.status() === (name.endsWith("missing") ? 404 : 200), `${name}: ${answer.status()}`);
        expect(answer.headers()["content-type"] === "text/html; charset=utf-8", `${name} is no page`);
        await examine(page, `${name}-${width}-${colorScheme}`);
      }
      await context.close();
    }
  }
}

async function main() {
  const folder = mkdtempSync(join(tmpdir(), "alike-browser-"));
  if (shots) mkdirSync(shots, { recursive: true });
  const servers = [];
  let browser;
  try {
    collection(folder);
    output(folder);
    const [base, ofCollection] = await serve(folder, "c");
    const [outputBase, ofOutput] = await serve(folder, "out");
    servers.push(ofCollection, ofOutput);
    const flags = ["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
      "--disable-background-networking", "--disable-component-update", "--disable-sync"];
    browser = await chromium.launch({ executablePath: options.chromium, args: flags });
    await look(browser, base, PAGES);
    await look(browser, outputBase, OUTPUT_PAGES);
    await step(await watched(await browser.newContext(), outputBase), outputBase);
    const page = await watched(await browser.newContext(), base);
    for (const part of [step, slide, forms, hostile]) await part(page, base);
    await judge(page, base, folder, "c");
    await judge(await watched(await browser.newContext(), outputBase), outputBase, folder, "out");
    const plain = await watched(await browser.newContext({ javaScriptEnabled: false }), base);
    await withoutScript(plain, base);
    await judgeWithoutScript(plain, base);
  } finally {
    await browser?.close();
    servers.forEach((server) => server.kill());
    rmSync(folder, { recursive: true });
  }
  console.log(wrong.length === 0 ? "all is well" : `${wrong.length} things are wrong`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}

/// Without a script everything can be reached, too.
async function withoutScript(page, base) {
  await page.goto(`${base}clusters`);
  await page.locator("tbody th a").first().click();
  await page.getByRole("link", { name: "First member against the representative" }).click();
  await page.getByRole("link", { name: "Next member" }).click();
  expect(new URL(page.url()).searchParams.has("member"), "links lead through the members");
  await page.goto(`${base}check`);
  await page.locator("textarea").fill(words(5000, 80));
  await page.getByRole("button", { name: "Check" }).click();
  expect((await page.locator("tbody tr").count()) > 0, "a form needs a script");
}

/// A verdict takes no script either.
async function judgeWithoutScript(page, base) {
  await page.goto(`${base}compare?a=f0-03&b=f0-07`);
  await page.getByRole("button", { name: "not the same", exact: true }).click();
  expect((await page.textContent("main")).includes("The last verdict: not the same."), "a verdict needs a script");
}

await main();
