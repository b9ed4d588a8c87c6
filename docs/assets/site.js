// The search has a name for screen readers. Blocks that scroll sideways can be reached and scrolled by keyboard.
document.addEventListener("DOMContentLoaded", () => {
  const search = document.querySelector(".md-search");
  if (search) search.setAttribute("aria-label", "Search");
  for (const block of document.querySelectorAll("pre > code, .md-typeset table:not([class])")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
});
