// The heat column: another metric for every line of a chapter.
function showHeat(xray, metric) {
  const lines = [...xray.querySelectorAll("details.line")];
  const found = lines.map((line) => JSON.parse(line.dataset.heats)[metric]);
  const most = Math.max(...found.map((one) => (one ? one[0] : 0)));
  lines.forEach((line, i) => {
    const [value, source] = found[i] || [0, ""];
    const bar = line.querySelector(".bar");
    bar.hidden = !found[i];
    bar.style.width = most ? (100 * value) / most + "%" : "0";
    line.querySelector(".amount").replaceChildren(...(found[i] ? [dataElement(value, source)] : []));
  });
}

// A number with its value and where it comes from, as the page itself has them.
function dataElement(value, source) {
  const element = document.createElement("data");
  element.setAttribute("value", value);
  element.dataset.from = source;
  element.textContent = value.toLocaleString("en-US");
  return element;
}

for (const select of document.querySelectorAll("select[data-heat]")) {
  select.addEventListener("change", () => showHeat(select.closest(".xray"), select.value));
}
