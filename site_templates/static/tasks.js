// The task list: another run's pills come from that run's own page; facets, search and sort are in the address.
import { choices, enliven, fetchPage, parameter, remember, runOf } from "./site.js";

const table = document.getElementById("task-table");
const rows = [...table.tBodies[0].rows];
const controls = document.getElementById("task-controls");
const q = controls.querySelector("[data-q]");
const facets = [...controls.querySelectorAll("[data-facet]")];
const menu = controls.querySelector("[data-sort]");
const count = controls.querySelector("[data-count]");
const fallback = document.querySelector("[data-picker]")?.dataset.default || "";
const first = rows.map((row) => [row, { ...row.dataset }, [...row.querySelector(".trial-cell").childNodes]]);

function filter() {
  const words = q.value.toLowerCase().split(/\s+/).filter(Boolean);
  let n = 0;
  for (const row of rows) {
    const text = (row.cells[0].textContent + " " + row.dataset.task).toLowerCase();
    const wanted = facets.every((f) => !f.value || row.getAttribute("data-f-" + f.dataset.facet).split(" ").includes(f.value) || row.getAttribute("data-f-" + f.dataset.facet) === f.value);
    row.hidden = !(wanted && words.every((word) => text.includes(word)));
    n += row.hidden ? 0 : 1;
  }
  count.textContent = n === rows.length ? `${n} tasks` : `${n} of ${rows.length} tasks`;
}

function sort() {
  const key = menu.value || "order";
  const value = (row) => row.getAttribute("data-v-" + key) || "";
  const order = (a, b) => value(a).localeCompare(value(b), "en", { numeric: true });
  table.tBodies[0].append(...rows.sort((a, b) => order(a, b) || a.dataset.vOrder.localeCompare(b.dataset.vOrder)));
  for (const head of table.querySelectorAll("th[data-key]")) {
    if (head.dataset.key === menu.value) head.setAttribute("aria-sort", "ascending");
    else head.removeAttribute("aria-sort");
  }
}

// Which run states there are to choose from depends on the run.
function stateOptions() {
  const facet = facets.find((f) => f.dataset.facet === "runstate");
  if (!facet) return;
  const present = new Set(rows.flatMap((row) => row.dataset.fRunstate.split(" ")));
  for (const option of facet.options) option.hidden = Boolean(option.value) && !present.has(option.value);
}

function restore() {
  for (const [row, data, nodes] of first) {
    Object.assign(row.dataset, data);
    row.querySelector(".trial-cell").replaceChildren(...nodes);
  }
}

function take(page) {
  for (const row of rows) {
    const source = page.querySelector(`[data-task="${CSS.escape(row.dataset.task)}"]`);
    const cell = row.querySelector(".trial-cell");
    cell.replaceChildren();
    row.dataset.vOrder = source?.dataset.vOrder || "9";
    row.dataset.vState = source?.dataset.vState || "99";
    row.dataset.fRunstate = source?.dataset.states || "outside";
    for (const box of source?.querySelectorAll(".pillbox") || []) cell.append(document.adoptNode(box), " ");
    const reason = source?.querySelector("[data-reason]");
    if (reason) cell.append(document.adoptNode(reason));
  }
}

let turns = 0;

async function show(id, chosen) {
  const choice = choices().find((c) => c.dataset.run === id);
  const turn = ++turns; // of two choices in quick succession the later one stays
  if (id !== table.dataset.shownRun) {
    const page = id === fallback ? null : await fetchPage(choice.href);
    if (turn !== turns) return;
    if (page) take(page);
    else restore();
    table.dataset.shownRun = id;
  }
  for (const c of choices()) {
    if (c === choice) c.setAttribute("aria-current", "true");
    else c.removeAttribute("aria-current");
  }
  const name = table.querySelector("[data-run-name]");
  if (name && choice) name.textContent = choice.textContent;
  remember(chosen ? { run: id === fallback ? "" : id, runstate: "" } : { run: id === fallback ? "" : id });
  stateOptions();
  filter();
  sort();
  enliven(table.parentElement);
}

document.querySelector("[data-picker]")?.addEventListener("click", (event) => {
  const choice = event.target.closest("[data-run]");
  if (!choice || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  const facet = facets.find((f) => f.dataset.facet === "runstate");
  if (facet) facet.value = "";
  show(choice.dataset.run, true);
});
q.addEventListener("input", () => { remember({ q: q.value }); filter(); });
for (const facet of facets) facet.addEventListener("change", () => { remember({ [facet.dataset.facet]: facet.value }); filter(); });
menu.addEventListener("change", () => { remember({ sort: menu.value }); sort(); });
table.addEventListener("sorted", ({ detail }) => {
  menu.value = detail.order === "ascending" && [...menu.options].some((o) => o.value === detail.key) ? detail.key : "";
});

q.value = parameter("q") || "";
for (const facet of facets) facet.value = parameter(facet.dataset.facet) || "";
const asked = parameter("sort") || "";
if ([...menu.options].some((o) => o.value === asked)) menu.value = asked;
show(runOf(parameter("run")) || fallback, false);
