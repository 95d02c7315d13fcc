// The report in a real browser: node report.mjs DPLOC WEB OUT
//
// DPLOC is the program, WEB the folder with node_modules, OUT gets screenshots. One city, two synthetic sets, one browser for all checks.
// Names are hostile on purpose: a trip column called <script>, a file called like a tag with an error handler.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {startBrowser} from "./browser.mjs";

const [dploc, web, shots] = process.argv.slice(2).map((path) => resolve(path));
const work = mkdtempSync(join(tmpdir(), "dploc-browser-"));
const EVIL = "<img src=x onerror=window.broken=1>.csv", HOSTILE = ["--trip-column", "<script>"];
const run = (...words) => execFileSync(dploc, words, {cwd: work, encoding: "utf8", maxBuffer: 1 << 26, env: {...process.env, XDG_STATE_HOME: join(work, "state"), OMP_WAIT_POLICY: "passive"}, stdio: ["ignore", "pipe", "ignore"]});

function makeReports() {
    const area = ["--region", "simulated"];
    run("simulate", "--trips", "20000", "-o", "plain.csv");
    const text = readFileSync(join(work, "plain.csv"), "utf8");
    writeFileSync(join(work, "city.csv"), text.replace("trip_id", "<script>"));
    run("synth", "city.csv", ...HOSTILE, ...area, "--epsilon", "2", "--seed", "1", "-o", "first.csv");
    run("synth", "city.csv", ...HOSTILE, ...area, "--epsilon", "1", "--seed", "2", "-o", EVIL);
    run("report", "city.csv", "first.csv", ...HOSTILE, "--splits", "1", "-o", "one.html");
    run("report", "city.csv", "first.csv", EVIL, ...HOSTILE, "--splits", "1", "-o", "two.html");
    run("report", "--public", "first.csv", "-o", "public.html");
    for (const seed of ["2", "3", "4"]) run("simulate", "--trips", "20000", "--seed", seed, "-o", `fine${seed}.csv`);
    run("report", "city.csv", "fine2.csv", "fine3.csv", "fine4.csv", ...HOSTILE, ...area, "--cell", "250", "--splits", "1", "-o", "fine.html");
    return JSON.parse(run("eval", "city.csv", "first.csv", EVIL, ...HOSTILE, "--splits", "1", "--json"));
}

// ---- a page that listens to everything that goes wrong ----

async function open(browser, name, {width = 1280, colorScheme = "light"} = {}) {
    const context = await browser.newContext({viewport: {width, height: 900}, colorScheme}), page = await context.newPage();
    const address = pathToFileURL(join(work, name)).href, complaints = [];
    page.on("console", (message) => ["error", "warning"].includes(message.type()) && complaints.push(message.text()));
    page.on("pageerror", (error) => complaints.push(error.stack));
    page.on("request", (request) => request.url() !== address && complaints.push(`asked for ${request.url()}`));
    await page.goto(address);
    await page.waitForFunction(() => document.documentElement.dataset.ready === "true");
    return {page, close: async () => {
        assert.deepEqual(complaints, [], `${name}: errors or requests`);
        await context.close();
    }};
}

const picture = (locator) => locator.evaluateAll((list) => list.map((canvas) => canvas.toDataURL()));

// Until it holds, for ten seconds: what a browser does on an event it does soon, not at once, and later on a busy machine.
async function eventually(holds) {
    for (const end = Date.now() + 10000; ; await new Promise((wake) => setTimeout(wake, 50))) {
        try {
            return await holds();
        } catch (error) {
            if (Date.now() > end) throw error;
        }
    }
}

// ---- the checks ----

async function sliderChangesBothMaps({page}) {
    const canvases = page.locator("#maps .map canvas"), before = await picture(canvases);
    assert.equal(before.length, 3, "real, synthetic, difference");
    assert.equal(await page.locator("#maps output").textContent(), "All day");
    await page.locator("#hour").focus();
    for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight");
    await eventually(async () => assert.equal(await page.locator("#maps output").textContent(), "08:00 to 09:00"));
    assert.equal(await page.locator("#hour").getAttribute("aria-valuetext"), "08:00 to 09:00");
    const changedFrom = (old) => eventually(async () => {
        const now = await picture(canvases);
        for (let i = 0; i < 3; i++) assert.notEqual(now[i], old[i], `map ${i} did not change`);
        return now;
    });
    const morning = await changedFrom(before);
    await page.keyboard.press("ArrowRight");
    await changedFrom(morning);
    await page.keyboard.press("Home");
    await eventually(async () => assert.deepEqual((await picture(canvases)).map((now, i) => now === before[i]), [true, true, true], "back at the whole day the maps are as they were"));
}

const near = (a, b) => (a === null || b === null ? a === b : Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b)));
const parse = (text) => (text === "null" ? null : Number(text));

// What people read must be the exact figure, rounded.
function readsAs(text, value) {
    if (value === null) return text.startsWith("–");
    const shown = Number(text.replace(/,/g, "").replace(/\s*(%|m)$/, "")), scaled = text.endsWith("%") ? 100 * value : value;
    return Math.abs(shown - scaled) <= 0.006 * Math.abs(scaled) + 1e-12;
}

async function summaryEqualsEval({page}, evaluation) {
    const rows = await page.locator("#measures tbody tr[data-measure]").evaluateAll((list) => list.map((row) => ({
        name: row.dataset.measure, scope: row.dataset.scope,
        cells: [...row.querySelectorAll("td[data-value]")].map((cell) => ({value: cell.dataset.value, text: cell.textContent})),
    })));
    const expected = evaluation.synthetic[0].measures.filter((m) => typeof m.scope === "string");
    assert.equal(rows.length, expected.length, "as many rows as eval has figures of all trips and means of hours");
    for (const row of rows) {
        assert.equal(row.cells.length, 3 * evaluation.synthetic.length, row.name);
        evaluation.synthetic.forEach((set, k) => {
            const m = set.measures.find((candidate) => candidate.name === row.name && candidate.scope === row.scope);
            ["value", "floor", "ratio"].forEach((what, i) => {
                const cell = row.cells[3 * k + i];
                assert.ok(near(parse(cell.value), m[what]), `${row.name} ${row.scope} ${what}: ${cell.value} in the page, ${m[what]} from eval`);
                assert.ok(readsAs(cell.text, m[what]), `${row.name} ${row.scope} ${what} reads '${cell.text}', is ${m[what]}`);
            });
        });
    }
}

// The verdict comes first, and says what eval says.
async function verdictEqualsEval({page}, evaluation) {
    assert.equal(await page.locator("main section").first().getAttribute("id"), "verdict");
    const cards = await page.locator("#verdict .card").evaluateAll((list) => list.map((card) => [...card.querySelector("ul").querySelectorAll("li")].map((line) => [line.dataset.word, line.textContent])));
    assert.equal(cards.length, evaluation.synthetic.length);
    evaluation.synthetic.forEach((set, k) => {
        const expected = set.fitness.filter((line) => line.word !== "not measured");
        assert.deepEqual(cards[k].map(([word]) => word), expected.map((line) => line.word));
        expected.forEach((line, i) => assert.ok(cards[k][i][1].includes(line.reason), `'${cards[k][i][1]}' does not say '${line.reason}'`));
    });
}

async function hoursEqualEval({page}, evaluation) {
    const summaries = await page.locator("#hourly summary").all();
    for (const summary of summaries) await summary.click();
    await eventually(async () => assert.equal(await page.locator("#hourly table").count(), summaries.length));
    const tables = await page.locator("#hourly table").evaluateAll((list) => list.map((table) => ({
        name: table.dataset.measure, rows: [...table.tBodies[0].rows].map((row) => [...row.querySelectorAll("td[data-value]")].map((cell) => cell.dataset.value)),
    })));
    assert.deepEqual(tables.map((t) => t.name), ["density_emd_m", "od_emd_m", "length_jsd_distance"]);
    for (const {name, rows} of tables) {
        assert.equal(rows.length, 24);
        rows.forEach((cells, hour) => evaluation.synthetic.forEach((set, k) => {
            const m = set.measures.find((candidate) => candidate.name === name && candidate.scope === hour);
            ["value", "floor", "ratio"].forEach((what, i) => assert.ok(near(parse(cells[3 * k + i]), m[what]), `${name} at ${hour}: ${what}`));
        }));
    }
}

async function nothingOverflows({page}, name) {
    const found = await page.evaluate(() => {
        const width = document.documentElement.clientWidth, inside = (element) => element.closest(".scroll, nav, pre, .skip, .visually-hidden");
        const wide = [...document.querySelectorAll("body *")].filter((e) => !inside(e) && e.getBoundingClientRect().right > width + 1 && e.getBoundingClientRect().width > 0);
        return {scroll: document.documentElement.scrollWidth, width, wide: wide.slice(0, 3).map((e) => `${e.tagName}.${e.className} ${Math.round(e.getBoundingClientRect().right)}`)};
    });
    assert.deepEqual(found.wide, [], `${name}: beyond the right edge`);
    assert.ok(found.scroll <= found.width, `${name}: ${found.scroll} px wide in a window of ${found.width}`);
}

async function everyChartIsDescribed({page}) {
    const charts = await page.locator("[role=img]").evaluateAll((list) => list.map((e) => ({label: e.getAttribute("aria-label") || "", table: Boolean(e.closest(".card").querySelector("details, table")), odds: e.classList.contains("odds")})));
    assert.ok(charts.length > 10);
    for (const c of charts) assert.ok(c.label.length > 20 && (c.table || c.odds), `a chart without words or table: ${c.label}`);
    const details = await page.locator("main .card details").all();
    for (const d of details) {
        if (!(await d.evaluate((e) => e.open))) await d.locator("summary").click();
        await eventually(async () => assert.ok((await d.locator("tbody tr").count()) > 0, "a table behind a chart is empty"));
    }
    const ids = await page.locator("[id]").evaluateAll((list) => list.map((e) => e.id));
    assert.equal(new Set(ids).size, ids.length, "ids are unique");
}

async function namesAreTexts({page}) {
    assert.equal(await page.evaluate(() => window.broken), undefined, "a name was run as code");
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 2, "the island and the script");
    assert.ok((await page.locator("#about").innerText()).includes("trip=<script>"), "the column's name is shown");
    assert.ok((await page.locator("#title").innerText()).includes(EVIL), "the file's name is shown");
}

async function looksDark({page}) {
    const light = (css) => css.match(/\d+/g).slice(0, 3).reduce((a, b) => a + Number(b), 0) / 765;
    const [paper, ink] = await page.evaluate(() => [getComputedStyle(document.body).backgroundColor, getComputedStyle(document.body).color]);
    assert.ok(light(paper) < 0.2 && light(ink) > 0.8, `dark: ${ink} on ${paper}`);
}

async function tripsMove({page}) {
    const canvas = page.locator("#trips canvas").first(), [still] = await picture(canvas);
    await page.locator("#trips button").click();
    await eventually(async () => assert.notEqual((await picture(canvas))[0], still, "the trips do not move"));
    await page.locator("#trips button").click();
}

const shoot = (page, name) => page.screenshot({path: join(shots, `${name}.png`), fullPage: true});

// ---- in order ----

mkdirSync(shots, {recursive: true});
let browser = null, failed = 0;
async function check(name, what) {
    try {
        await what();
        console.log(`ok   ${name}`);
    } catch (error) {
        failed++;
        console.log(`FAIL ${name}\n${error.stack}`);
    }
}

try {
    browser = await startBrowser(web);
    const evaluation = makeReports();
    await check("light: slider, names, charts described, no error, no request", async () => {
        const report = await open(browser, "one.html");
        await nothingOverflows(report, "light");
        await shoot(report.page, "light");
        assert.match(await report.page.locator("#banner").innerText(), /^NOT PRIVATE — for the data holder/);
        await sliderChangesBothMaps(report);
        await tripsMove(report);
        await everyChartIsDescribed(report);
        await report.close();
    });
    await check("names are texts", async () => {
        const report = await open(browser, "two.html");
        await namesAreTexts(report);
        await report.close();
    });
    await check("two sets: tables equal eval", async () => {
        const report = await open(browser, "two.html");
        await nothingOverflows(report, "two sets");
        await shoot(report.page, "two-sets");
        await summaryEqualsEval(report, evaluation);
        await verdictEqualsEval(report, evaluation);
        await hoursEqualEval(report, evaluation);
        await report.close();
    });
    await check("dark", async () => {
        const report = await open(browser, "one.html", {colorScheme: "dark"});
        await looksDark(report);
        await nothingOverflows(report, "dark");
        await shoot(report.page, "dark");
        // The theme may change while the page is open: patches of colour and charts follow.
        const look = async ({page}) => [...await page.locator(".chip").evaluateAll((list) => list.map((e) => getComputedStyle(e).backgroundColor)), ...await picture(page.locator("canvas"))];
        const dark = await look(report), fresh = await open(browser, "one.html");
        await report.page.emulateMedia({colorScheme: "light"});
        const light = await look(fresh);
        assert.notDeepEqual(dark, light);
        await eventually(async () => {
            const turned = await look(report);
            assert.deepEqual(turned.map((item, i) => item === light[i]), light.map(() => true), "turned light, the page looks as if opened light");
        });
        await fresh.close();
        await report.close();
    });
    await check("a phone, 390 px", async () => {
        for (const [name, colorScheme] of [["one.html", "light"], ["two.html", "dark"], ["public.html", "light"]]) {
            const report = await open(browser, name, {width: 390, colorScheme});
            await nothingOverflows(report, `${name} at 390 px`);
            await shoot(report.page, `phone-${name.replace(".html", "")}`);
            await report.close();
        }
    });
    await check("public", async () => {
        const report = await open(browser, "public.html"), text = await report.page.locator("body").innerText();
        assert.match(text, /Public report\. Made from the synthetic trips/);
        assert.ok(!/NOT PRIVATE|city\.csv|floor/i.test(text.replace(/Licences[^]*/, "")), "a word about real figures in a public report");
        assert.equal(await report.page.locator("#closeness, #hourly").count(), 0);
        await nothingOverflows(report, "public");
        await shoot(report.page, "public");
        await report.close();
    });
    await check("at most 4 MB with more than 550 cells", async () => {
        assert.ok(statSync(join(work, "fine.html")).size <= 4e6);
        const report = await open(browser, "fine.html");
        const {cells, squares, sets} = await report.page.evaluate(() => {
            const island = JSON.parse(document.getElementById("island").textContent);
            return {cells: island.evaluation.cells, squares: island.map.place.length, sets: island.map.visits.length};
        });
        assert.ok(cells >= 550 && squares >= 550 && sets === 4, `${cells} cells, ${squares} squares, ${sets} sets`);
        await nothingOverflows(report, "fine");
        await report.close();
    });
    await check("prints", async () => {
        const report = await open(browser, "one.html", {colorScheme: "dark"});
        const paper = await report.page.pdf({path: join(shots, "print.pdf"), format: "A4", printBackground: true});
        assert.ok(paper.length > 50000);
        await report.close();
    });
} catch (error) {
    failed++;
    console.log(error.stack);
} finally {
    if (browser) await browser.close();
    rmSync(work, {recursive: true, force: true});
}
console.log(failed ? `${failed} failed` : `all passed; screenshots in ${shots}`);
process.exitCode = failed ? 1 : 0;
