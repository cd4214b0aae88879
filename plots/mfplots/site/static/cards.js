"use strict";
(() => {
  const { over, cards, rows, picture } = mf.store.cards;
  const times = (clock) => (value, row) => (value === null ? "–" : mf.significant(value) +
    (row[`${clock}_low`] === null ? "" : ` [${mf.significant(row[`${clock}_low`])}, ${mf.significant(row[`${clock}_high`])}]`));
  const both = (name, show) => (value, row) => `${show(row[`${name}_over`])} → ${show(value)}`;
  const columns = [
    { key: "dataset", title: "Data" }, { key: "label", title: "Configuration", wide: true },
    { key: "card", title: "Card" }, { key: "runs", title: "Runs", number: true },
    { key: "train_s_x", title: "Training, times as fast", number: true, show: times("train_s") },
    { key: "answer_s_x", title: "Answer, times as fast", number: true, show: times("answer_s") },
    { key: "memory_ratio", title: "Memory rate, times", number: true, show: (value) => mf.significant(value) },
    { key: "tensor_ratio", title: "Tensor cores, times", number: true, show: (value) => mf.significant(value) },
    { key: "answer_s", title: "Answer", number: true, show: both("answer_s", mf.duration) },
    { key: "file_to_model_s", title: "File to model", number: true, show: both("file_to_model_s", mf.duration) },
    { key: "energy_j", title: "Energy", number: true, show: both("energy_j", (value) => mf.si(value, "J")) },
  ];
  const rate = (value, unit) => (value === null ? "unknown" : mf.si(value, unit));
  mf.by("about").textContent = `Times as fast as on ${over}. ` + cards.map((card) =>
    `${card.card}: memory ${rate(card.memory_bytes_per_s.value, "B/s")}, ` +
    `tensor cores ${rate(card.tensor_flops_per_s.value, "FLOP/s")}, commits ${card.commits.join(", ")}`).join("; ") + ".";
  mf.by("picture").hidden = !picture;
  const table = mf.table(mf.by("cards"), columns, rows, { label: "Cards" });
  mf.filters(mf.by("filters"), table, columns, rows, ["dataset", "card"]);
  mf.ready();
})();
