// Before the first paint: the theme that the reader chose, or else the system's.
(() => {
  let chosen = null;
  try { chosen = localStorage.getItem("mfbench-theme"); } catch (
  error) { /* a browser without it */ }
  const dark = chosen ? chosen === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  document.documentElement.classList.toggle("dark", dark);
})();