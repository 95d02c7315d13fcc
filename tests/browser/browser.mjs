// Starts Debian's Chromium through playwright-core: for the browser tests and for `make
// screenshots`.
import {accessSync, constants} from "node:fs";
import {createRequire} from "node:module";
import {delimiter, join} from "node:path";

function findInPath(names) {
    for (const name of names)
        for (const folder of (process.env.PATH || "").split(delimiter)) {
            try {
                accessSync(join(folder, name), constants.X_OK);
                return join(folder, name);
            } catch {
                /* not here */
            }
        }
    throw new Error(
        `no browser in PATH (looked for ${names.join(", ")}): scripts/setup.sh browser installs one`,
    );
}

// web: the folder whose node_modules holds playwright-core.
export async function startBrowser(web) {
    const {chromium} = createRequire(join(web, "package.json"))("playwright-core");
    const quiet = [
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ];
    const root = process.getuid && process.getuid() === 0; // Chromium's sandbox does not start for root
    return chromium.launch({
        executablePath: findInPath(["chromium", "chromium-browser", "google-chrome"]),
        args: root ? ["--no-sandbox", ...quiet] : quiet,
    });
}
