// Pictures of two reports for the documentation: node screenshots.mjs REPORT.html STREETS.html WEB
// OUT
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {startBrowser} from "./browser.mjs";

const [report, streets, web, out] = process.argv.slice(2).map((path) => resolve(path));
const browser = await startBrowser(web);

// The window from the section `from` on, or the element `part` alone.
async function shoot(name, {html = report, height, colorScheme, from, part, prepare}) {
    const page = await browser.newPage({viewport: {width: 1200, height}, colorScheme});
    await page.goto(pathToFileURL(html).href);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    if (prepare) await prepare(page);
    await page.evaluate((id) => {
        document.documentElement.style.scrollBehavior = "auto";
        if (id) document.getElementById(id).scrollIntoView();
    }, from);
    await page.waitForTimeout(500);
    const pictured = part ? page.locator(part) : page;
    await pictured.screenshot({path: join(out, `${name}.png`)});
    await page.close();
}

await shoot("report", {height: 1240, colorScheme: "light"});
await shoot("report-maps", {
    height: 720,
    colorScheme: "dark",
    from: "maps",
    prepare: async (page) => {
        await page.locator("#hour").fill("9"); // eight in the morning
        await page.locator("#hour").blur();
    },
});
await shoot("report-motion", {height: 1120, colorScheme: "light", from: "motion"});
await shoot("streets", {
    html: streets,
    height: 900,
    colorScheme: "light",
    part: "#trips-body .grid",
    // Buttons that nobody can press, and a credit that a made-up map does not owe.
    prepare: (page) => page.addStyleTag({content: ".zoom, .credit { display: none !important; }"}),
});
await browser.close();
