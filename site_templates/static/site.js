// The one script of the site: the run picker and ?run=, tables that sort and filter, live minutes, details on hover.
// Everything it changes is in the address; without it every page is complete.

const root = document.documentElement;
root.classList.add("scripted");

// --- the address ------------------------------------------------------------------------------------------------------
export const parameter = (name) => new URLSearchParams(location.search).get(name);

export function remember(changes) {
  const query = new URLSearchParams(location.search);
  for (const [name, value] of Object.entries(changes)) {
    if (value) query.set(name, value);
    else query.delete(name);
  }
  const search = query.toString();
  history.replaceState(null, "", location.pathname + (search ? "?" + search : "") + location.hash);
}

// --- runs -------------------------------------------------------------------------------------------------------------
export const choices = () => [...document.querySelectorAll("[data-picker] [data-run]")];

// The run that an id means: a current id, or the successor of a former one. Unknown ids mean nothing.
export function runOf(id) {
  const choice = choices().find((c) => c.dataset.run === id || (c.dataset.formerly || "").split(" ").includes(id));
  return choice ? choice.dataset.run : null;
}

export async function fetchPage(address) {
  const answer = await fetch(address);
  if (!answer.ok) throw new Error(`${address}: ${answer.status}`);
  const page = new DOMParser().parseFromString(await answer.text(), "text/html");
  for (const name of ["href", "src"]) {
    for (const element of page.querySelectorAll(`[${name}]`)) {
      const value = element.getAttribute(name);
      if (!value.startsWith("#")) element.setAttribute(name, new URL(value, answer.url).href);
    }
  }
  return page;
}

function note(panel, text) {
  panel.querySelector("[data-run-note]")?.remove();
  if (!text) return;
  const box = document.createElement("p");
  box.className = "note note-warn";
  box.dataset.runNote = "";
  box.setAttribute("role", "status");
  box.append(text);
  panel.prepend(box);
}

// The panel of another run comes from that run's own page, so the address stays runs/<benchmark>/?run=<id>.
function swapRuns() {
  const panel = document.querySelector("#panel[data-swap]");
  if (!panel) return;
  const fallback = document.querySelector("[data-picker]").dataset.default;
  const own = [...panel.childNodes];
  let [shown, turns] = [fallback, 0];

  async function show(id, chosen) {
    const choice = choices().find((c) => c.dataset.run === id);
    const turn = ++turns; // of two choices in quick succession the later one stays
    if (id !== shown) {
      panel.setAttribute("aria-busy", "true");
      try {
        const nodes = id === fallback ? own : document.adoptNode((await fetchPage(choice.href)).querySelector("#panel")).childNodes;
        if (turn !== turns) return;
        panel.replaceChildren(...nodes);
      } catch {
        if (turn === turns) location.assign(choice.href);
        return;
      }
      shown = id;
    }
    panel.removeAttribute("aria-busy");
    for (const c of choices()) {
      if (c.dataset.run === id) c.setAttribute("aria-current", "true");
      else c.removeAttribute("aria-current");
    }
    remember(chosen ? { run: id === fallback ? "" : id, only: "", sort: "", count: "" } : { run: id === fallback ? "" : id });
    enliven(panel);
  }

  document.querySelector("[data-picker]").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-run]");
    if (!choice || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(choice.dataset.run, true);
  });

  const asked = parameter("run");
  if (!asked) return;
  const known = runOf(asked);
  show(known || fallback, false).then(() => note(panel, known ? "" : `No run “${asked}” here; this is the default run.`));
}

// The overview: one run's cards, or all of them; a second click on a run shows all again.
function narrowOverview() {
  const cards = [...document.querySelectorAll("[data-run-card]")];
  if (!cards.length) return;
  function show(id) {
    for (const card of cards) card.hidden = Boolean(id) && card.dataset.runCard !== id;
    for (const group of document.querySelectorAll("[data-run-group]")) group.hidden = !group.querySelector("[data-run-card]:not([hidden])");
    for (const choice of choices()) {
      if (choice.dataset.run === id) choice.setAttribute("aria-current", "true");
      else choice.removeAttribute("aria-current");
    }
    remember({ run: id });
  }
  document.querySelector("[data-picker]").addEventListener("click", (event) => {
    const choice = event.target.closest("[data-run]");
    if (!choice || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
    event.preventDefault();
    show(choice.dataset.run);
  });
  show(runOf(parameter("run") || "") || "");
}

// A picker or a row of tabs that scrolls begins where its chosen one is.
function scrollToChosen() {
  for (const chosen of document.querySelectorAll("[data-picker] [aria-current], .tabs [aria-current]")) {
    const list = chosen.closest("ul, .tabs");
    list.scrollLeft += chosen.getBoundingClientRect().left - list.getBoundingClientRect().left - 14;
    list.scrollTop += chosen.getBoundingClientRect().top - list.getBoundingClientRect().top - 3;
  }
}

function findRuns() {
  const box = document.querySelector("[data-picker-find]");
  box?.addEventListener("input", () => {
    const words = box.value.toLowerCase().split(/\s+/);
    for (const choice of choices()) {
      const text = (choice.textContent + " " + choice.dataset.run).toLowerCase();
      choice.parentElement.hidden = !words.every((word) => text.includes(word));
    }
  });
}

// --- tables -----------------------------------------------------------------------------------------------------------
// A sortable table has th[data-key]; what is sorted is a tbody.task (its rows stay together) or, without groups, a tr.
// The value of a key is data-v-<key> there; things without a value go last, data-last groups stay last.
function units(table) {
  return [...table.querySelectorAll(table.hasAttribute("data-groups") ? "tbody.task" : "tbody > tr")];
}

function compareBy(key, order) {
  const name = "data-v-" + key;
  const sign = order === "descending" ? -1 : 1;
  return (a, b) => {
    const last = (a.dataset.last || "").localeCompare(b.dataset.last || "");
    if (last) return last;
    const [x, y] = [a.getAttribute(name), b.getAttribute(name)];
    if (x === null || y === null) return (x === null) - (y === null);
    const [m, n] = [Number(x), Number(y)];
    return sign * (Number.isNaN(m) || Number.isNaN(n) ? x.localeCompare(y, "en", { numeric: true }) : m - n);
  };
}

function sortTable(table, key, order) {
  const sorted = units(table);
  if (!table.initial) table.initial = [...sorted];
  const wanted = key ? sorted.sort(compareBy(key, order)) : [...table.initial];
  for (const heading of table.querySelectorAll("[data-heading]")) {
    wanted.splice(wanted.findIndex((unit) => unit.dataset.last === heading.dataset.heading), 0, heading);
  }
  for (const unit of wanted) (table.hasAttribute("data-groups") ? table : unit.parentElement).append(unit);
  for (const head of table.querySelectorAll("th[data-key]")) {
    if (head.dataset.key === key) head.setAttribute("aria-sort", order);
    else head.removeAttribute("aria-sort");
  }
  table.dispatchEvent(new CustomEvent("sorted", { detail: { key, order } }));
}

function makeSortable(table) {
  if (table.dataset.enlivened) return;
  table.dataset.enlivened = "1";
  for (const head of table.querySelectorAll("th[data-key]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "sort";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const first = head.dataset.order || "ascending";
      const other = first === "ascending" ? "descending" : "ascending";
      const order = head.getAttribute("aria-sort") === first ? other : first;
      sortTable(table, head.dataset.key, order);
      if (table.id) remember({ sort: head.dataset.key + (order === "descending" ? "-down" : "") });
    });
  }
}

function sortFromAddress(table) {
  const asked = parameter("sort");
  if (!asked || !table.id) return;
  const key = asked.replace(/-down$/, "");
  const known = [...table.querySelectorAll("th[data-key]")].some((h) => h.dataset.key === key);
  if (known) sortTable(table, key, asked.endsWith("-down") ? "descending" : "ascending");
}

// Filter chips: one at a time, a second click clears. A row matches when data-is holds the filter's word.
function filterTable(table, word, mode) {
  let n = 0;
  for (const unit of units(table)) {
    const rows = unit.matches("tr") ? [unit] : [...unit.rows];
    const hits = rows.filter((row) => !word || ((" " + row.dataset.is + " ").includes(` ${word} `) && (!mode || row.dataset.mode === mode)));
    for (const row of rows) row.classList.toggle("dimmed", Boolean(word) && !hits.includes(row));
    unit.hidden = hits.length === 0;
    n += hits.length;
  }
  for (const heading of table.querySelectorAll("[data-heading]")) {
    heading.hidden = !units(table).some((unit) => unit.dataset.last === heading.dataset.heading && !unit.hidden);
  }
  return n;
}

function enlivenControls(panel) {
  const controls = panel.querySelector("[data-table-controls]");
  if (!controls) return;
  const table = document.getElementById(controls.dataset.tableControls);
  const menu = controls.querySelector("[data-sort]");
  const count = controls.querySelector("[data-count]");
  const chips = [...controls.querySelectorAll("[data-filter]")];
  const links = [...panel.querySelectorAll("a[data-filter]")];

  function only(word, mode) {
    const n = filterTable(table, word, mode);
    for (const chip of chips) chip.setAttribute("aria-pressed", String(chip.dataset.filter === word && !mode));
    for (const link of links) {
      if (word && link.dataset.filter === word && (link.dataset.filterMode || "") === mode) link.setAttribute("aria-current", "true");
      else link.removeAttribute("aria-current");
    }
    count.textContent = word ? `${n} of ${table.querySelectorAll("tbody.task tr").length} shown` : "";
    remember({ only: word ? word + (mode ? "~" + mode : "") : "" });
  }

  if (!controls.dataset.enlivened) {
    controls.dataset.enlivened = "1";
    for (const chip of chips) {
      chip.addEventListener("click", () => only(chip.getAttribute("aria-pressed") === "true" ? "" : chip.dataset.filter, ""));
    }
    for (const link of links) {
      link.addEventListener("click", () => (link.hasAttribute("aria-current") ? only("", "") : only(link.dataset.filter, link.dataset.filterMode || "")));
    }
    menu?.addEventListener("change", () => {
      sortTable(table, menu.value, menu.selectedOptions[0].dataset.order);
      remember({ sort: menu.value && menu.value + (menu.selectedOptions[0].dataset.order === "descending" ? "-down" : "") });
    });
    table.addEventListener("sorted", ({ detail }) => {
      if (menu) menu.value = [...menu.options].some((o) => o.value === detail.key && o.dataset.order === detail.order) ? detail.key : "";
    });
  }
  const [word, mode] = (parameter("only") || "").split("~");
  only(word || "", mode || "");
}

// --- the Count switch is plain CSS; here it only gets into the address -----------------------------------------------
function enlivenCount(panel) {
  const options = [...panel.querySelectorAll("input[name=count]")];
  const asked = options.find((o) => o.value === (parameter("count") || "bench"));
  if (asked) asked.checked = true;
  for (const option of options) option.addEventListener("change", () => remember({ count: option.value === "bench" ? "" : option.value }));
}

// --- live minutes and the reader's own time ---------------------------------------------------------------------------
const since = (start) => Math.max(0, Math.floor((Date.now() - Date.parse(start)) / 60000)) || 0;
const inWords = (n) => (n < 60 ? `${n}m` : `${Math.floor(n / 60)}h ${String(n % 60).padStart(2, "0")}m`);

function minutes() {
  for (const span of document.querySelectorAll("[data-since]")) span.textContent = inWords(since(span.dataset.since));
  for (const span of document.querySelectorAll("[data-running]")) {
    const starts = span.dataset.running.split(" ");
    span.textContent = `and ${inWords(starts.reduce((sum, start) => sum + since(start), 0))} of ${starts.length} going on`;
  }
}

function ownTimes(panel) {
  for (const time of panel.querySelectorAll("time[datetime]")) {
    const at = new Date(time.dateTime);
    if (!Number.isNaN(at.getTime())) time.title = at.toLocaleString() + " in your time zone";
  }
}

// --- details of a pill: the button opens them everywhere; a mouse may also rest on the pill ---------------------------
function hover() {
  let [waiting, rested] = [0, null]; // `rested`: the details that opened because a mouse rested
  document.addEventListener("click", (event) => {
    const tip = event.target.closest?.(".tip-button")?.popoverTargetElement;
    if (tip && tip === rested && tip.matches(":popover-open")) event.preventDefault(); // the button keeps them open
    if (tip) rested = null;
  });
  document.addEventListener("pointerover", (event) => {
    const box = event.pointerType === "mouse" && event.target.closest?.(".pillbox");
    clearTimeout(waiting);
    if (!box || box.querySelector(".tip:popover-open")) return;
    waiting = setTimeout(() => {
      const button = box.querySelector(".tip-button");
      rested = button?.popoverTargetElement;
      rested?.showPopover({ source: button });
    }, 350);
  });
  document.addEventListener("pointerout", (event) => {
    const box = event.pointerType === "mouse" && event.target.closest?.(".pillbox");
    if (box && !box.contains(event.relatedTarget)) {
      clearTimeout(waiting);
      const tip = box.querySelector(".tip:popover-open");
      if (tip && tip === rested && !tip.contains(document.activeElement)) tip.hidePopover();
    }
  });
}

// A link to something in a fold opens the fold.
function openTarget() {
  const target = location.hash && document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const fold = target && target.closest("details");
  if (fold && !fold.open) {
    fold.open = true;
    target.scrollIntoView();
  }
}

export function enliven(panel) {
  const tables = panel.querySelectorAll("table[data-sortable]");
  for (const table of tables) makeSortable(table);
  enlivenControls(panel);
  for (const table of tables) sortFromAddress(table);
  enlivenCount(panel);
  ownTimes(panel);
  minutes();
}

enliven(document);
swapRuns();
narrowOverview();
findRuns();
scrollToChosen();
openTarget();
addEventListener("hashchange", openTarget);
hover();
setInterval(minutes, 30000);
