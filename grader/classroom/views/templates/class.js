"use strict";
(() => {
  const table = document.getElementById("students");
  if (!table) return;
  const body = table.tBodies[0], rows = [...body.rows], count = document.getElementById("count");
  const search = document.getElementById("search"), section = document.getElementById("section");
  const state = document.getElementById("state");
  document.querySelector(".tools").hidden = false;
  const show = () => {
    const words = search.value.toLowerCase().split(/\s+/).filter(Boolean);
    let shown = 0;
    for (const row of rows) {
      const is = words.every((word) => row.dataset.search.includes(word))
        && (!section || !section.value || row.dataset.section === section.value)
        && (!state.value || row.dataset.state.split(" ").includes(state.value));
      row.hidden = !is;
      shown += is;
    }
    count.textContent = `${shown} of ${rows.length}`;
  };
  for (const one of [search, section, state]) if (one) one.addEventListener("input", show);
  const value = (row, at) => {
    const cell = row.cells[at];
    return cell.dataset.value === undefined ? cell.textContent.trim().toLowerCase() : Number(cell.dataset.value);
  };
  [...table.tHead.rows[0].cells].forEach((head, at) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const down = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
      const keys = new Map(rows.map((row) => [row, value(row, at)]));
      const compare = (a, b) => typeof a === "number" ? a - b : a.localeCompare(b);
      body.append(...[...rows].sort((a, b) => (down ? -1 : 1) * compare(keys.get(a), keys.get(b))));
    });
  });
  show();
})();
