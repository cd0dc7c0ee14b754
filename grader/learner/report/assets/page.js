// What the page can do with a script that it cannot do without one.
document.documentElement.classList.add("has-script");

for (const button of document.querySelectorAll("[data-open-all]")) {
  button.addEventListener("click", () => {
    const open = button.getAttribute("aria-pressed") !== "true";
    button.setAttribute("aria-pressed", String(open));
    button.textContent = open ? "Close every line" : "Open every line";
    for (const line of button.closest(".xray").querySelectorAll("details.line")) line.open = open;
  });
}

// Up and Down go from line to line of the source.
document.addEventListener("keydown", (event) => {
  if (event.target.localName !== "summary" || (event.key !== "ArrowUp" && event.key !== "ArrowDown")) return;
  const line = event.target.parentElement;
  if (!line.matches("details.line")) return;
  const all = [...line.parentElement.querySelectorAll("details.line > summary")];
  const next = all[all.indexOf(event.target) + (event.key === "ArrowDown" ? 1 : -1)];
  if (!next) return;
  event.preventDefault();
  next.focus();
});

// A link to a line opens it.
function openTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (target && target.matches("details.line")) {
    target.open = true;
    target.querySelector("summary").focus();
  }
}
addEventListener("hashchange", openTarget);
openTarget();

// A picture or listing that is wider than the screen scrolls: then it takes the focus, so that arrow keys move it.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});
for (const box of document.querySelectorAll("figure, .pattern, .listing")) widths.observe(box);
