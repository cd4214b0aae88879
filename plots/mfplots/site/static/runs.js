"use strict";
(() => {
  const better = (a, b) => a.quality !== null && (b.quality === null || (a.less ? a.quality < b.quality : a.quality > b.quality));
  const byQuality = (a, b) => (better(a, b) ? -1 : better(b, a) ? 1 : 0);
  const inOrder = (a, b) => a.group - b.group || byQuality(a, b);  // where none gets to the target
  const rows = mf.store.board.sort(inOrder);
  const spread = (value, row) => {
    const digits = mf.fixed(4);
    return row.finished < 3 || value === null ? digits(value) :
      `${digits(value)} [${digits(row.low)}, ${digits(row.high)}]`;
  };
  const marked = (value, row) => mf.duration(value) + (value === null ? "" :
    `${row.contended ? " †" : ""}${row.restarts ? " ‡" : ""}`);
  const columns = [
    { key: "name", title: "Algorithm", node: nameOf, sortable: true },
    { key: "answer_to_target", title: "Answer to target", number: true, show: marked },
    { key: "train_to_target", title: "Training to target", number: true, show: marked },
    { key: "quality", title: "Quality [min, max]", number: true, show: spread },
    { key: "reached", title: "Got there", number: true, show: (value, row) => `${value} of ${row.finished}` },
    { key: "configuration", title: "Configuration", wide: true },
    { key: "machine", title: "Hardware", mid: true, show: mf.machine },
    mf.RUN,
    ...[{ key: "factors", title: "f", number: true },
    { key: "target", title: "Target", number: true, show: mf.plain },
    { key: "met_epoch", title: "At epoch", number: true, show: (value, row) =>
        mf.atEpoch(value, row.looked_before) },
    { key: "metric", title: "Value" },
    { key: "dataset", title: "Data", link: (row) => `explore.html#${new URLSearchParams({ data: row.dataset })}` },
    { key: "answer", title: "Answer, to the end", number: true, show: marked },
    { key: "train", title: "Training, to the end", number: true, show: marked },
    { key: "updates_per_s", title: "Updates", number: true, show: (value) => mf.si(value,
      "/s") },
    { key: "method", title: "Method" }, { key: "family", title: "Family" },
    { key: "hardware", title: "Device" }, { key: "precision", title: "Precision" },
    { key: "seeds", title: "Seeds", number: true },
    { key: "best", title: "Best on test", number: true, show: mf.fixed(4) },
    ...["named", "stricter", "strictest"].map((level) => ({
      key: `at_${level}`, title: `Answer to ${level}`, number: true,
      show: (value, row) => (row[`value_${level}`] === null ? "–" :
        `${row[`value_${level}`]}: ${mf.duration(value)}`) })),
    { key: "on_test", title: "Watched test", number: true, show: (value) => (value ? `${value} of them` :
        "0") },
    { key: "contended", title: "Contended", number: true, show: (value) => (value ? `${value} †` :
        "0") },
    { key: "status", title: "Status" }, { key: "algorithm", title: "Name in specs" }]
      .map((column) => ({ ...column, hidden: true })),
  ];
  const FIRST = columns.filter((column) => !column.hidden);
  let [shown, folded] = [rows, new Map()];

  // ---- a row an algorithm, its best; the others of its configurations unfold below it ----
  const keyOf = (row) => `${row.group} ${row.name}`;
  const ahead = (a, b) => (a.answer_to_target ?? Infinity) < (b.answer_to_target ?? Infinity) ||
    (a.answer_to_target === b.answer_to_target && better(a, b));

  function nameOf(row) {
    const others = (folded.get(keyOf(row)) || []).length - 1;
    if (others < 1) return mf.el("span", {}, row.name);
    return mf.el("span", { class: "nowrap" }, `${row.name} `, mf.el("button", { type: "button", class: "fold", "aria-expanded": "false",
      "aria-label": `${others} more of ${row.name}`, onclick: (event) => unfold(event.currentTarget, row) }, `+${others}`));
  }

  function unfold(button, row) {
    const line = table.row(button.closest("tr"));
    const open = line.child.isShown();
    if (open) line.child.hide();
    else line.child(others(row)).show();
    button.setAttribute("aria-expanded", String(!open));
  }

  function others(best) {
    const parts = FIRST.slice(1);
    const own = folded.get(keyOf(best)).filter((row) => row !== best).sort((a, b) => (ahead(a, b) ? -1 : ahead(b, a) ? 1 : 0));
    const cell = (column, row) => mf.el("td", { class: column.number ? "number" : null }, column.show ?
      column.show(row[column.key], row) : mf.plain(row[column.key]));
    return mf.scroll(`more of ${best.name}`, mf.el("table", { class: "plain" },
      mf.el("thead", {}, mf.el("tr", {}, ...parts.map((column) => mf.el("th", { scope: "col", class: column.number ? "number" : null },
        column.title)))),
      mf.el("tbody", {}, ...own.map((row) => mf.el("tr", {}, ...parts.map((column) => cell(column, row)))))));
  }

  function fold(fitting) {
    shown = fitting;
    folded = new Map();
    for (const row of fitting) folded.set(keyOf(row), [...(folded.get(keyOf(row)) || []), row]);
    for (const own of folded.values()) own.sort((a, b) => (ahead(a, b) ? -1 : ahead(b, a) ? 1 : 0));
    table.rows().every(function() { this.child.remove(); });
    table.rows().invalidate().draw();
    showColumns();
  }

  // The target, if it is one of all that is shown.
  function goal() {
    const goals = new Set(shown.map((row) => (row.target === null ? "no target" : `${row.metric} ${row.less ? "≤" : "≥"} ${row.target}`)));
    return goals.size === 1 ? [...goals][0] : "target";
  }

  // Data and metric where they differ among what is shown; the others as the box says.
  function showColumns() {
    for (const [key, words] of [["answer_to_target", "Answer"], ["train_to_target", "Training"]]) table.column(`${key}:name`).title(`${words} to ${goal()}`);
    const several = (key) => new Set(shown.map((row) => row[key])).size > 1;
    for (const { key, hidden } of columns) {
      table.column(`${key}:name`).visible(!hidden || mf.by("more").checked || (["dataset", "metric"].includes(key) && several(key)));
    }
  }

  const csv = () => [columns.map((column) => column.key), ...shown.map((row) => columns.map((column) => row[column.key]))]
    .map((cells) => cells.map(mf.csvCell).join(",")).join("\r\n") + "\r\n";

  const table = mf.table(mf.by("board"), columns, rows, { label: "Leaderboard", order: [
      [columns.findIndex((column) => column.key === "dataset"), "asc"],
      [columns.findIndex((column) => column.key === "answer_to_target"), "asc"]
    ] });
  table.search.fixed("folded", (text, row) => (folded.get(keyOf(row)) || [])[0] === row);
  mf.by("more").addEventListener("change", showColumns);
  mf.by("csv").addEventListener("click", () => mf.download("leaderboard.csv", csv()));
  const [{ dataset }] = rows;
  const filter = () => mf.filters(mf.by("filters"), table, columns, rows,
    ["dataset", "machine", "hardware", "family", "algorithm", "factors", "precision", "method"], fold, { dataset });
  // The data set that the page begins with is there at once; the others follow.
  if (!mf.address().size) {
    filter();
    document.documentElement.dataset.begun = "";
  }
  mf.unpack("data/board_rest.js").then((rest) => {
    table.rows.add(rest);
    rows.push(...rest);
    mf.store.board = rows.sort(inOrder);
    filter();
    mf.ready();
  });
})();
