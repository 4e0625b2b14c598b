// Served by `benchpipe edit` only: one dialog that changes one decision in state/. The server checks, shows the diff, writes.
const KEY = "benchpipe-token";
const said = new URLSearchParams(location.hash.slice(1)).get("token");
if (said) {
  sessionStorage.setItem(KEY, said);
  history.replaceState(null, "", location.pathname + location.search);
}
const token = sessionStorage.getItem(KEY);

const RUN_KINDS = {
  followups: "follow-up: something is arranged for this trial",
  notes: "note: a remark on a trial that counts",
  not_counted: "not counted: the trial ran but must not count",
  stopped: "stopped: ended or prevented by us",
  withdrawn: "withdrawn: take every result of this mode off the site",
  removed: "removed: take this task out of the run",
};
const TASK_KINDS = {
  excluded: "excluded: not part of the final benchmark, because …",
  status: "status: keep, drop, needs-review or pending",
  difficulty: "difficulty: easy, medium, hard, extreme or unrated",
  labels: "labels, separated by commas",
  owner: "owner: whom to ask about the task",
  note: "note about the task",
};
const NEEDS = {
  followups: ["task", "mode", "trial"], notes: ["task", "mode", "trial"], not_counted: ["task", "mode", "trial"],
  stopped: ["task", "mode"], withdrawn: ["mode"], removed: ["task"],
};

function element(name, attributes = {}, ...content) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...content);
  return made;
}

async function ask(address, order) {
  const answer = await fetch(address, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Benchpipe-Token": token || "" },
    body: JSON.stringify(order),
  });
  const body = await answer.json();
  if (!body.ok) throw new Error(body.error);
  return body;
}

// What the page is about: a run's page, the log of the trial that counts, a task list or a task page.
function subject() {
  const run = document.querySelector("section.run[data-run-id]");
  if (run) return { benchmark: run.dataset.benchmark, run: run.dataset.runId };
  const [area, benchmark, ...rest] = location.pathname.split("/").filter(Boolean).map(decodeURIComponent);
  if (area === "benchmarks" && benchmark) return { benchmark, run: "", task: rest[1] || "" };
  const fact = [...document.querySelectorAll(".facts dt")].find((key) => key.textContent === "trial");
  const [id, task, mode] = rest;
  if (area !== "runs" || !fact || mode.endsWith("-prev")) return null;
  return { benchmark, run: id, task, mode, trial: fact.nextElementSibling.textContent };
}

function openDialog(about) {
  const kinds = about.run ? { ...RUN_KINDS, ...Object.fromEntries(Object.entries(TASK_KINDS).map(([k, v]) => ["task." + k, "task " + v])) } : TASK_KINDS;
  const kind = element("select", { id: "edit-kind" }, ...Object.entries(kinds).map(([key, text]) => element("option", { value: key }, text)));
  const fields = {};
  const rows = ["task", "mode", "trial"].map((name) => {
    fields[name] = element("input", { type: "text", id: "edit-" + name, value: about[name] || "" });
    return element("p", { "data-field": name }, element("label", { for: "edit-" + name }, name), element("br"), fields[name]);
  });
  const value = element("textarea", { id: "edit-value", rows: "3" });
  const diff = element("pre", { role: "region", tabindex: "0", "aria-live": "polite", "aria-label": "What would change" });
  const message = element("p", { class: "note", role: "status", hidden: "" });
  const warning = element("div", { class: "note note-warn", role: "status", hidden: "" });
  const preview = element("button", { type: "button", class: "button" }, "Show the change");
  const write = element("button", { type: "button", class: "button", disabled: "" }, "Write it");
  const close = element("button", { type: "button", class: "chip" }, "Close");
  const dialog = element("dialog", { class: "card", "aria-labelledby": "edit-title", "data-edit": "" },
    element("h2", { id: "edit-title" }, `Curate ${about.benchmark}${about.run ? " · " + about.run : ""}`),
    element("p", {}, element("label", { for: "edit-kind" }, "What"), element("br"), kind),
    ...rows,
    element("p", {}, element("label", { for: "edit-value" }, "Text (empty takes the entry away)"), element("br"), value),
    message, warning, diff,
    element("p", { class: "chips" }, preview, write, close),
  );
  let digest = "";

  const order = () => {
    const ofTask = kind.value.startsWith("task.") || !about.run;
    const name = kind.value.replace("task.", "");
    const change = { benchmark: about.benchmark, kind: name, value: value.value.trim(), run: ofTask ? "" : about.run };
    for (const field of ofTask ? ["task"] : NEEDS[name]) change[field] = fields[field].value.trim();
    return { change, digest };
  };
  const say = (text, bad) => {
    message.hidden = !text;
    message.className = bad ? "note note-bad" : "note note-good";
    message.textContent = text;
  };
  const fresh = () => {
    const ofTask = kind.value.startsWith("task.") || !about.run;
    const needed = ofTask ? ["task"] : NEEDS[kind.value];
    for (const row of rows) row.hidden = !needed.includes(row.dataset.field);
    write.disabled = true;
    diff.textContent = "";
    warning.hidden = true;
    say("");
  };
  kind.addEventListener("change", fresh);
  for (const input of [...Object.values(fields), value]) input.addEventListener("input", fresh);
  preview.addEventListener("click", async () => {
    fresh();
    try {
      const answer = await ask("/~edit/preview", order());
      digest = answer.digest;
      diff.textContent = answer.diff || "nothing would change";
      write.disabled = !answer.diff;
      warning.replaceChildren(...answer.warnings.map((text) => element("p", {}, text)));
      warning.hidden = !answer.warnings.length;
    } catch (error) {
      say(error.message, true);
    }
  });
  write.addEventListener("click", async () => {
    try {
      const answer = await ask("/~edit/apply", order());
      fresh();
      say(`${answer.file} is written; the page follows.`);
    } catch (error) {
      say(error.message, true);
      write.disabled = true;
    }
  });
  close.addEventListener("click", () => dialog.close());
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  fresh();
  dialog.showModal();
}

if (token && subject()) {
  const button = element("button", { type: "button", class: "chip", "data-curate": "" }, "✎ Curate");
  button.addEventListener("click", () => openDialog(subject()));
  document.querySelector("h1").after(button);
  document.addEventListener("click", (event) => {
    const tip = event.target.closest(".tip-button");
    const popover = tip && tip.popoverTargetElement;
    const row = tip && tip.closest("tr[data-state]");
    if (!popover || !row || popover.querySelector("[data-curate-trial]")) return;
    const lines = [...popover.querySelectorAll(".tip-line")].map((line) => [...line.children].map((c) => c.textContent));
    const edit = element("button", { type: "button", class: "chip", "data-curate-trial": "" }, "✎ Curate this trial");
    edit.addEventListener("click", () => {
      popover.hidePopover();
      openDialog({ ...subject(), task: row.closest("[data-task]").dataset.task, mode: row.dataset.mode, trial: (lines.find(([key]) => key === "trial") || [])[1] });
    });
    popover.append(edit);
  });
}
