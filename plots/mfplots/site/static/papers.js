"use strict";
(() => {
  const claims = [...document.querySelectorAll(".claim")];
  const [paper, verdict] = [mf.by("paper"), mf.by("verdict")];
  const narrow = () => {
    for (const claim of claims) {
      claim.hidden = Boolean((paper.value && claim.dataset.paper !== paper.value) ||
        (verdict.value && claim.dataset.verdict !== verdict.value));
    }
    mf.by("shown").textContent =
      `${claims.filter((claim) => !claim.hidden).length} of ${claims.length} claims`;
  };
  if (paper) {
    paper.addEventListener("change", narrow);
    verdict.addEventListener("change", narrow);
    narrow();
  }
  for (const table of document.querySelectorAll(".claim table")) {
    const scroll = mf.scroll();
    table.replaceWith(scroll);
    scroll.append(table);
  }
  mf.ready();
})();