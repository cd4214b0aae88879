"use strict";
(() => {
  const rows = mf.store.failures;
  const columns = [
    { key: "kind", title: "What" },
    { key: "case", title: "Case", wide: true, link: (row) => (row.begun ? `case.html#${row.key}` : "") },
    { key: "why", title: "Why", wide: true },
    { key: "algorithm", title: "Algorithm" }, { key: "dataset", title: "Data" },
    { key: "hardware", title: "Device" }, { key: "epochs", title: "Epochs", number: true },
    mf.RUN,
  ];
  const table = mf.table(mf.by("failures"), columns, rows, { label: "Failures", empty: "Nothing failed." });
  mf.filters(mf.by("filters"), table, columns, rows, ["kind", "algorithm", "dataset", "run"]);
  mf.ready();
})();