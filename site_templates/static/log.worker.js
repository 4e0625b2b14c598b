// Finds a text in every step of a transcript, fetched section by section, off the page's thread.
// In: {text, parts: [{src, first} | {steps: [[n, text]]}]}. Out, per part: {hits: [[n, before, hit, after]], done}.

const BEFORE = 24; // characters shown beside a hit
const AFTER = 80;
const AT_ONCE = 6; // parts on their way

const textsOf = (step) => [step.text, step.cmd, step.code, step.out].filter(Boolean);

function hitOf(n, texts, wanted) {
  for (const text of texts) {
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const end = at + wanted.length;
    return [n, text.slice(Math.max(0, at - BEFORE), at), text.slice(at, end), text.slice(end, end + AFTER)];
  }
  return null;
}

async function hitsOf(part, wanted) {
  if (part.steps) return part.steps.map(([n, text]) => hitOf(n, [text], wanted)).filter(Boolean);
  const answer = await fetch(part.src);
  const { steps } = await answer.json();
  return steps.map((step, i) => hitOf(part.first + i, textsOf(step), wanted)).filter(Boolean);
}

onmessage = async ({ data }) => {
  const wanted = data.text.toLowerCase();
  const begin = (part) => hitsOf(part, wanted).catch(() => []); // the page says so when such a part comes near
  const ahead = data.parts.slice(0, AT_ONCE).map(begin);
  for (let done = 1; done <= data.parts.length; done += 1) {
    const hits = await ahead.shift();
    const next = data.parts[done - 1 + AT_ONCE];
    if (next) ahead.push(begin(next));
    postMessage({ hits, done });
  }
};
