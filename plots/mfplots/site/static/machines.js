"use strict";
(() => {
  const { rows, ceilings } = mf.store.speed;
  const columns = [
    { key: "algorithm", title: "Algorithm" },
    { key: "configuration", title: "Configuration", mid: true },
    { key: "dataset", title: "Data", link: (row) => `explore.html#${new URLSearchParams({ data: row.dataset })}` },
    { key: "flops_per_s", title: "Operations", number: true, show: (value) => mf.si(value, "FLOP/s") },
    { key: "flops_share", title: "Of ceiling", number: true, show: (value, row) => mf.percent(value) +
        (value !== null && row.tensor ? " (tensor)" : "") },
    { key: "bytes_per_s", title: "Bytes", number: true, show: (value) => mf.si(value, "B/s") },
    { key: "bytes_share", title: "Of copy", number: true, show: mf.percent },
    { key: "intensity", title: "FLOP a byte", number: true, show: (value) => mf.significant(value) },
    { key: "updates_per_s", title: "Updates", number: true, show: (value) => mf.si(value, "/s") },
    { key: "rows_share", title: "Of random rows", number: true, show: mf.percent },
    { key: "factors", title: "f", number: true },
    { key: "seeds", title: "Seeds", number: true },
    { key: "machine", title: "Hardware", show: mf.machine },
    { key: "method", title: "Method", hidden: true }, { key: "precision", title: "Precision", hidden: true },
    mf.RUN,
  ];
  let shown = rows;

  function sayCeilings() {
    const host = mf.by("ceilings");
    for (const known of ceilings.filter((c) => rows.some((row) => row.device === c.machine))) {
      host.append(mf.el("p", {}, mf.el("b", {}, known.machine),
          `: copy ${mf.si(known.bytes_per_s, "B/s")} read and written, fp32 ${mf.si(known.flops_per_s, "FLOP/s")}, ` +
          `${known.tensor_flops_per_s === null ? "tensor cores not measured" : `fp16 on tensor cores ${mf.si(known.tensor_flops_per_s, "FLOP/s")}`} ` +
          `(${known.source}).`),
        mf.el("details", {}, mf.el("summary", {}, "All that was measured there"),
          mf.el("pre", { tabindex: "0" }, known.lines.join("\n"))));
    }
    const without = [...new Set(rows.map((row) => row.device))].filter((name) => !ceilings.some((c) => c.machine === name));
    if (without.length) host.append(mf.el("p", { class: "note" },
      `Not known: the ceilings of ${without.join("; ")}; no file has them.`));
  }

  const measured = new Set(ceilings.map((c) => c.machine));
  const drawable = (row) => row.flops_per_s !== null && row.intensity !== null &&
    !(row.tensor && row.flops_share === null && measured.has(row.device));

  // One GPU whose ceilings are known, its tensor cores' if any's are; of several the one with most points.
  function usualMachine() {
    const tensor = new Set(ceilings.filter((c) => c.tensor_flops_per_s !== null).map((c) => c.machine));
    const points = new Map();
    for (const row of rows) {
      if (drawable(row) && row.gpus === 1 && measured.has(row.device)) points.set(row.machine, [...(points.get(row.machine) || []), row]);
    }
    const rank = ([, own]) => own.length + (tensor.has(own[0].device) ? rows.length : 0);
    return [...points].sort((a, b) => rank(b) - rank(a)).map(([name]) => name)[0];
  }

  function draw(now) {
    shown = now;
    const known = shown.filter(drawable);
    const by = new Map();
    for (const row of known) by.set(row.algorithm, [...(by.get(row.algorithm) || []), row]);
    const traces = [...by].map(([name, own]) => ({
      type: "scatter", mode: "markers", name: mf.figureText(name), x: own.map((row) => row.intensity),
      y: own.map((row) => row.flops_per_gpu),
      marker: { color: mf.colour(own[0]), symbol: own.map((row) => mf.symbol(row.marker,
          row.hardware === "cuda" ? 0 : 1)), size: 9, opacity: 0.85 },
      text: own.map((row) => mf.figureText(`${row.algorithm} ${row.configuration}`) +
        `<br>${mf.figureText(row.dataset)}, ${mf.figureText(row.machine)}<br>` +
        `${mf.si(row.bytes_per_s, "B/s")} (${mf.percent(row.bytes_share)}), ${mf.si(row.flops_per_s, "FLOP/s")} (${mf.percent(row.flops_share)})`
        ),
      hovertemplate: "%{text}<extra></extra>"
    }));
    const small = innerWidth < 700;
    const legend = small ? { orientation: "h", y: -0.2, font: { size: 11 }, entrywidth: 0.5, entrywidthmode: "fraction" } :
  { font: { size: 12 } };
    mf.draw(mf.by("figure"), [...roofs(known), ...traces], mf.layout({
      height: small ? 620 : 540, showlegend: true, legend,
      xaxis: mf.axis("operations a byte, as declared", { type: "log" }),
      yaxis: mf.axis(known.some((row) => row.gpus > 1) ? "FLOP/s a device" : "FLOP/s", { type: "log", dtick: 1, tickformat: "~s" })
    }));
  }

  function roofs(known) {
    const xs = known.map((row) => row.intensity);
    if (!xs.length) return [];
    const roof = (c, top, what, dash) => {
      const knee = top / c.bytes_per_s;
      const ends = [Math.min(...xs, knee) / 2, knee, Math.max(...xs, knee) * 2];
      return {
        type: "scatter", mode: "lines", name: mf.figureText(`${mf.machine(c.machine)}: ${what}`), x: ends,
        y: ends.map((x) => Math.min(x * c.bytes_per_s, top)), hoverinfo: "name",
        line: { color: mf.style("--text"), width: 2, dash }
      };
    };
    return ceilings.filter((c) => known.some((row) => row.device === c.machine)).flatMap((c, i) => [
      roof(c, c.flops_per_s, "fp32", ["dash", "dot"][i % 2]),
      ...(c.tensor_flops_per_s === null ? [] : [roof(c, c.tensor_flops_per_s, "tensor cores", "solid")])]);
  }
  sayCeilings();
  const table = mf.table(mf.by("rates"), columns, rows, { label: "Rates", order: [
      [3, "desc"]] });
  mf.redraw = () => draw(shown);
  mf.filters(mf.by("filters"), table, columns, rows, ["machine", "dataset", "method", "family", "algorithm", "precision"
  ], draw, { machine: usualMachine() });
  mf.ready();
})();