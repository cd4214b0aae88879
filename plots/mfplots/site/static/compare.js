"use strict";
(() => {
  const pairs = mf.store.pairs;
  const valueOf = (part) => (part === null ? null : part.ratio ?? part.difference ?? null);
  const ratio = (part) => (value, row) => (valueOf(row[part]) === null ? "–" :
    mf.significant(valueOf(row[part])) + (row[part].low === null ? "" :
      ` [${mf.significant(row[part].low)}, ${mf.significant(row[part].high)}]`));
  const columns = [
    { key: "place", title: "No.", number: true }, { key: "label", title: "Configuration", wide: true }, { key: "verdict", title: "Verdict", mid: true },
    { key: "answer", title: "Answer, second over first", number: true, show: ratio("answer_time") },
    { key: "epoch", title: "Epoch, second over first", number: true, show: ratio("epoch_time") },
    { key: "toTarget", title: "Training to target", number: true, show: ratio("target_time") },
    { key: "difference", title: "Quality, second less first", number: true, show: ratio("quality") },
    { key: "runs", title: "Runs" },
    { key: "first", title: "Answer, first", number: true, show: mf.duration },
    { key: "second", title: "Answer, second", number: true, show: mf.duration },
  ];
  let shown = null;
  let said = null; // by mfbench compare

  function choose(index) {
    shown = pairs[index];
    said = shown.said;
    const about = mf.by("about");
    about.textContent = `First: ${shown.first}. Second: ${shown.second}. ${shown.shared} cases with the same hash. `;
    if (said.problem) {
      about.append(said.problem);
      mf.by("rows").replaceChildren();
      mf.by("figure").hidden = true;
      return;
    }
    const sides = [said.first, said.second];
    about.append(`Times within ${100 * said.margin} % and values within ${100 * said.quality_margin} % are the same. ` +
      `Commits ${sides.map((side) => side.commits.join(", ")).join(" and ")}, on ${sides.map((side) => side.machines.join(", ")).join(" and ")}. ${counts(said.rows)}`
      );
    const leftOut = sides.flatMap((side) => side.left_out);
    if (leftOut.length) about.append(` Left out: ${leftOut.join("; ")}.`);
    const rows = said.rows.map((row, i) => ({ ...row, place: i + 1, answer: valueOf(row.answer_time),
      epoch: valueOf(row.epoch_time), toTarget: valueOf(row.target_time), difference: valueOf(row.quality),
      runs: `${row.epoch_time.first.runs} and ${row.epoch_time.second.runs}`, first: row.answer_time.first.middle,
      second: row.answer_time.second.middle
    }));
    mf.table(mf.by("rows"), columns, rows, { label: "Comparison" });
    draw();
  }

  function counts(rows) {
    const found = new Map();
    for (const row of rows) found.set(row.verdict, (found.get(row.verdict) || 0) + 1);
    return [...found].map(([verdict, n]) => `${verdict}: ${n}`).join("; ") + ".";
  }

  // By the number of its row in the table where there is no room for names.
  function placed(row) {
    const place = said.rows.indexOf(row) + 1;
    if (innerWidth <= 700) return String(place);
    return mf.figureText(row.label.length > 72 ? `${row.label.slice(0, 70)}…` : row.label);
  }

  function draw() {
    if (!said || said.problem) return;
    mf.by("figure").hidden = false;
    const rows = said.rows.filter((row) => valueOf(row.answer_time) !== null);
    const parts = [
      ["answer_time", "answer", "circle", "#0072B2"],
      ["epoch_time", "epoch", "diamond", "#D55E00"]];
    const traces = parts.map(([part, name, symbol, colour]) => {
      const own = rows.filter((row) => valueOf(row[part]) !== null);
      return {
        type: "scatter", mode: "markers", name, x: own.map((row) => valueOf(row[part])),
        y: own.map((row) => rows.indexOf(row) + 1),
        error_x: {
          type: "data", symmetric: false,
          array: own.map((row) => (row[part].high ?? valueOf(row[part])) - valueOf(row[part])),
          arrayminus: own.map((row) => valueOf(row[part]) - (row[part].low ?? valueOf(row[part]))), thickness: 1.2,
          width: 3
        },
        marker: { symbol, color: colour, size: 8 }, text: own.map((row) => mf.figureText(row.label)),
        hovertemplate: `%{text}<br>${name} %{x:.3f}<extra></extra>`
      };
    });
    const band = { type: "rect", yref: "paper", y0: 0, y1: 1, x0: 1 - said.margin, x1: 1 + said.margin, fillcolor: mf.style("--accent"), opacity: 0.18, line: { width: 0 } };
    mf.draw(mf.by("figure"), traces, mf.layout({
      shapes: [band], height: Math.max(300, Math.min(1200, 60 + 14 * rows.length)), showlegend: true,
      legend: { orientation: "h", y: 1.08 }, xaxis: mf.axis("time, second over first", { type: "log" }),
      yaxis: mf.axis("", {
        autorange: "reversed", showgrid: false, tickfont: { size: 11 }, tickvals: rows.map((row, i) => i + 1),
        ticktext: rows.map((row) => placed(row))
      })
    }));
  }
  const select = mf.by("pair");
  select.append(...pairs.map((pair, i) => mf.option(i, `${pair.first} and ${pair.second} (${pair.shared})`)));
  select.addEventListener("change", () => {
    choose(Number(select.value));
    history.replaceState(null, "", `#${new URLSearchParams({ first: shown.first, second: shown
      .second })}`);
  });
  mf.redraw = draw;
  // The pair that the address names, or the first.
  function follow() {
    const asked = mf.address();
    const named = pairs.findIndex((pair) => pair.first === asked.get("first") && pair.second ===
      asked.get("second"));
    select.value = String(Math.max(named, 0));
    choose(Math.max(named, 0));
  }
  addEventListener("hashchange", () => pairs.length && follow());
  if (pairs.length) follow();
  else {
    mf.by("about").textContent = "No two folders of this report share a case; --compare FIRST SECOND names two.";
    mf.by("figure").hidden = true;
  }
  mf.ready();
})();