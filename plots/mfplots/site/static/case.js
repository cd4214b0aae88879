"use strict";
(() => {
  // Stack colours of mfplots' clocks are those of the palette, in the order of the clocks.
  const COLOURS = ["#6E6E6E", "#56B4E9", "#E69F00", "#CC79A7", "#0072B2", "#009E73", "#999933", "#D55E00", "#A6A6A6"];
  let shown = null;
  const host = mf.by("case");

  async function follow() {
    const key = location.hash.slice(1);
    if (!/^[0-9a-f]{12}$/.test(key)) return say("No case is named in the address.");
    shown = (await mf.unpack(`data/cases/${key.slice(0, 3)}.js`).catch(() => ({})))[key];
    if (!shown) return say("There is no such case in this report.");
    show();
    mf.ready();
  }
  const say = (text) => { host.replaceChildren(mf.el("p", {}, text));
    mf.ready(); };

  function show() {
    document.querySelector("h1").textContent = shown.case;
    document.title = `${shown.case} - mfbench report`;
    host.replaceChildren(mf.el("p", { class: "lead" }, `${shown.algorithm} on ${shown.dataset}`, mf.el("br"), mf.el(
        "span", { class: `tag status-${/^[a-z]+$/.test(shown.status) ? shown.status : "other"}` },
          shown.status), ` ${shown.reason}`),
      ...(shown.contended.length ? [mf.el("p", {}, mf.el("span", { class: "tag status-other" },
        "contended †"), ` ${shown.contended.join("; ")}`)] : []),
      ...(shown.restarts ? [mf.el("p", {}, mf.el("span", { class: "tag status-other" },
        "single runs ‡"), " Each point is a run from the start, with the time of its own.")] : []),
      mf.el("p", { class: "buttons" }, mf.el("button", { type: "button", id: "download-jsonl",
        onclick: () => mf.download(shown.file, shown.raw) }, "Result file (JSONL)"),
        mf.el("a", { href: `cases.html#${new URLSearchParams({ run: shown.run })}` }, `All of ${shown.run}`)),
      part("Curve", mf.el("label", { class: "note" }, mf.el("input", { type: "checkbox", id: "logx",
          onchange: draw }), " log time"), mf.el("div", { id: "figure", class: "figure",
        role: "img", "aria-label": "Curve; the table below has its numbers" }),
        ...(rowsOf(shown.trace).length ? [mf.el("details", {}, mf.el("summary", {}, "Its numbers"), traceTable())] : [])),
      part("Where the time went", mf.el("div", { id: "clocks", class: "figure",
      role: "img", "aria-label": "Clocks; the table below has the numbers" }), clockTable()),
      ...shown.sections.filter((section) => section.title === "Parameters").map((section) => part(section.title,
        pairs(section.rows))),
      part("Repeat it", mf.el("pre", { tabindex: "0" }, shown.repeat.join("\n"))),
      ...(shown.phases.length ? [folded("Phases", phaseTable())] : []),
      ...shown.sections.filter((section) => section.title !== "Parameters").map((section) => folded(section.title,
        pairs(section.rows))));
    draw();
  }
  const part = (title, ...children) => mf.el("section", {}, mf.el("h2", {}, title), ...children);
  const folded = (title, ...children) => mf.el("details", { class: "folded" }, mf.el("summary", {}, title), ...children);
  const words = (clock) => clock.replace(/_s$/, "").replaceAll("_", " ");
  const pairs = (rows) => mf.scroll("", mf.el("table", { class: "plain" }, mf.el("tbody", {}, ...rows
    .map(([name, value]) => mf.el("tr", {}, mf.el("th", { scope: "row" }, name), mf.el("td", {}, value))))));
  const grid = (heads, rows) => mf.scroll("", mf.el("table", { class: "plain" },
    mf.el("thead", {}, mf.el("tr", {}, ...heads.map((head, i) => mf.el("th", { scope: "col", class: i ? "number" : null }, head)))),
    mf.el("tbody", {}, ...rows.map((row) => mf.el("tr", {}, ...row.map((cell, i) => mf.el(
      "td", i ? { class: "number" } : {}, mf.plain(cell))))))));
  const rowsOf = (trace) => (Object.values(trace)[0] || []).map((_, i) => Object.keys(trace).map((key) => trace[key][i]));
  const traceTable = () => grid(Object.keys(shown.trace), rowsOf(shown.trace));
  const clockTable = () => grid(["clock", "time", "share of the wall clock"], [...shown.clocks
    .filter(([, s]) => s !== null).map(([name, s]) => [words(name), mf.duration(s), shown.wall ? mf
      .percent(s / shown.wall) : "–"]), ["wall", mf.duration(shown.wall), ""], ...shown.shared.map(([clock, what, s]) => [
      `${words(clock)}, of an earlier case that shares it: ${what}`, mf.duration(s), ""])]);
  const phaseTable = () => grid(["phase", "host", "by the device's events", "count"], shown.phases
    .map(([name, s, device, count]) => [name, mf.duration(s), mf.duration(device), count]));

  function draw() {
    if (!shown) return;
    const t = shown.trace;
    const names = shown.metrics;
    const seconds = t.answer_s ? "answer_s" : "train_s";
    const colour = mf.colour(shown);
    const traces = names.map((name, i) => ({
      type: "scatter",
      mode: shown.restarts ? "markers" : "lines+markers",  // each point is a run of its own
      name: shown.titles[name], x: t[seconds], y: t[name], line: { color: colour, width: 2, dash: mf.dash(i) },
      marker: { color: colour, size: 6, symbol: mf.symbol("o", i) }, customdata: t.epoch,
      hovertemplate: `epoch %{customdata}<br>%{x:.4g} s, ${shown.titles[name]} %{y:.5g}<extra></extra>`
    }));
    if (traces.length) mf.draw(mf.by("figure"), traces, mf.layout({
      height: 380, showlegend: traces.length > 1, legend: { orientation: "h", y: 1.12 },
      xaxis: mf.axis(seconds === "answer_s" ? "prepare + transfer + training (s)" :
        "training (s)", { type: mf.by("logx").checked ? "log" : "linear" }),
      yaxis: mf.axis(names.length ? shown.titles[names[0]] : "")
    }));
    else mf.nothing(mf.by("figure"), "It has no trace.");
    const bars = shown.clocks.map(([name, s], i) => ({
      type: "bar", orientation: "h", name: words(name), x: [s || 0], y: [""],
      marker: { color: COLOURS[i % COLOURS.length], line: { color: mf.style("--page"), width: 1 } },
      hovertemplate: `${words(name)} %{x:.4g} s<extra></extra>`
    }));
    mf.draw(mf.by("clocks"), bars.filter((bar) => bar.x[0] > 0), mf.layout({
      barmode: "stack", height: innerWidth < 700 ? 260 : 200, showlegend: true,
      margin: { l: 12, r: 12, t: innerWidth < 700 ? 110 : 70, b: 48 },
      legend: { orientation: "h", x: 0, y: 1.05, yanchor: "bottom", traceorder: "normal" },
      xaxis: mf.axis("seconds of the wall clock", { nticks: 6 }), yaxis: { visible: false }
    }));
  }
  mf.redraw = draw;
  addEventListener("hashchange", follow);
  follow();
})();