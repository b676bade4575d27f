// The tab of the interop square: node tab.mjs provide ADDRESS | hold ADDRESS NAME. A page in headless Chromium, loaded
// from the server at the address, does the work.

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
    page.on("console", (message) => console.error(message.text()));
    await page.goto(page_address);
    await page.waitForFunction(() => window.work);
    if (job === "provide") {
        await page.evaluate(() => window.work.provide());
        console.log("ready");
    } else {
        console.log(JSON.stringify(await page.evaluate((its) => window.work.hold(its), name)));
        await end(0);
    }
} catch (error) {
    console.error(error.message);
    await end(1);
}
