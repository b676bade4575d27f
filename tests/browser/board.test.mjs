// The demo's board in Chromium: several tabs at once, a server that goes and comes back, a page of another origin.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { createServer } from "node:http";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const ROOT = new URL("../../", import.meta.url).pathname;
let browser;

before(async () => {
    browser = await chromium.launch({
        executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
        args: ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"],
    });
});
after(() => browser?.close());

/** The demo as `./dev run` starts it; `url` is the page's. */
async function startDemo(port = 0) {
    const command = ["tests/interop/run.py", "--listen", `ws://127.0.0.1:${port}`];
    const child = spawn(`${ROOT}.venv/bin/python`, command, { cwd: ROOT, stdio: ["ignore", "pipe", "inherit"] });
    let url;
    for await (const line of createInterface({ input: child.stdout })) {
        url = line.match(/http:\S+/)?.[0];
        if (url) break;
    }
    assert.ok(url, "the demo did not start");
    const ended = new Promise((resolve) => child.on("exit", resolve));
    return { url, stop: () => (child.kill("SIGTERM"), ended) };
}

async function openTab(url) {
    const tab = await browser.newPage();
    tab.on("pageerror", (error) => assert.fail(error));
    await tab.goto(url);
    await state(tab, "live");
    return tab;
}

const state = (tab, wanted) =>
    tab.waitForFunction((its) => document.getElementById("link").dataset.state === its, wanted);
const text = (tab, wanted) =>
    tab.waitForFunction((its) => document.getElementById("stream").textContent === its, wanted);
const notes = (tab, wanted) =>
    tab.waitForFunction(
        (its) => [...document.querySelectorAll("#notes .words")].map((words) => words.textContent).join() === its,
        wanted.join(),
    );

async function addNote(tab, words) {
    await tab.fill("#add input", words);
    await tab.press("#add input", "Enter");
}

test("several tabs share notes and a text", async () => {
    const demo = await startDemo();
    const [one, two] = [await openTab(demo.url), await openTab(demo.url)];
    await one.locator("#say").pressSequentially("Hé");
    await text(two, "Hé");
    await two.locator("#say").pressSequentially(" 漢😀\n");
    await text(one, "Hé 漢😀\n");
    for (const words of ["a", "b", "c"]) await addNote(one, words);
    await notes(two, ["a", "b", "c"]);
    assert.equal(await two.textContent("#count"), "3");
    await two.locator("#notes .down").first().click();
    await notes(one, ["b", "a", "c"]);
    await two.locator("#notes .words").nth(1).fill("changed");
    await notes(one, ["b", "changed", "c"]);
    await one.locator("#notes .remove").first().click();
    await notes(two, ["changed", "c"]);
    await one.click("#clear");
    await text(two, "");
    const late = await openTab(demo.url);
    await notes(late, ["changed", "c"]);
    for (const id of ["bytes-in", "bytes-out"]) assert.match(await late.textContent(`#${id}`), /^[1-9][\d.]* (B|KB)$/);
    await Promise.all([one, two, late].map((tab) => tab.close()));
    await demo.stop();
});

test("200 tokens are streamed", async () => {
    const demo = await startDemo();
    const [one, two] = [await openTab(demo.url), await openTab(demo.url)];
    await one.click("#recite");
    await one.waitForFunction(() => !document.getElementById("recite").disabled);
    await one.waitForTimeout(200);
    const said = await one.textContent("#stream");
    assert.ok(said.length > 600);
    await text(two, said);
    await Promise.all([one, two].map((tab) => tab.close()));
    await demo.stop();
});

test("boards are apart from each other", async () => {
    const demo = await startDemo();
    const [one, two] = [await openTab(demo.url), await openTab(`${demo.url}#other`)];
    await addNote(one, "mine");
    await notes(one, ["mine"]);
    await notes(two, []);
    await two.fill("#name", "lunch");
    await two.press("#name", "Tab");
    await notes(two, ["mine"]);
    await Promise.all([one, two].map((tab) => tab.close()));
    await demo.stop();
});

test("a server goes and comes back", async () => {
    const demo = await startDemo();
    const tab = await openTab(demo.url);
    await addNote(tab, "before");
    await notes(tab, ["before"]);
    await demo.stop();
    await state(tab, "down");
    await notes(tab, ["before"]);
    await addNote(tab, "meanwhile");
    const again = await startDemo(new URL(demo.url).port);
    await state(tab, "live");
    await notes(tab, ["meanwhile"]);
    await tab.close();
    await again.stop();
});

test("a page of another origin may not connect", async () => {
    const demo = await startDemo();
    const stranger = createServer((_, response) => response.end("<p>stranger")).listen(0, "127.0.0.1");
    const page = await browser.newPage();
    await page.goto(`http://127.0.0.1:${stranger.address().port}/`);
    const open = (url) =>
        new Promise((resolve) => {
            const socket = new WebSocket(url, ["chordal.1.bin"]);
            socket.onopen = () => resolve("opened");
            socket.onclose = () => resolve("refused");
        });
    const address = demo.url.replace("http", "ws");
    assert.equal(await page.evaluate(open, address), "refused");
    await page.goto(demo.url);
    assert.equal(await page.evaluate(open, address), "opened");
    await page.close();
    stranger.close();
    await demo.stop();
});
