// Puts two runs together from their own pages. Flips first: tasks that one run solved and the other did not.
import { enliven, fetchPage, parameter, remember } from "./site.js";

const form = document.getElementById("pair");
const result = document.getElementById("pair-result");
const DONE = ["success", "failed", "error"];

const option = (select, id) =>
  [...select.options].find((o) => o.value === id || (o.dataset.formerly || "").split(" ").includes(id));

function element(name, content, attributes = {}) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...[content].flat());
  return made;
}

// task+mode → what the table of a run's page says. Excluded tasks count nowhere and are left out.
async function trialsOf(href) {
  const page = await fetchPage(href);
  const found = new Map();
  for (const unit of page.querySelectorAll("#trial-table tbody.task:not([data-last='1'])")) {
    const head = unit.querySelector("th");
    for (const row of unit.rows) {
      const pill = row.querySelector(".pillbox");
      found.set(unit.dataset.task + " " + row.dataset.mode, {
        title: head.querySelector("a").textContent,
        href: head.querySelector("a").href,
        mode: row.dataset.mode,
        state: row.dataset.state,
        pill,
        est: row.dataset.est ? Number(row.dataset.est) : null,
        billed: row.dataset.billed ? Number(row.dataset.billed) : null,
      });
    }
  }
  return found;
}

export function mcnemar(a, b) {
  const n = a + b;
  if (!n) return null;
  let [tail, log] = [0, -n * Math.LN2]; // logarithms: 0.5 to the power of a thousand is no number any more
  for (let k = 0; k <= Math.min(a, b); k++) {
    tail += Math.exp(log);
    log += Math.log((n - k) / (k + 1));
  }
  return Math.min(1, 2 * tail);
}

function money(usd) {
  if (usd === null) return "—";
  const digits = usd >= 1 ? 2 : usd >= 0.01 ? 3 : 4;
  return "$" + usd.toLocaleString("en-US", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

const RANK = { "only A": 0, "only B": 1, both: 2, neither: 3, "not done in both": 4 };

function kind(a, b) {
  if (!DONE.includes(a.state) || !DONE.includes(b.state)) return "not done in both";
  if ((a.state === "success") !== (b.state === "success")) return a.state === "success" ? "only A" : "only B";
  return a.state === "success" ? "both" : "neither";
}

function pillOf(trial, name) {
  const box = trial.pill.cloneNode(true);
  const tip = box.querySelector(".tip");
  if (tip) {
    tip.id = name + tip.id;
    box.querySelector(".tip-button").setAttribute("popovertarget", tip.id);
  }
  return box;
}

function total(rows, side, what) {
  const known = rows.map((row) => row[side][what]).filter((value) => value !== null);
  if (!known.length) return "—";
  const coverage = element("span", `${known.length} of ${rows.length}`, { class: "muted small" });
  return [money(known.reduce((sum, value) => sum + value, 0)), element("br", []), coverage];
}

// The parts of the two names that differ; the menus above say the whole names.
function headline(names) {
  const [a, b] = names.map((name) => name.split(" · "));
  const part = (mine, other) => (a.length === b.length && mine.filter((text, i) => text !== other[i]).join(" · ")) || mine.join(" · ");
  return `A: ${part(a, b)} | B: ${part(b, a)}`;
}

function summary(rows, modes, names) {
  const body = modes.map((mode) => {
    const mine = rows.filter((row) => row.a.mode === mode);
    const n = (name) => mine.filter((row) => row.kind === name).length;
    const p = mcnemar(n("only A"), n("only B"));
    const cells = [mine.length, n("both"), n("only A"), n("only B"), n("neither"), p === null ? "—" : p < 0.001 ? "< 0.001" : p.toFixed(3)];
    const costs = [total(mine, "a", "est"), total(mine, "b", "est"), total(mine, "a", "billed"), total(mine, "b", "billed")];
    return element("tr", [
      element("th", mode, { scope: "row" }),
      ...[...cells, ...costs].map((content) => element("td", content, { class: "num" })),
    ]);
  });
  const heads = ["Mode", "Tasks done in both", "Both solved", "Only A", "Only B", "Neither", "p (exact McNemar)", "Est. A", "Est. B", "Billed A", "Billed B"];
  const table = element("table", [
    element("thead", element("tr", heads.map((text, i) => element("th", text, i ? { scope: "col", class: "num" } : { scope: "col" })))),
    element("tbody", body),
  ]);
  return [
    element("h2", headline(names)),
    element("div", table, { class: "scroll", role: "region", tabindex: "0", "aria-label": "Summary of the pair" }),
  ];
}

function details(rows) {
  const heads = ["Task", "Solved by", "A", "B", "Est. A", "Est. B", "Billed A", "Billed B"];
  const body = rows.map((row) =>
    element("tr", [
      element("th", [element("a", row.a.title, { href: row.a.href }), element("span", row.a.mode, { class: "block muted small" })], { scope: "row" }),
      element("td", row.kind),
      element("td", pillOf(row.a, "a-")),
      element("td", pillOf(row.b, "b-")),
      ...[row.a.est, row.b.est, row.a.billed, row.b.billed].map((usd) => element("td", money(usd), { class: "num" })),
    ], { "data-kind": row.kind }),
  );
  return element("div", element("table", [
    element("thead", element("tr", heads.map((text, i) => element("th", text, { scope: "col", class: i > 3 ? "num" : "" })))),
    element("tbody", body),
  ]), { class: "scroll", role: "region", tabindex: "0", "aria-label": "Tasks of the pair, disagreements first" });
}

function unmatched(mine, theirs, name) {
  const alone = [...mine].filter(([key]) => !theirs.has(key)).map(([, trial]) => trial);
  if (!alone.length) return [];
  const list = alone.map((t) => element("li", [element("a", t.title, { href: t.href }), " ", pillOf(t, "alone-")]));
  return [element("details", [element("summary", `Only in ${name} (${alone.length})`), element("ul", list)], { class: "fold" })];
}

let turns = 0; // of two choices in quick succession the later one stays

async function show() {
  const turn = ++turns;
  const [a, b] = [form.elements.a, form.elements.b];
  remember({ a: a.value, b: b.value });
  result.setAttribute("aria-busy", "true");
  try {
    const [mine, theirs] = await Promise.all([a, b].map((s) => trialsOf(s.selectedOptions[0].dataset.href)));
    if (turn !== turns) return;
    const rows = [...mine]
      .filter(([key]) => theirs.has(key))
      .map(([key, one]) => ({ a: one, b: theirs.get(key), kind: kind(one, theirs.get(key)) }))
      .sort((x, y) => RANK[x.kind] - RANK[y.kind]);
    const modes = [...new Set(rows.map((row) => row.a.mode))];
    const names = [a, b].map((s) => s.selectedOptions[0].textContent);
    result.replaceChildren(
      ...summary(rows.filter((row) => row.kind !== "not done in both"), modes, names),
      details(rows),
      ...unmatched(mine, theirs, "A"),
      ...unmatched(theirs, mine, "B"),
    );
    enliven(result);
  } catch {
    if (turn !== turns) return;
    result.replaceChildren(element("p", "One of the two pages could not be read. Is this site complete?", { class: "note note-bad" }));
  }
  result.removeAttribute("aria-busy");
}

if (form) {
  const first = option(form.elements.a, parameter("a"));
  const second = option(form.elements.b, parameter("b"));
  form.elements.a.value = (first || form.elements.a.options[0]).value;
  form.elements.b.value = (second || [...form.elements.b.options].find((o) => o.value !== form.elements.a.value)).value;
  form.addEventListener("change", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
}
