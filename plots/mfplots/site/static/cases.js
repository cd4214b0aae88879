"use strict";
(() => {
  const rows = mf.store.cases;
  const columns = [
    { key: "case", title: "Case", wide: true, link: (row) => (row.begun ? `case.html#${row.key}` : "") },
    { key: "algorithm", title: "Algorithm" }, { key: "dataset", title: "Data" },
    { key: "hardware", title: "Device" }, { key: "seed", title: "Seed", number: true },
    { key: "status", title: "Status" }, { key: "epochs", title: "Epochs", number: true },
    { key: "quality", title: "Quality", number: true, show: mf.fixed(4) },
    { key: "train", title: "Training", number: true, show: mf.duration },
    { key: "wall", title: "Wall", number: true, show: mf.duration },
    { key: "run", title: "Results" },
  ];
  const table = mf.table(mf.by("cases"), columns, rows, { label: "Cases" });
  mf.filters(mf.by("filters"), table, columns, rows, ["run", "dataset", "algorithm", "hardware", "status"]);
  mf.ready();
})();