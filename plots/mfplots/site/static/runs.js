"use strict";
(() => {
  const rows = mf.store.board;
  const spread = (value, row) => {
    const digits = mf.fixed(4);
    return row.finished < 3 || value === null ? digits(value) :
      `${digits(value)} [${digits(row.low)}, ${digits(row.high)}]`;
  };
  const marked = (value, row) => mf.duration(value) + (value === null ? "" :
    `${row.contended ? " †" : ""}${row.restarts ? " ‡" : ""}`);
  const columns = [
    { key: "algorithm", title: "Algorithm" },
    { key: "configuration", title: "Configuration", wide: true },
    { key: "factors", title: "f", number: true },
    { key: "answer_to_target", title: "Answer to target", number: true, show: marked },
    { key: "train_to_target", title: "Training to target", number: true, show: marked },
    { key: "target", title: "Target", number: true, show: mf.plain },
    { key: "reached", title: "Got there", number: true, show: (value, row) =>
        `${value} of ${row.finished}` },
    { key: "met_epoch", title: "At epoch", number: true, show: (value, row) =>
        mf.atEpoch(value, row.looked_before) },
    { key: "quality", title: "Quality [min, max]", number: true, show: spread },
    { key: "metric", title: "Value" },
    { key: "machine", title: "Hardware" },
    { key: "dataset", title: "Data", link: (row) => `explore.html#${new URLSearchParams({ data: row.dataset })}` },
    mf.RUN,
    { key: "answer", title: "Answer, to the end", number: true, show: marked },
    { key: "train", title: "Training, to the end", number: true, show: marked },
    { key: "updates_per_s", title: "Updates", number: true, show: (value) => mf.si(value,
      "/s") },
    { key: "method", title: "of", filter: "Updates of" }, { key: "family", title: "Family" },
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
    { key: "status", title: "Status" },
  ];
  const table = mf.table(mf.by("board"), columns, rows, { label: "Leaderboard", order: [
      [11, "asc"],
      [3, "asc"]
    ] });
  mf.filters(mf.by("filters"), table, columns, rows,
    ["dataset", "machine", "hardware", "family", "algorithm", "factors", "precision", "method"],
    (shown) => ["dataset", "metric"].forEach((key) => table.column(`${key}:name`).visible(new Set(
      shown.map((row) => row[key])).size > 1)), { dataset: (rows.find((row) => row.group === 0) || {}).dataset });
  mf.ready();
})();