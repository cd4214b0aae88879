"use strict";
(() => {
  const studies = mf.store.tuning;
  const nameOf = (study) => `${study.study}, ${study.run}`;
  const duration = { key: "seconds", title: "Time", number: true, show: mf.duration };
  const score = { key: "score", title: "Validation", number: true, show: mf.fixed(4) };
  mf.table(mf.by("studies"), [
    { key: "study", title: "Search", wide: true, link: (row) => `#${new URLSearchParams({ study: nameOf(row) })}` },
    { key: "runs", title: "Trials", number: true }, duration,
    { key: "chosen", title: "Chosen", wide: true }, { key: "metric", title: "By" }, score,
    { key: "edges", title: "At an edge" }, { key: "out_of_budget", title: "Budget spent" }, mf.RUN,
  ], studies, { label: "Searches", length: 10 });
  const rows = studies.flatMap((study) => study.trials.map((trial) => ({ ...trial, study: nameOf(study), less: study.less })));
  const columns = [
    { key: "study", title: "Search", wide: true }, { key: "trial", title: "Trial", number: true },
    { key: "values", title: "Parameters", wide: true }, score, { key: "epochs", title: "Epochs", number: true },
    { key: "status", title: "Status" }, { key: "reason", title: "Ended because", wide: true }, duration,
  ];
  const table = mf.table(mf.by("trials"), columns, rows, { label: "Trials" });
  mf.filters(mf.by("filters"), table, columns, rows, ["study", "status"], (shown) => {
    const one = new Set(shown.map((row) => row.study)).size === 1;
    table.column("study:name").visible(!one);
    if (one) table.order([3, shown[0].less ? "asc" : "desc"]).draw();
  }, { study: studies.length ? nameOf(studies[0]) : "" });
  addEventListener("hashchange", () => location.reload());
  mf.ready();
})();
