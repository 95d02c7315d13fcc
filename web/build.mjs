// Builds the page: node build.mjs WORK OUT
//
// WORK holds node_modules (made by `npm ci` from the lock file); OUT gets page.html and page.c, the same bytes as a C array.
// The same sources give the same bytes. With --licences instead of OUT, writes ../LICENSES: what is embedded, and on which terms.
import {createHash} from "node:crypto";
import {mkdirSync, readFileSync, readdirSync, writeFileSync} from "node:fs";
import {createRequire} from "node:module";
import {dirname, join, relative, resolve} from "node:path";
import {fileURLToPath} from "node:url";

const here = dirname(fileURLToPath(import.meta.url));
const work = resolve(process.argv[2]);
const out = process.argv[3];
const {buildSync} = createRequire(join(work, "package.json"))("esbuild");

function bundle(entry, more) {
    const result = buildSync({
        entryPoints: [join(here, entry)], bundle: true, minify: true, write: false, outdir: "/", charset: "utf8", legalComments: "none",
        target: ["chrome100", "firefox100", "safari15"], nodePaths: [join(work, "node_modules")], metafile: true, logLevel: "warning", ...more,
    });
    return {text: result.outputFiles[0].text.trim(), inputs: Object.keys(result.metafile.inputs)};
}

// ---- what is embedded, and on which terms ----

function embeddedPackages(inputs) {
    const names = new Set();
    for (const input of inputs) {
        const inside = relative(join(work, "node_modules"), resolve(input)).split("/");
        if (inside[0] !== "..") names.add(inside[0].startsWith("@") ? inside.slice(0, 2).join("/") : inside[0]);
    }
    return [...names].sort();
}

function licencesOf(names) {
    let text = "dploc itself is under the Apache License 2.0 (file LICENSE). The page that `dploc report` writes holds code of these\n" +
        "projects, bundled at build time. This list is checked by every build (web/build.mjs); no code of theirs is in the sources.\n";
    for (const name of names) {
        const folder = join(work, "node_modules", name), about = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
        const rule = "=".repeat(100);
        text += `\n${rule}\n${name} ${about.version}: ${about.license}\n${rule}\n`;
        const files = readdirSync(folder).filter((file) => /^(licen[cs]e|notice|copyright)/i.test(file)).sort();
        for (const file of files.filter((f) => !(about.license === "Apache-2.0" && /^licen/i.test(f))))
            if (!/^licenses$/i.test(file)) text += `\n${readFileSync(join(folder, file), "utf8").trim()}\n`;
        if (about.license === "Apache-2.0") text += "\nThe text of the Apache License 2.0 is in the file LICENSE.\n";
        if (files.includes("licenses"))
            for (const part of readdirSync(join(folder, "licenses")).sort())
                text += `\nParts of it, under ${part}:\n\n${readFileSync(join(folder, "licenses", part), "utf8").trim()}\n`;
    }
    return text.replace(/\r\n/g, "\n").replace(/[ \t]+$/gm, "");
}

// ---- the page ----

const escapeHtml = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;").replace(/>/g, "&gt;");
const hash = (text) => `'sha256-${createHash("sha256").update(text, "utf8").digest("base64")}'`;

function fill(template, parts) {
    for (const [name, text] of Object.entries(parts)) {
        if (template.split(`@${name}@`).length !== 2) throw new Error(`index.html: @${name}@ must stand there once`);
        template = template.replace(`@${name}@`, () => text);
    }
    return template;
}

function asC(bytes) {
    const lines = [];
    for (let i = 0; i < bytes.length; i += 40) lines.push(Array.from(bytes.subarray(i, i + 40)).join(","));
    return `/* Made by web/build.mjs from web/: do not edit. */\n#include "report/page.h"\n\nconst unsigned char dpl_page[] = {\n${lines.join(",\n")}};\n` +
        "const size_t dpl_page_size = sizeof dpl_page;\n";
}

const script = bundle("main.js", {format: "iife"});
const style = bundle("style.css", {});
const licences = licencesOf(embeddedPackages(script.inputs)), licencesFile = join(here, "..", "LICENSES");
if (/<\/script|<!--/i.test(script.text)) throw new Error("the script cannot stand in a page: it holds </script or <!--");
if (out === "--licences") {
    writeFileSync(licencesFile, licences);
} else {
    if (readFileSync(licencesFile, "utf8") !== licences)
        throw new Error("LICENSES does not say what is embedded; look at the change and write it again: node web/build.mjs WORK --licences");
    const page = fill(readFileSync(join(here, "index.html"), "utf8"), {
        "script-hash": hash(script.text), "style": style.text, "script": script.text,
        "licences": escapeHtml(`${licences}\n${readFileSync(join(here, "..", "LICENSE"), "utf8")}`),
    });
    mkdirSync(out, {recursive: true});
    writeFileSync(join(out, "page.html"), page);
    writeFileSync(join(out, "page.c"), asC(Buffer.from(page, "utf8")));
}
