// One warp's access, from step to step: buttons, and arrow keys wherever the focus is within the picture.
const BLOCK = 0, WARP = 1, ITERATION = 2, PATTERN = 3, EVENT = 4, FIRST = 5, LAST = 6, COUNTS = 7;

function stepper(figure) {
  const access = JSON.parse(figure.dataset.steps);
  const steps = access.steps;
  const warps = [];
  for (const step of steps) {
    if (!warps.some((one) => one[BLOCK] === step[BLOCK] && one[WARP] === step[WARP])) warps.push(step);
  }
  let at = 0;

  // The steps of the warp that is shown.
  const ofWarp = (one) => steps.filter((step) => step[BLOCK] === one[BLOCK] && step[WARP] === one[WARP]);

  function next(what, by) {
    const now = steps[at];
    if (what === "iteration") {
      const mine = ofWarp(now);
      return mine[mine.indexOf(now) + by];
    }
    const warp = warps[warps.findIndex((one) => one[BLOCK] === now[BLOCK] && one[WARP] === now[WARP]) + by];
    if (!warp) return undefined;
    const theirs = ofWarp(warp);
    return theirs.find((step) => step[ITERATION] === now[ITERATION]) || theirs[0];
  }

  function show() {
    const step = steps[at];
    const part = (name) => figure.querySelector(`[data-part=${name}]`);
    part("block").textContent = step[BLOCK];
    part("warp").textContent = step[WARP];
    part("iteration").textContent = step[ITERATION];
    part("first").textContent = step[FIRST].toLocaleString("en-US");
    part("last").textContent = step[LAST].toLocaleString("en-US");
    const counts = [];
    access.counts.forEach(([name, one, several], i) => {
      const source = `${access.events}/${step[EVENT]}/${name}`, value = step[COUNTS + i];
      if (value !== null) counts.push(...(counts.length ? [", "] : []), dataElement(value, source), ` ${value === 1 ? one : several}`);
    });
    if (!counts.length) counts.push("it ended the kernel");
    part("counts").replaceChildren(...counts);
    for (const pattern of figure.querySelectorAll(".pattern")) {
      pattern.hidden = Number(pattern.dataset.pattern) !== step[PATTERN];
    }
    for (const button of figure.querySelectorAll("button[data-step]")) {
      button.setAttribute("aria-disabled", String(!next(button.dataset.step, Number(button.dataset.by))));
    }
  }

  function go(what, by) {
    const found = next(what, by);
    if (!found) return;
    at = steps.indexOf(found);
    show();
  }

  for (const button of figure.querySelectorAll("button[data-step]")) {
    button.addEventListener("click", () => go(button.dataset.step, Number(button.dataset.by)));
  }
  const keys = { ArrowLeft: ["iteration", -1], ArrowRight: ["iteration", 1], ArrowUp: ["warp", -1], ArrowDown: ["warp", 1] };
  figure.addEventListener("keydown", (event) => {
    if (!(event.key in keys) || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    go(...keys[event.key]);
  });
  if (steps.length > 1) figure.tabIndex = 0;
  show();
}

document.querySelectorAll(".stepper").forEach(stepper);
