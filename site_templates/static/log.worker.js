// Finds a text in every step of a transcript, fetched section by section, off the page's thread.
// In: {text, parts: [{src, first} | {steps: [[n, text]]}]}. Out, per part: {hits: [[n, before, hit, after]], done}.

const AROUND = 60;

const textsOf = (step) => [step.text, step.cmd, step.code, step.out].filter(Boolean);

function hitOf(n, texts, wanted) {
  for (const text of texts) {
    const at = text.toLowerCase().indexOf(wanted);
    if (at < 0) continue;
    const end = at + wanted.length;
    return [n, text.slice(Math.max(0, at - AROUND), at), text.slice(at, end), text.slice(end, end + AROUND)];
  }
  return null;
}

async function pairsOf(part) {
  if (part.steps) return part.steps.map(([n, text]) => [n, [text]]);
  const answer = await fetch(part.src);
  return (await answer.json()).steps.map((step, i) => [part.first + i, textsOf(step)]);
}

onmessage = async ({ data }) => {
  const wanted = data.text.toLowerCase();
  let done = 0;
  for (const part of data.parts) {
    let hits = [];
    try {
      hits = (await pairsOf(part)).map(([n, texts]) => hitOf(n, texts, wanted)).filter(Boolean);
    } catch {
      // a part that can't be fetched has no hits; the page says so when it comes near
    }
    done += 1;
    postMessage({ hits, done });
  }
};
