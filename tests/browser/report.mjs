// The report in a real browser: node report.mjs DPLOC WEB OUT
//
// DPLOC is the program, WEB the folder with node_modules, OUT gets screenshots. One city, two
// synthetic sets, one browser for all checks.
// Names are hostile on purpose: a trip column called <script>, a file called like a tag with an
// error handler.
import assert from "node:assert/strict";
import {execFileSync} from "node:child_process";
import {mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync} from "node:fs";
import {tmpdir} from "node:os";
import {join, resolve} from "node:path";
import {pathToFileURL} from "node:url";
import {startBrowser} from "./browser.mjs";

const [dploc, web, shots] = process.argv.slice(2).map((path) => resolve(path));
const work = mkdtempSync(join(tmpdir(), "dploc-browser-"));
const EVIL = "<img src=x onerror=window.broken=1>.csv",
    HOSTILE = ["--trip-column", "<script>"];
const run = (...words) =>
    execFileSync(dploc, words, {
        cwd: work,
        encoding: "utf8",
        maxBuffer: 1 << 26,
        env: {...process.env, XDG_STATE_HOME: join(work, "state"), OMP_WAIT_POLICY: "passive"},
        stdio: ["ignore", "pipe", "ignore"],
    });

function makeReports() {
    const area = ["--region", "simulated"];
    run("simulate", "--trips", "20000", "-o", "plain.csv", "--roads-out", "roads.osm.pbf");
    const text = readFileSync(join(work, "plain.csv"), "utf8");
    const evil = text.replace(/^1,/gm, '"<script>window.broken = 1</script>",'); // a trip's id
    assert.notEqual(evil, text);
    writeFileSync(join(work, "city.csv"), evil.replace("trip_id", "<script>"));
    run(
        "synth",
        "city.csv",
        ...HOSTILE,
        ...area,
        "--epsilon",
        "2",
        "--seed",
        "1",
        "-o",
        "first.csv",
    );
    run("synth", "city.csv", ...HOSTILE, ...area, "--epsilon", "1", "--seed", "2", "-o", EVIL);
    writeFileSync(join(work, "attack.json"), JSON.stringify(attackResult(false)));
    writeFileSync(join(work, "beyond.json"), JSON.stringify(attackResult(true)));
    writeFileSync(
        join(work, "lines.geojson"),
        JSON.stringify({
            type: "LineString",
            coordinates: [
                [11.4, 47.95],
                [11.55, 48.0],
            ],
        }),
    );
    writeFileSync(join(work, "districts.geojson"), JSON.stringify(districts()));
    run(
        "report",
        "city.csv",
        "first.csv",
        ...HOSTILE,
        "--splits",
        "1",
        "--real-trips",
        "12",
        "--attack",
        "attack.json",
        "-o",
        "one.html",
    );
    run(
        "report",
        "city.csv",
        "first.csv",
        ...HOSTILE,
        "--splits",
        "1",
        "--attack",
        "beyond.json",
        "--basemap",
        "roads.osm.pbf",
        "-o",
        "beyond.html",
    );
    run(
        "report",
        "city.csv",
        "first.csv",
        EVIL,
        ...HOSTILE,
        "--splits",
        "1",
        "--basemap",
        "lines.geojson",
        "-o",
        "two.html",
    );
    run("report", "--public", "first.csv", "-o", "public.html");
    run("report", "--public", "first.csv", "--zones", "districts.geojson", "-o", "zones.html");
    for (const seed of ["2", "3", "4"])
        run("simulate", "--trips", "20000", "--seed", seed, "-o", `fine${seed}.csv`);
    run(
        "report",
        "city.csv",
        "fine2.csv",
        "fine3.csv",
        "fine4.csv",
        ...HOSTILE,
        ...area,
        "--cell",
        "250",
        "--splits",
        "1",
        "-o",
        "fine.html",
    );
    return JSON.parse(
        run("eval", "city.csv", "first.csv", EVIL, ...HOSTILE, "--splits", "1", "--json"),
    );
}

// Two halves of the region, one with a hostile name.
function districts() {
    const half = (name, west, east) => ({
        type: "Feature",
        properties: {name},
        geometry: {
            type: "Polygon",
            coordinates: [
                [
                    [west, 47],
                    [east, 47],
                    [east, 49],
                    [west, 49],
                    [west, 47],
                ],
            ],
        },
    });
    return {
        type: "FeatureCollection",
        features: [half("<b>West</b>", 11, 11.5), half("East", 11.5, 12)],
    };
}

// What `dploc attack --json` prints; beyond: with an attack that the promise does not allow.
function attackResult(beyond) {
    const bound = (fpr) => Math.min(1, Math.exp(2) * fpr + 1e-8),
        fprs = Array.from({length: 41}, (_, i) => 10 ** (-4 + i / 10));
    const attack = (name, tpr, more) => ({
        name,
        synthetic: "somewhere/first.csv",
        auc: 0.53,
        tpr_at_fpr_1e2: tpr(0.01),
        tpr_at_fpr_1e3: tpr(0.001),
        bound_at_1e2: bound(0.01),
        bound_at_1e3: bound(0.001),
        control_auc: 0.97,
        control_inf_auc: null,
        sanity_only: false,
        exceeds: false,
        members: 5000,
        non_members: 5000,
        roc: fprs.map((fpr) => [fpr, tpr(fpr)]),
        ...more,
    });
    return {
        not_private: true,
        split: "files given",
        shadow: false,
        unit: "trip",
        epsilon: 2,
        delta: 1e-8,
        attacks: [
            attack("density_ratio", (fpr) => fpr ** 0.97, {}),
            attack("classifier", (fpr) => (beyond ? Math.min(1, 20 * fpr) : fpr), {
                exceeds: beyond,
                auc: 0.5,
            }),
            attack("linkage", (fpr) => fpr, {sanity_only: true}),
        ],
    };
}

// ---- a page that listens to everything that goes wrong ----

const isReady = (page) =>
    page.waitForFunction(() => document.documentElement.dataset.ready === "true");

async function open(browser, name, {width = 1280, colorScheme = "light", hasTouch = false} = {}) {
    const context = await browser.newContext({
            viewport: {width, height: 900},
            colorScheme,
            hasTouch,
        }),
        page = await context.newPage();
    const address = pathToFileURL(join(work, name)).href,
        complaints = [];
    page.on(
        "console",
        (message) =>
            ["error", "warning"].includes(message.type()) && complaints.push(message.text()),
    );
    page.on("pageerror", (error) => complaints.push(error.stack));
    page.on(
        "request",
        (request) => request.url() !== address && complaints.push(`asked for ${request.url()}`),
    );
    await page.goto(address);
    await isReady(page);
    return {
        page,
        close: async () => {
            assert.deepEqual(complaints, [], `${name}: errors or requests`);
            await context.close();
        },
    };
}

const picture = (locator) =>
    locator.evaluateAll((list) => list.map((canvas) => canvas.toDataURL()));

// Until it holds, for ten seconds: what a browser does on an event it does soon, not at once, and
// later on a busy machine.
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
    const canvases = page.locator("#maps .map canvas"),
        before = await picture(canvases);
    assert.equal(before.length, 3, "real, synthetic, difference");
    assert.equal(await page.locator("#maps output").textContent(), "All day");
    await page.locator("#hour").focus();
    for (let i = 0; i < 9; i++) await page.keyboard.press("ArrowRight");
    await eventually(async () =>
        assert.equal(await page.locator("#maps output").textContent(), "08:00 to 09:00"),
    );
    assert.equal(await page.locator("#hour").getAttribute("aria-valuetext"), "08:00 to 09:00");
    const changedFrom = (old) =>
        eventually(async () => {
            const now = await picture(canvases);
            for (let i = 0; i < 3; i++) assert.notEqual(now[i], old[i], `map ${i} did not change`);
            return now;
        });
    const morning = await changedFrom(before);
    await page.keyboard.press("ArrowRight");
    await changedFrom(morning);
    await page.keyboard.press("Home");
    await eventually(async () =>
        assert.deepEqual(
            (await picture(canvases)).map((now, i) => now === before[i]),
            [true, true, true],
            "back at the whole day the maps are as they were",
        ),
    );
}

const near = (a, b) =>
    a === null || b === null ? a === b : Math.abs(a - b) <= 1e-9 * Math.max(1, Math.abs(b));
const parse = (text) => (text === "null" ? null : Number(text));

// What people read must be the exact figure, rounded.
function readsAs(text, value) {
    if (value === null) return text.startsWith("–");
    const shown = Number(text.replace(/,/g, "").replace(/\s*(%|m|km|km\/h|s|°)$/, "")),
        scaled = text.endsWith("%") ? 100 * value : value;
    return Math.abs(shown - scaled) <= 0.006 * Math.abs(scaled) + 1e-12;
}

async function summaryEqualsEval({page}, evaluation) {
    const rows = await page.locator("#measures tbody tr[data-measure]").evaluateAll((list) =>
        list.map((row) => ({
            name: row.dataset.measure,
            scope: row.dataset.scope,
            cells: [...row.querySelectorAll("td[data-value]")].map((cell) => ({
                value: cell.dataset.value,
                text: cell.textContent,
            })),
        })),
    );
    const expected = evaluation.synthetic[0].measures.filter((m) => typeof m.scope === "string");
    assert.equal(
        rows.length,
        expected.length,
        "as many rows as eval has figures of all trips and means of hours",
    );
    for (const row of rows) {
        assert.equal(row.cells.length, 3 * evaluation.synthetic.length, row.name);
        evaluation.synthetic.forEach((set, k) => {
            const m = set.measures.find(
                (candidate) => candidate.name === row.name && candidate.scope === row.scope,
            );
            ["value", "floor", "ratio"].forEach((what, i) => {
                const cell = row.cells[3 * k + i];
                assert.ok(
                    near(parse(cell.value), m[what]),
                    `${row.name} ${row.scope} ${what}: ${cell.value} in the page, ${m[what]} from eval`,
                );
                assert.ok(
                    readsAs(cell.text, m[what]),
                    `${row.name} ${row.scope} ${what} reads '${cell.text}', is ${m[what]}`,
                );
            });
        });
    }
}

// The verdict comes first, and says what eval says.
async function verdictEqualsEval({page}, evaluation) {
    assert.equal(await page.locator("main section").first().getAttribute("id"), "verdict");
    const cards = await page
        .locator("#verdict .card")
        .evaluateAll((list) =>
            list.map((card) =>
                [...card.querySelector("ul").querySelectorAll("li")].map((line) => [
                    line.dataset.word,
                    line.textContent,
                ]),
            ),
        );
    assert.equal(cards.length, evaluation.synthetic.length);
    evaluation.synthetic.forEach((set, k) => {
        const expected = set.fitness.filter((line) => line.word !== "not measured");
        assert.deepEqual(
            cards[k].map(([word]) => word),
            expected.map((line) => line.word),
        );
        expected.forEach((line, i) =>
            assert.ok(
                cards[k][i][1].includes(line.reason),
                `'${cards[k][i][1]}' does not say '${line.reason}'`,
            ),
        );
    });
}

async function hoursEqualEval({page}, evaluation) {
    const summaries = await page.locator("#hourly summary").all();
    for (const summary of summaries) await summary.click();
    await eventually(async () =>
        assert.equal(await page.locator("#hourly table").count(), summaries.length),
    );
    const tables = await page.locator("#hourly table").evaluateAll((list) =>
        list.map((table) => ({
            name: table.dataset.measure,
            rows: [...table.tBodies[0].rows].map((row) =>
                [...row.querySelectorAll("td[data-value]")].map((cell) => cell.dataset.value),
            ),
        })),
    );
    assert.deepEqual(
        tables.map((t) => t.name),
        ["density_emd_m", "od_emd_m", "length_jsd_distance"],
    );
    for (const {name, rows} of tables) {
        assert.equal(rows.length, 24);
        rows.forEach((cells, hour) =>
            evaluation.synthetic.forEach((set, k) => {
                const m = set.measures.find(
                    (candidate) => candidate.name === name && candidate.scope === hour,
                );
                ["value", "floor", "ratio"].forEach((what, i) =>
                    assert.ok(
                        near(parse(cells[3 * k + i]), m[what]),
                        `${name} at ${hour}: ${what}`,
                    ),
                );
            }),
        );
    }
}

const islandOf = (page) =>
    page.evaluate(() => JSON.parse(document.getElementById("island").textContent));

async function nothingOverflows({page}, name) {
    const found = await page.evaluate(() => {
        const width = document.documentElement.clientWidth,
            inside = (element) => element.closest(".scroll, nav, pre, .skip, .visually-hidden");
        const wide = [...document.querySelectorAll("body *")].filter(
            (e) =>
                !inside(e) &&
                e.getBoundingClientRect().right > width + 1 &&
                e.getBoundingClientRect().width > 0,
        );
        return {
            scroll: document.documentElement.scrollWidth,
            width,
            wide: wide
                .slice(0, 3)
                .map(
                    (e) =>
                        `${e.tagName}.${e.className} ${Math.round(e.getBoundingClientRect().right)}`,
                ),
        };
    });
    assert.deepEqual(found.wide, [], `${name}: beyond the right edge`);
    assert.ok(
        found.scroll <= found.width,
        `${name}: ${found.scroll} px wide in a window of ${found.width}`,
    );
}

async function everyChartIsDescribed({page}) {
    const charts = await page
        .locator("[role=img]")
        .evaluateAll((list) =>
            list.map((e) => ({
                label: e.getAttribute("aria-label") || "",
                table: Boolean(e.closest(".card").querySelector("details, table")),
                odds: e.classList.contains("odds"),
            })),
        );
    assert.ok(charts.length > 10);
    for (const c of charts)
        assert.ok(
            c.label.length > 20 && (c.table || c.odds),
            `a chart without words or table: ${c.label}`,
        );
    const details = await page.locator("main .card details").all();
    for (const d of details) {
        if (!(await d.evaluate((e) => e.open))) await d.locator("summary").click();
        await eventually(async () =>
            assert.ok((await d.locator("tbody tr").count()) > 0, "a table behind a chart is empty"),
        );
    }
    const ids = await page.locator("[id]").evaluateAll((list) => list.map((e) => e.id));
    assert.equal(new Set(ids).size, ids.length, "ids are unique");
}

async function namesAreTexts({page}) {
    assert.equal(await page.evaluate(() => window.broken), undefined, "a name was run as code");
    assert.equal(await page.locator("img").count(), 0);
    assert.equal(await page.locator("script").count(), 2, "the island and the script");
    assert.ok(
        (await page.locator("#about").innerText()).includes("trip=<script>"),
        "the column's name is shown",
    );
    assert.ok(
        (await page.locator("#title").innerText()).includes(EVIL),
        "the file's name is shown",
    );
}

async function looksDark({page}) {
    const light = (css) =>
        css
            .match(/\d+/g)
            .slice(0, 3)
            .reduce((a, b) => a + Number(b), 0) / 765;
    const [paper, ink] = await page.evaluate(() => [
        getComputedStyle(document.body).backgroundColor,
        getComputedStyle(document.body).color,
    ]);
    assert.ok(light(paper) < 0.2 && light(ink) > 0.8, `dark: ${ink} on ${paper}`);
}

async function tripsMove({page}) {
    const canvas = page.locator("#trips canvas").first(),
        [still] = await picture(canvas);
    await page.locator("#trips .play").click();
    await eventually(async () =>
        assert.notEqual((await picture(canvas))[0], still, "the trips do not move"),
    );
    await page.locator("#trips .play").click();
}

// ---- maps that are steered ----

const zooms = (page) =>
    page
        .locator("#maps .frame")
        .evaluateAll((list) => list.map((frame) => Number(frame.dataset.zoom)));
const zoomsTo = (page, holds, what) =>
    eventually(async () => {
        const now = await zooms(page);
        assert.ok(now.every((z) => z === now[0]) && holds(now[0]), `${what}: ${now}`);
        return now[0];
    });

async function mapsAreSteered({page}) {
    const frame = page.locator("#maps .frame").first(),
        canvases = page.locator("#maps .map canvas"),
        before = await picture(canvases);
    await frame.scrollIntoViewIfNeeded();
    const {x, y, width, height} = await frame.boundingBox(),
        middle = [x + width / 2, y + height / 2];
    await page.mouse.move(...middle);
    await page.mouse.wheel(0, -50); // nobody took the map in hand: the page scrolls
    await page.waitForTimeout(100);
    assert.deepEqual(await zooms(page), [1, 1, 1], "a wheel in passing zooms");
    await frame.scrollIntoViewIfNeeded();
    const box = await frame.boundingBox(),
        at = [box.x + box.width / 2, box.y + box.height / 2];
    await page.mouse.click(...at);
    await page.mouse.wheel(0, -400);
    const zoomed = await zoomsTo(page, (z) => z > 1.5, "the wheel zooms all maps");
    const near = await picture(canvases);
    await page.mouse.down();
    await page.mouse.move(at[0] - 60, at[1] - 40, {steps: 4});
    await page.mouse.up();
    await eventually(async () =>
        (await picture(canvases)).forEach((now, i) =>
            assert.notEqual(now, near[i], `map ${i} does not follow the drag`),
        ),
    );
    assert.equal((await zooms(page))[0], zoomed, "a drag keeps the zoom");
    await frame.focus();
    await page.keyboard.press("+");
    await zoomsTo(page, (z) => z > zoomed, "plus zooms in");
    const moved = await picture(canvases);
    await page.keyboard.press("ArrowLeft");
    await eventually(async () =>
        assert.notEqual((await picture(canvases))[0], moved[0], "arrows move"),
    );
    await page.keyboard.press("0");
    await zoomsTo(page, (z) => z === 1, "0 shows all");
    await page.mouse.move(1, 1); // no square is under the mouse
    await eventually(async () =>
        assert.deepEqual(
            (await picture(canvases)).map((now, i) => now === before[i]),
            [true, true, true],
            "all is as it was",
        ),
    );
    await page.locator("#maps").getByRole("button", {name: "Zoom in"}).first().click();
    await zoomsTo(page, (z) => z > 1, "the button zooms in");
    await page.locator("#maps").getByRole("button", {name: "Show the whole map"}).first().click();
    await zoomsTo(page, (z) => z === 1, "the button shows all");
}

async function mapsArePinched(browser) {
    const report = await open(browser, "one.html", {width: 400, hasTouch: true}),
        {page} = report;
    await page.locator("#maps .frame").first().scrollIntoViewIfNeeded();
    const {x, y, width, height} = await page.locator("#maps .frame").first().boundingBox(),
        client = await page.context().newCDPSession(page);
    const fingers = (apart) =>
        [-apart, apart].map((d, id) => ({x: x + width / 2 + d, y: y + height / 2, id}));
    await client.send("Input.dispatchTouchEvent", {type: "touchStart", touchPoints: fingers(20)});
    for (const apart of [30, 45, 60])
        await client.send("Input.dispatchTouchEvent", {
            type: "touchMove",
            touchPoints: fingers(apart),
        });
    await client.send("Input.dispatchTouchEvent", {type: "touchEnd", touchPoints: []});
    await zoomsTo(page, (z) => z > 2, "two fingers zoom");
    await report.close();
}

// ---- figures saved as files ----

async function saved(page, button) {
    const [download] = await Promise.all([page.waitForEvent("download"), button.click()]);
    const text = readFileSync(await download.path(), "utf8");
    assert.ok(text.startsWith("\ufeff"), "spreadsheets need the mark to read UTF-8");
    return {name: download.suggestedFilename(), text: text.slice(1)};
}

// Rows of fields; a quoted field may hold commas.
const parseCsv = (text) =>
    text
        .trimEnd()
        .split("\r\n")
        .map((line) =>
            [...`${line},`.matchAll(/("(?:[^"]|"")*"|[^,]*),/g)].map(([, field]) =>
                field.replace(/^"([^]*)"$/, "$1").replaceAll('""', '"'),
            ),
        );

async function everyFigureIsSaved({page}) {
    const buttons = await page.locator("main button.csv").count(),
        names = new Set();
    const charts = await page.locator("main .card:has(canvas), main .card:has(.taskbar)").count(),
        without = await page.locator("main .card:has(canvas):not(:has(button.csv))").count();
    assert.ok(charts >= 12, `${charts} cards with charts`);
    assert.equal(without, 0, "a chart cannot be saved");
    for (let i = 0; i < buttons; i++) {
        if (i % 8 === 7) {
            // a browser asks its user after ten files of one page
            await page.reload();
            await isReady(page);
        }
        const file = await saved(page, page.locator("main button.csv").nth(i));
        assert.match(file.name, /^[a-z0-9-]+\.csv$/);
        const rows = parseCsv(file.text);
        assert.ok(
            rows.length > 1 && rows.every((row) => row.length === rows[0].length),
            `${file.name}: rows of ${[...new Set(rows.map((row) => row.length))]} fields`,
        );
        names.add(file.name);
    }
    assert.equal(names.size, buttons, `names of files: ${[...names]}`);
}

async function measuresAreSaved({page}, evaluation) {
    const {text} = await saved(page, page.locator("#closeness button.csv")),
        rows = parseCsv(text).slice(1);
    assert.equal(
        rows.length,
        evaluation.synthetic.reduce((n, set) => n + set.measures.length, 0),
    );
    for (const m of evaluation.synthetic[0].measures) {
        const row = rows.find(
            (r) => r[0] === "first.csv" && r[1] === m.name && r[2] === String(m.scope),
        );
        assert.ok(
            near(row[3] === "" ? null : Number(row[3]), m.value),
            `${m.name} ${m.scope}: ${row}`,
        );
    }
}

async function budgetAddsUp({page}) {
    const {text} = await saved(page, page.locator("#privacy button.csv").first()),
        [head, ...rows] = parseCsv(text);
    const parts = rows.map((row) => Number(row[head.indexOf("Share of the budget")]));
    assert.ok(
        parts.length > 5 && Math.abs(parts.reduce((a, b) => a + b) - 1) < 1e-9,
        `shares: ${parts}`,
    );
}

// ---- the verdict ----

const verdictLine = (page, question) =>
    page.locator(`#verdict li[data-question^="${question}"]`).first();

async function tripMapsAre(report, expected, why) {
    assert.equal(await report.page.locator("#trips .map").count(), expected, why);
}

async function safetyIsSaid({page}) {
    const says = async (question, word, text) => {
        assert.equal(await verdictLine(page, question).getAttribute("data-word"), word, question);
        assert.match(await verdictLine(page, question).innerText(), text);
    };
    await says("Certificate", "yes", /computed again from every mechanism, and holds/);
    await says("Protected: one trip", "yes", /a person with many trips/);
    await says("Strength: ε = 2", "moderate", /right at most 88\.1 times in 100 instead of 50/);
    await says("All releases of this data", "moderate", /2 so far, together ε = 3/); // more than the certificate knew
    await says(
        "Attacks",
        "yes",
        /both attacks stayed within the bound; the best, density ratio, has an AUC of 0\.53/,
    );
    assert.equal(await page.locator("#attacks .roc canvas").count(), 1, "the ROC with its bound");
}

async function defectsAreSaid({page}) {
    assert.equal(await verdictLine(page, "Attacks").getAttribute("data-word"), "no");
    const text = await page.locator("#verdict").innerText();
    assert.match(text, /classifier found more members than the promise allows/i);
    assert.match(text, /Do not release it: an attack went beyond/);
}

// ---- contrast: 4.5 for text (WCAG AA) ----

async function textIsLegible({page}, name) {
    const weak = await page.evaluate(() => {
        const dot = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
        const rgba = (css) => {
            dot.clearRect(0, 0, 1, 1);
            dot.fillStyle = css;
            dot.fillRect(0, 0, 1, 1);
            return [...dot.getImageData(0, 0, 1, 1).data];
        };
        const light = ([r, g, b]) =>
            [r, g, b]
                .map((c) => c / 255)
                .map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
                .reduce((s, c, i) => s + c * [0.2126, 0.7152, 0.0722][i], 0);
        const paper = (e) => {
            for (; e; e = e.parentElement) {
                const colour = rgba(getComputedStyle(e).backgroundColor);
                if (colour[3] > 250) return colour;
            }
            return [255, 255, 255];
        };
        return [...document.querySelectorAll("body *")]
            .filter(
                (e) =>
                    [...e.childNodes].some((n) => n.nodeType === 3 && n.data.trim()) &&
                    e.getClientRects().length &&
                    !e.closest("script, .credit, .wheelhint, [disabled]"),
            )
            .map((e) => {
                const [a, b] = [light(rgba(getComputedStyle(e).color)), light(paper(e))];
                return [
                    (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05),
                    `${e.tagName}.${e.className}: ${e.textContent.slice(0, 30)}`,
                ];
            })
            .filter(([ratio]) => ratio < 4.5)
            .map(([ratio, what]) => `${ratio.toFixed(2)} ${what}`);
    });
    assert.deepEqual(weak, [], `${name}: too little contrast`);
}

const shoot = (page, name) => page.screenshot({path: join(shots, `${name}.png`), fullPage: true});

// ---- in order ----

mkdirSync(shots, {recursive: true});
let browser = null,
    failed = 0;
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
        assert.match(
            await report.page.locator("#banner").innerText(),
            /^NOT PRIVATE — for the data holder/,
        );
        await textIsLegible(report, "light");
        await sliderChangesBothMaps(report);
        await tripsMove(report);
        await everyChartIsDescribed(report);
        await report.close();
    });
    await check("maps pan and zoom by wheel, drag, keys, buttons and fingers", async () => {
        const report = await open(browser, "one.html");
        await mapsAreSteered(report);
        await report.close();
        await mapsArePinched(browser);
    });
    await check("every figure is saved as CSV", async () => {
        const report = await open(browser, "one.html");
        await everyFigureIsSaved(report);
        await budgetAddsUp(report);
        await report.close();
    });
    await check("safe to release: certificate, unit, strength, ledger, attacks", async () => {
        const report = await open(browser, "one.html");
        await safetyIsSaid(report);
        await tripMapsAre(report, 2, "real trips beside the synthetic ones");
        await report.close();
        const beyond = await open(browser, "beyond.html");
        await defectsAreSaid(beyond);
        await tripMapsAre(beyond, 1, "no real trips unless asked for");
        await beyond.close();
    });
    await check("roads of OpenStreetMap are credited", async () => {
        const report = await open(browser, "beyond.html"),
            maps = await report.page.locator(".map").count();
        assert.equal(
            await report.page
                .locator(".map .credit", {hasText: "© OpenStreetMap contributors"})
                .count(),
            maps,
        );
        assert.match(
            await report.page.locator("#about").innerText(),
            /OpenStreetMap contributors, under the Open Database License/,
        );
        await report.close();
        const other = await open(browser, "two.html"); // lines of another source
        assert.equal(await other.page.getByText("OpenStreetMap").count(), 0);
        await other.close();
    });
    await check("flows between districts", async () => {
        const report = await open(browser, "zones.html"),
            {flows} = await islandOf(report.page);
        assert.match(
            await report.page.locator("#flows-lead").innerText(),
            /Places are the 2 districts of a public map/,
        );
        assert.deepEqual(
            flows.districts.map(([name]) => name),
            ["<b>West</b>", "East"],
        );
        await report.page.locator("#flows-body summary").click();
        const row = await report.page.locator("#flows-body tbody tr").first().innerText();
        assert.match(row, /<b>West<\/b>\s+East|East\s+<b>West<\/b>/);
        await nothingOverflows(report, "zones");
        await report.page.locator("#flows").screenshot({path: join(shots, "zones.png")});
        await report.close();
    });
    await check("1400 px: no table is cut off", async () => {
        const report = await open(browser, "two.html", {width: 1400});
        await nothingOverflows(report, "1400 px");
        const cut = await report.page
            .locator("#about .scroll")
            .evaluateAll((list) => list.filter((e) => e.scrollWidth > e.clientWidth).length);
        assert.equal(cut, 0, "what was read is cut off");
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
        await measuresAreSaved(report, evaluation);
        await report.close();
    });
    await check("dark", async () => {
        const report = await open(browser, "one.html", {colorScheme: "dark"});
        await looksDark(report);
        await textIsLegible(report, "dark");
        await nothingOverflows(report, "dark");
        await shoot(report.page, "dark");
        // The theme may change while the page is open: patches of colour and charts follow.
        const look = async ({page}) => [
            ...(await page
                .locator(".chip")
                .evaluateAll((list) => list.map((e) => getComputedStyle(e).backgroundColor))),
            ...(await picture(page.locator("canvas"))),
        ];
        const dark = await look(report),
            fresh = await open(browser, "one.html");
        await report.page.emulateMedia({colorScheme: "light"});
        const light = await look(fresh);
        assert.notDeepEqual(dark, light);
        await eventually(async () => {
            const turned = await look(report);
            assert.deepEqual(
                turned.map((item, i) => item === light[i]),
                light.map(() => true),
                "turned light, the page looks as if opened light",
            );
        });
        await fresh.close();
        await report.close();
    });
    await check("a phone, 400 px", async () => {
        for (const [name, colorScheme] of [
            ["one.html", "light"],
            ["two.html", "dark"],
            ["public.html", "light"],
        ]) {
            const report = await open(browser, name, {width: 400, colorScheme});
            await nothingOverflows(report, `${name} at 400 px`);
            await shoot(report.page, `phone-${name.replace(".html", "")}`);
            await report.close();
        }
    });
    await check("public", async () => {
        const report = await open(browser, "public.html"),
            text = await report.page.locator("body").innerText();
        assert.match(text, /Public report\. Made from the synthetic trips/);
        assert.ok(
            !/NOT PRIVATE|city\.csv|floor/i.test(text.replace(/Licences[^]*/, "")),
            "a word about real figures in a public report",
        );
        assert.equal(await report.page.locator("#closeness, #hourly, #tasks, #attacks").count(), 0);
        const island = await islandOf(report.page),
            whole = await open(browser, "one.html"),
            held = await islandOf(whole.page);
        assert.deepEqual(
            Object.keys(island).sort(),
            [
                "area",
                "dploc_report",
                "flows",
                "hours",
                "lengths",
                "map",
                "motion",
                "not_private",
                "patterns",
                "sets",
                "trips",
                "version",
            ],
            "parts of a public report",
        );
        assert.ok(island.sets.every((set) => !set.real && set.certificate.private));
        assert.ok(
            Object.values(island.motion).every(({count}) => count.length === 1),
            "rows of the synthetic set alone",
        );
        assert.deepEqual(
            [island.map.block, island.flows.block],
            [held.map.block, held.flows.block],
            "one size of squares with and without the real trips",
        );
        await whole.close();
        await nothingOverflows(report, "public");
        await shoot(report.page, "public");
        await report.close();
    });
    await check("at most 4 MB with more than 550 cells", async () => {
        assert.ok(statSync(join(work, "fine.html")).size <= 4e6);
        const report = await open(browser, "fine.html");
        const {cells, squares, sets} = await report.page.evaluate(() => {
            const island = JSON.parse(document.getElementById("island").textContent);
            return {
                cells: island.evaluation.cells,
                squares: island.map.place.length,
                sets: island.map.visits.length,
            };
        });
        assert.ok(
            cells >= 550 && squares >= 550 && sets === 4,
            `${cells} cells, ${squares} squares, ${sets} sets`,
        );
        await nothingOverflows(report, "fine");
        await report.close();
    });
    await check("prints", async () => {
        const report = await open(browser, "one.html", {colorScheme: "dark"});
        const paper = await report.page.pdf({
            path: join(shots, "print.pdf"),
            format: "A4",
            printBackground: true,
        });
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
