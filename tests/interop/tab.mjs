// The tab of the interop square and the drift: node tab.mjs JOB ADDRESS [NAME]. A page in headless Chromium, loaded
// from the server at the address, does the work. Lines of standard input take the browser "offline" and "online".

import { createInterface } from "node:readline";

import { chromium } from "playwright-core";

const [job, address, name] = process.argv.slice(2);
const page_address = `${address.replace(/^ws:/, "http:").replace(/\/$/, "")}/tab.html`;

const browser = await chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: [
        "--no-sandbox",
        "--disable-gpu",
        "--disable-quic",
        "--no-first-run",
        "--disable-background-networking",
        "--disable-component-update",
        "--disable-sync",
    ],
});

async function end(code) {
    await browser.close();
    process.exit(code);
}
process.on("SIGTERM", () => end(0));

try {
    const page = await browser.newPage();
    page.on("pageerror", (error) => (console.error(error), end(1)));
    page.on("console", (message) => (message.type() === "log" ? console.log : console.error)(message.text()));
    await page.goto(page_address);
    await page.waitForFunction(() => window.work);
    createInterface({ input: process.stdin }).on("line", (line) => page.context().setOffline(line === "offline"));
    const report = await page.evaluate(([its, which]) => window.work[its](which), [job, name]);
    if (report) console.log(JSON.stringify(report));
    if (!job.startsWith("provide")) await end(0);
} catch (error) {
    console.error(error.message);
    await end(1);
}
