// The transcript of a log page: filters, jumps, find, and sections that are fetched when they come near.
// What is shown is in the address: ?show=, ?find=, #s<step>. A step is drawn as the macro `step` of log.html draws it.

import { fetchPage, parameter, remember } from "./site.js";

const KEEP = 10; // fetched sections that stay in the page
const OUT = [2700, 1800, 700]; // limit, head, tail of an output, as transcripts/texts.py cuts it
const BODY = [6000, 4500, 1000]; // of a command or message, as site/log_steps.py folds it
const MAX_FOUND = 500;

const transcript = document.querySelector(".transcript");

// --- drawing ----------------------------------------------------------------------------------------------------------
function element(name, className, ...content) {
  const made = document.createElement(name);
  if (className) made.className = className;
  made.append(...content);
  return made;
}

function cut(text, [limit, head, tail]) {
  if (text.length <= limit) return text;
  const missing = (text.length - head - tail).toLocaleString("en");
  return `${text.slice(0, head)}\n\n… ${missing} characters not shown …\n\n${text.slice(-tail)}`;
}

function clock(t) {
  if (t < 60) return `${t.toFixed(1)} s`;
  const s = Math.floor(t);
  const two = (n) => String(n).padStart(2, "0");
  return s >= 3600 ? `${Math.floor(s / 3600)}:${two(Math.floor(s / 60) % 60)}:${two(s % 60)}` : `${Math.floor(s / 60)}:${two(s % 60)}`;
}

function about(step) {
  if (step.k !== "run") return "";
  if (!step.status) return "no output was seen";
  const seconds = step.wall ?? (step.te ?? step.t) - step.t;
  const parts = seconds ? [`${seconds.toFixed(1)} s`] : [];
  if (step.n) parts.push(`${step.n.toLocaleString("en")} characters`);
  else if (!step.img) parts.push("no output");
  return parts.join(", ");
}

function icon(character) {
  const made = element("span", "icon", character);
  made.setAttribute("aria-hidden", "true");
  return made;
}

export function draw(step, n, whole = false) {
  const fold = (text, limits) => (whole ? text : cut(text, limits));
  const failed = step.status === "failed";
  const name = step.k === "run" ? step.tool || "tool" : step.k === "think" ? "thought" : step.by || "agent";
  const marks = { "by-other": step.by, "is-failed": failed, "has-img": step.img };
  const item = element("li", ["step", `k-${step.k}`, ...Object.keys(marks).filter((mark) => marks[mark])].join(" "));
  item.id = `s${n}`;
  item.dataset.n = n;
  item.dataset.t = step.t.toFixed(1);
  const number = element("a", "step-n", String(n));
  number.href = `#s${n}`;
  number.setAttribute("aria-label", `Step ${n}`);
  const who = element("span", "step-who", icon({ run: "▸", say: "❝", think: "…" }[step.k]), " " + (step.agent ? `${step.agent} · ${name}` : name));
  const head = element("div", "step-head", number, " ", who);
  if (failed) head.append(" ", element("span", "step-status", icon("✗"), " failed"));
  else if (step.status === "background") head.append(" ", element("span", "step-status", icon("◔"), " in background"));
  head.append(" ", element("span", "step-about", about(step)), " ", element("span", "step-at", clock(step.t)));
  item.append(head);
  const body = step.text || step.cmd || step.code || "";
  if (step.k === "run") {
    if (body) item.append(element("pre", "step-in", fold(body, BODY)));
    if (step.out) item.append(element("pre", "step-out", fold(step.out, OUT)));
  } else {
    item.append(element("div", "step-text", fold(body, BODY)));
  }
  if (step.img && "media" in transcript.dataset) item.append(images(step, n));
  if (whole) item.append(...raws(step));
  else if (body.length > BODY[0] || (step.out || "").length > OUT[0] || step.raw) item.append(moreButton());
  return item;
}

function images(step, n) {
  const box = element("div", "step-images");
  step.img.forEach((src, i) => {
    const image = element("img");
    image.loading = "lazy";
    image.alt = `Image ${i + 1} that the model saw in step ${n}`;
    image.src = media + src;
    const link = element("a", "", image);
    link.href = media + src;
    box.append(link);
  });
  return box;
}

function raws(step) {
  return Object.values(step.raw || {}).map(([file, length]) => {
    const link = element("a", "small", `The whole text (${length.toLocaleString("en")} characters)`);
    link.href = file;
    return element("p", "", link);
  });
}

function moreButton() {
  const button = element("button", "chip step-more", "Show everything");
  button.type = "button";
  return button;
}

// --- sections ---------------------------------------------------------------------------------------------------------
const parts = transcript ? [...transcript.querySelectorAll(".part")] : [];
const media = transcript?.dataset.media ?? "";
const fetched = []; // most recently used last

async function stepsOf(part) {
  const answer = await fetch(part.dataset.src);
  if (!answer.ok) throw new Error(`${part.dataset.src}: ${answer.status}`);
  return (await answer.json()).steps;
}

async function load(part) {
  if (!part.dataset.src) return;
  if (!part.querySelector(".step")) {
    part.loading ??= stepsOf(part).then(
      (steps) => part.querySelector(".steps").replaceChildren(...steps.map((step, i) => draw(step, Number(part.dataset.first) + i))),
      (error) => part.querySelector(".steps").replaceChildren(element("li", "note note-bad", `These steps could not be fetched (${error.message}).`)),
    );
    await part.loading;
    delete part.loading;
    part.dataset.fetched = "";
  }
  if ("fetched" in part.dataset) touch(part);
}

function touch(part) {
  const at = fetched.indexOf(part);
  if (at >= 0) fetched.splice(at, 1);
  fetched.push(part);
  while (fetched.length > KEEP) drop(fetched.shift());
}

function drop(part) {
  part.style.minHeight = `${part.offsetHeight}px`;
  part.querySelector(".steps").replaceChildren();
  delete part.dataset.fetched;
}

function watch() {
  const near = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) if (entry.isIntersecting) load(entry.target);
    },
    { rootMargin: "600px 0px" },
  );
  for (const part of parts) if (part.dataset.src) near.observe(part);
}

// --- jumping ----------------------------------------------------------------------------------------------------------
const partOf = (n) => parts.find((part) => n >= Number(part.dataset.first) && n <= Number(part.dataset.last));

async function jump(n, push = true) {
  const part = partOf(n);
  if (!part) return;
  await load(part);
  if (push) history.pushState(null, "", `${location.pathname}${location.search}#s${n}`);
  const step = document.getElementById(`s${n}`);
  if (!step) return;
  transcript.querySelector(".is-target")?.classList.remove("is-target");
  step.classList.add("is-target");
  if (getComputedStyle(step).display === "none") filter("");
  transcript.style.setProperty("--bar", `${document.querySelector(".log-bar").offsetHeight}px`);
  step.scrollIntoView({ block: "start" });
  step.querySelector(".step-n").focus({ preventScroll: true });
}

function jumpToHash() {
  const n = /^#s(\d+)$/.exec(location.hash)?.[1];
  if (n) jump(Number(n), false);
}

async function jumpToTime(t) {
  const part = parts.findLast((p) => Number(p.dataset.begin) <= t) || parts[0];
  await load(part);
  const steps = [...part.querySelectorAll(".step")];
  const step = steps.findLast((s) => Number(s.dataset.t) <= t) || steps[0];
  if (step) jump(Number(step.dataset.n));
}

// --- filters ----------------------------------------------------------------------------------------------------------
function filter(kind) {
  if (kind) transcript.dataset.only = kind;
  else delete transcript.dataset.only;
  for (const chip of document.querySelectorAll("[data-show]")) chip.setAttribute("aria-pressed", String(chip.dataset.show === kind));
  remember({ show: kind });
}

// --- find -------------------------------------------------------------------------------------------------------------
let worker = null;

function find(text) {
  worker?.terminate();
  remember({ find: text });
  const status = document.querySelector(".found");
  const list = document.querySelector(".found-list");
  list.replaceChildren();
  status.hidden = list.hidden = !text;
  if (!text) return;
  let hits = 0;
  const add = (n, before, hit, after) => {
    hits += 1;
    if (hits > MAX_FOUND) return;
    const link = element("a", "", element("span", "muted", `Step ${n}`), element("span", "hit", before, element("mark", "", hit), after));
    link.href = `#s${n}`;
    list.append(element("li", "", link));
  };
  const tell = (done, whole) => {
    const more = hits > MAX_FOUND ? ` (the first ${MAX_FOUND} are listed)` : "";
    status.textContent = `${hits} steps say “${text}”${more}` + (done < whole ? `, looked at ${done} of ${whole} parts …` : ".");
  };
  worker = new Worker(new URL("./log.worker.js", import.meta.url), { type: "module" });
  worker.onmessage = ({ data }) => {
    for (const [n, ...pieces] of data.hits) add(n, ...pieces);
    tell(data.done, parts.length);
  };
  tell(0, parts.length);
  worker.postMessage({
    text,
    parts: parts.map((part) =>
      part.dataset.src
        ? { src: new URL(part.dataset.src, location.href).href, first: Number(part.dataset.first) }
        : { steps: [...part.querySelectorAll(".step")].map((s) => [Number(s.dataset.n), s.textContent]) },
    ),
  });
}

// --- everything on ----------------------------------------------------------------------------------------------------
async function showEverything(item) {
  const part = item.closest(".part");
  const n = Number(item.dataset.n);
  const steps = await stepsOf(part);
  item.replaceWith(draw(steps[n - Number(part.dataset.first)], n, true));
}

function start() {
  document.querySelector(".log-bar").addEventListener("click", (event) => {
    const chip = event.target.closest("[data-show]");
    if (chip) filter(chip.dataset.show);
  });
  document.querySelector("[data-jump]").addEventListener("submit", (event) => {
    event.preventDefault();
    jump(Number(event.target.elements.jump.value));
  });
  const search = document.querySelector("#find");
  search.form.addEventListener("submit", (event) => {
    event.preventDefault();
    find(search.value);
  });
  search.addEventListener("search", () => search.value || find(""));
  document.addEventListener("click", (event) => {
    const to = event.target.closest('a[href^="#s"]');
    const n = to && /^#s(\d+)$/.exec(to.getAttribute("href"))?.[1];
    if (n && !event.ctrlKey && !event.metaKey && !event.shiftKey) {
      event.preventDefault();
      jump(Number(n));
    }
    if (event.target.closest(".step-more")) showEverything(event.target.closest(".step"));
  });
  document.querySelector(".lanes")?.addEventListener("click", (event) => {
    const lane = event.target.closest(".lane");
    if (!lane) return;
    const box = lane.getBoundingClientRect();
    jumpToTime((Number(lane.parentElement.dataset.span) * (event.clientX - box.left)) / box.width);
  });
  window.addEventListener("popstate", jumpToHash);
  watch();
  const kind = parameter("show");
  if (kind && document.querySelector(`[data-show="${CSS.escape(kind)}"]`)) filter(kind);
  if (parameter("find")) find((search.value = parameter("find")));
  jumpToHash();
}

// --- the trials beside this one ---------------------------------------------------------------------------------------
// In the order of the run's table, which is read when somebody asks. Without it the run's page is where to go on.
async function toTrialBeside(step) {
  const run = document.querySelector("[data-trials]").href;
  let rows;
  try {
    rows = [...(await fetchPage(run)).querySelectorAll("#trial-table tr:has(a.pill)")];
  } catch {
    location.assign(run);
    return;
  }
  const here = location.pathname.replace(/index\.html$/, "");
  const own = rows.findIndex((row) => [...row.querySelectorAll("a")].some((link) => new URL(link.href).pathname === here));
  const beside = rows[own + step];
  if (own >= 0 && beside) location.assign(beside.querySelector("a.pill").href);
  else if (own < 0) location.assign(run);
  else document.querySelector("#beside-note").textContent = step < 0 ? "This is the run's first trial with a log." : "This is the run's last trial with a log.";
}

for (const button of document.querySelectorAll("[data-beside]")) {
  button.addEventListener("click", () => toTrialBeside(Number(button.dataset.beside)));
}
if (transcript) start();
