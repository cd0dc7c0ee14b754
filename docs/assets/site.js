// What the theme's script adds to a page after it has loaded, made usable by keys and by screen readers.

// A table or code that is wider than the page scrolls: then it takes the focus, so that arrow keys move it.
const widths = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const scrolls = target.scrollWidth > target.clientWidth;
    if (scrolls) target.setAttribute("tabindex", "0");
    else target.removeAttribute("tabindex");
  }
});

// A toolbar of one button beside each piece of code is not a place to navigate to.
function complete(part) {
  for (const bar of part.querySelectorAll("nav.md-code__nav")) bar.setAttribute("role", "none");
  for (const box of part.querySelectorAll(".md-typeset__scrollwrap")) widths.observe(box);
}

complete(document);
new MutationObserver(() => complete(document)).observe(document.body, { childList: true, subtree: true });
