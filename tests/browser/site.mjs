// The site in a real browser: node site.mjs SITE WEB OUT
//
// Every page at two widths, light and dark: nothing wider than the window, nothing asked of any
// host, no error. Then the search and the menu. OUT gets whole pictures of those that are written
// for the site, and the beginning of those that are made of other files.
import assert from "node:assert/strict";
import {mkdirSync, readdirSync} from "node:fs";
import {join, relative, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {startBrowser} from "./browser.mjs";

const [site, web, shots] = process.argv.slice(2).map((path) => resolve(path));
const pages = readdirSync(site, {recursive: true})
    .filter((name) => name.endsWith(".html"))
    .map((name) => join(site, name));
const pictured = ["index", "first-release", "epsilon", "coming-from", "recipes", "method",
    "results", "api"];
const made = ["results", "api"]; // too long to look at as a whole
mkdirSync(shots, {recursive: true});
const browser = await startBrowser(web);

async function open(path, width, colorScheme) {
    const page = await browser.newPage({viewport: {width, height: 900}, colorScheme});
    const problems = [];
    page.on("request", (request) => {
        if (!request.url().startsWith("file:")) problems.push(`asks for ${request.url()}`);
    });
    page.on("pageerror", (error) => problems.push(String(error)));
    page.on("requestfailed", (request) => problems.push(`cannot load ${request.url()}`));
    await page.goto(pathToFileURL(path).href);
    return {page, problems};
}

async function checkPage(path, width, colorScheme) {
    const {page, problems} = await open(path, width, colorScheme);
    const name = relative(site, path).replace(/\.html$/, "");
    const wide = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
    assert.ok(wide <= 0, `${name} is ${wide} px wider than a window of ${width} px`);
    assert.deepEqual(problems, [], name);
    if (pictured.includes(name)) {
        const path = join(shots, `${name}-${width}-${colorScheme}.png`);
        await page.screenshot({path, fullPage: !made.includes(name)});
    }
    await page.close();
}

async function checkSearch() {
    const {page, problems} = await open(join(site, "docs/PRIVACY.html"), 1400, "light");
    await page.keyboard.press("/");
    await page.keyboard.type("first release");
    const first = page.locator("#found a").first();
    assert.match(await first.textContent(), /Your first release/);
    await page.keyboard.press("Enter");
    await page.waitForURL(/first-release\.html#/);
    await page.locator("#search").fill("no-such-word-anywhere");
    assert.match(await page.locator("#found").textContent(), /Nothing/);
    await page.keyboard.press("Escape");
    assert.ok(await page.locator("#found").isHidden());
    assert.deepEqual(problems, []);
    await page.close();
}

async function checkMenu() {
    const {page} = await open(join(site, "index.html"), 400, "light");
    assert.ok(await page.locator("#menu").isHidden());
    await page.locator("#menu-button").click();
    await page.locator("#menu a", {hasText: "Recipes"}).click();
    await page.waitForURL(/recipes\.html/);
    await page.close();
}

for (const path of pages) {
    for (const width of [400, 1400]) {
        for (const colors of ["light", "dark"]) await checkPage(path, width, colors);
    }
}
await checkSearch();
await checkMenu();
await browser.close();
console.log(`site: ${pages.length} pages looked at`);
