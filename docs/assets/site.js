// Blocks that scroll sideways can be reached and scrolled by keyboard.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("pre > code, .md-typeset table:not([class])")) {
    if (block.scrollWidth > block.clientWidth) block.tabIndex = 0;
  }
});
