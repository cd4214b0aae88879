"use strict";
(() => {
  const claims = [...document.querySelectorAll(".claim")];
  const [paper, verdict] = [mf.by("paper"), mf.by("verdict")];
  const FILTERS = ["paper", "verdict"];
  const remember = () => {
    const said = new URLSearchParams(FILTERS.filter((id) => mf.by(id).value).map((id) => [id, mf.by(id).value]));
    history.replaceState(null, "", said.size ? `#${said}` : location.pathname.split("/").pop());
    narrow();
  };
  const follow = () => {
    for (const id of FILTERS) {
      const asked = mf.address().get(id);
      mf.by(id).value = [...mf.by(id).options].some((option) => option.value === asked) ? asked : "";
    }
    narrow();
  };
  const narrow = () => {
    for (const claim of claims) {
      claim.hidden = Boolean((paper.value && claim.dataset.paper !== paper.value) ||
        (verdict.value && claim.dataset.verdict !== verdict.value));
    }
    mf.by("shown").textContent = `${claims.filter((claim) => !claim.hidden).length} of ${claims.length} claims`;
  };
  if (paper) {
    paper.addEventListener("change", remember);
    verdict.addEventListener("change", remember);
    addEventListener("hashchange", follow);
    follow();
  }
  for (const table of document.querySelectorAll(".claim table")) {
    const scroll = mf.scroll();
    table.replaceWith(scroll);
    scroll.append(table);
  }
  mf.ready();
})();