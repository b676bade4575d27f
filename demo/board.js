// The demo: a board that every tab, and every program that joins, sees and changes at once.

import { connect } from "chordal";

const element = (id) => document.getElementById(id);
const address = `${location.protocol === "https:" ? "wss" : "ws"}://${location.host}/`;
const host = connect(address);

let board = null;
let frames = 0;

/** The name behind the #, so that an address leads to a board. */
function boardName() {
    const name = location.hash.slice(1);
    try {
        return decodeURIComponent(name) || "lunch";
    } catch {
        return name; // not an encoded one
    }
}

// ---- what the footer tells ----

function size(bytes) {
    const units = ["B", "KB", "MB", "GB"];
    let unit = 0;
    for (bytes = Number(bytes); bytes >= 1000 && unit < units.length - 1; unit++) bytes /= 1000;
    return `${unit === 0 ? bytes : bytes.toFixed(1)} ${units[unit]}`;
}

function showCounters() {
    const { bytes_in, bytes_out } = host.counters();
    element("bytes-in").textContent = size(bytes_in);
    element("bytes-out").textContent = size(bytes_out);
    element("frames").textContent = frames;
}

function showState({ state, detail }) {
    const words = { pending: "connecting", live: "live", down: "offline" };
    element("link").dataset.state = state;
    element("link").textContent = words[state] ?? state;
    element("link").title = detail || "the state of the reference";
}

function showFault(text) {
    element("fault").textContent = text;
    element("fault").hidden = !text;
}

/** Call a method: show how long it took, or why it failed. */
async function act(method, ...values) {
    const began = performance.now();
    try {
        const result = await board[method](...values);
        element("trip").textContent = `${(performance.now() - began).toFixed(1)} ms`;
        showFault("");
        return result;
    } catch (error) {
        showFault(`${method}: ${error.message}`);
        return undefined;
    }
}

// ---- the text ----

const stream = element("stream");
const shown = stream.appendChild(document.createTextNode(""));

function showText(text) {
    const atEnd = stream.scrollHeight - stream.scrollTop - stream.clientHeight < 24;
    if (text.startsWith(shown.data)) shown.appendData(text.slice(shown.data.length));
    else shown.data = text;
    if (atEnd) stream.scrollTop = stream.scrollHeight;
}

function sayTyped() {
    const typed = element("say").value;
    element("say").value = "";
    if (typed) act("say", typed);
}

element("say").addEventListener("input", (event) => {
    if (!event.isComposing) sayTyped();
});
element("say").addEventListener("compositionend", sayTyped);

const verse =
    "An object lives on one host and is held by many. What it says is heard everywhere, in order, " +
    "by the smallest change that tells it. A reader that falls behind gets one change for all it missed. ";

element("recite").addEventListener("click", async ({ currentTarget: button }) => {
    button.disabled = true;
    const tokens = verse.match(/\S{1,4}\s*/g);
    for (let i = 0; i < 200; i++) {
        act("say", tokens[i % tokens.length]);
        await new Promise((resolve) => setTimeout(resolve, 15));
    }
    button.disabled = false;
});
element("clear").addEventListener("click", () => act("clear"));

// ---- the notes ----

const items = new Map(); // by the note's id

function makeItem(note) {
    const item = element("note").content.firstElementChild.cloneNode(true);
    const words = item.querySelector(".words");
    const place = () => [...element("notes").children].indexOf(item);
    item.querySelector(".remove").addEventListener("click", () => act("remove", note.id));
    item.querySelector(".up").addEventListener("click", () => act("move", note.id, Math.max(0, place() - 1)));
    item.querySelector(".down").addEventListener("click", () => act("move", note.id, place() + 1));
    let edits = 0; // under way
    words.addEventListener("input", async () => {
        edits++;
        await act("edit", note.id, words.textContent);
        edits--;
    });
    words.addEventListener("blur", () => {
        const now = shownNotes.find(({ id }) => id === note.id);
        if (now !== undefined && edits === 0) words.textContent = now.text; // what others wrote meanwhile
    });
    words.addEventListener("keydown", (event) => {
        if (event.key === "Enter") (event.preventDefault(), words.blur());
    });
    makeDraggable(item, note.id, place);
    return item;
}

let dragged = null;

function makeDraggable(item, id, place) {
    const handle = item.querySelector(".handle");
    handle.addEventListener("pointerdown", () => (item.draggable = true));
    item.addEventListener("dragstart", () => ((dragged = id), item.classList.add("dragged")));
    item.addEventListener(
        "dragend",
        () => ((dragged = null), (item.draggable = false), item.classList.remove("dragged")),
    );
    item.addEventListener("dragover", (event) => dragged && event.preventDefault());
    item.addEventListener("drop", (event) => (event.preventDefault(), dragged && act("move", dragged, place())));
}

function showNote(note, before) {
    const item = items.get(note.id) ?? makeItem(note);
    const words = item.querySelector(".words");
    items.set(note.id, item);
    if (words !== document.activeElement && words.textContent !== note.text) words.textContent = note.text;
    if (item !== before) element("notes").insertBefore(item, before);
    return item.nextElementSibling;
}

let shownNotes = null;

function showNotes(notes) {
    if (notes === shownNotes) return; // revisions share what did not change
    shownNotes = notes;
    let next = element("notes").firstElementChild;
    for (const note of notes) next = showNote(note, next);
    while (next) {
        const gone = next;
        next = next.nextElementSibling;
        gone.remove();
        for (const [id, item] of items) if (item === gone) items.delete(id);
    }
    element("empty").hidden = notes.length > 0;
}

element("add").addEventListener("submit", (event) => {
    event.preventDefault();
    const field = event.target.elements.text;
    if (field.value.trim()) act("add", field.value.trim());
    field.value = "";
});

// ---- the board at hand ----

function showBoard({ value }) {
    frames++;
    showText(value.text);
    showNotes(value.notes);
    element("last").textContent = new Date().toLocaleTimeString();
    showCounters();
}

function openBoard() {
    board?.release();
    element("name").value = boardName();
    document.title = `${boardName()} · Chordal`;
    board = host.get("board", { name: boardName() });
    board.onState(showState);
    board.board.watch(showBoard);
    board.count.watch(({ value }) => (element("count").textContent = value));
}

element("choose").addEventListener("submit", (event) => event.preventDefault());
element("name").addEventListener("change", () => (location.hash = encodeURIComponent(element("name").value.trim())));
addEventListener("hashchange", openBoard);
openBoard();
host.ready.then(
    () => setInterval(showCounters, 1000),
    (error) => showFault(error.message),
);
