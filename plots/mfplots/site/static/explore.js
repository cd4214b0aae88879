"use strict";
// Curves of a data set, with a target that can be moved.
mf.explore = (() => {
  const state = { group: null, shown: new Set(), target: null, metric: null, table: null, drawing: null };
  const control = (id) => mf.by(id);
  const less = (metric) => mf.store.explore.less.includes(metric);

  // ---- the curves of one data set ----
  async function choose(index) {
    const group = await mf.unpack(`data/groups/${index}.js`);
    state.group = group;
    giveColours(group.series);
    control("data").value = group.title;
    fill("machine", [...new Set(group.series.map((s) => s.bench))]);
    fill("run", [...new Set(group.series.map((s) => s.run))]);
    fill("factors", [...new Set(group.series.filter((s) => s.sized).map((s) => String(s.factors)))].sort((a, b) => a - b));
    control("machine").value = group.usual.machine;
    control("factors").value = group.usual.factors;
    control("metric").replaceChildren(...group.metrics.map((m) => mf.option(m, mf.store.explore.metrics[m])));
    control("metric").value = group.metric;
    about(group);
    useMetric();
  }
  // One colour a name: that of the palette, or one that it leaves, where a faster name has it already.
  const SPARE = ["#117733", "#AA4499", "#6699CC", "#CC6677", "#44AA99", "#8C6D31", "#7A5FD0", "#B35C44"];

  function giveColours(all) {
    const taken = new Map();
    for (const series of all) {
      if (!taken.has(series.name)) {
        const used = [...taken.values()].map((own) => own.colour);
        const spare = used.includes(series.colour) && SPARE.find((colour) => !used.includes(colour));
        taken.set(series.name, spare ? { colour: spare, dark: spare } : { colour: series.colour, dark: series.dark });
      }
      Object.assign(series, taken.get(series.name));
    }
  }
  const fill = (id, values) => control(id).replaceChildren(mf.option("", "all"), ...values.map((value) => mf.option(value, value)));

  function about(group) {
    const sizes = group.sizes;
    const said = sizes.n_users === null ? "No case of it loaded its ratings: see Failures." :
      `${sizes.n_users.toLocaleString("en")} users, ${sizes.n_items.toLocaleString("en")} items, ` +
      `${sizes.nnz_train.toLocaleString("en")} training and ${sizes.nnz_test.toLocaleString("en")} test ratings.`;
    const target = group.target === null ? "" : group.target_named ? " The target is the one most results name" :
      " No result names a target: this one is frozen, or 5 % short of the best";
    const others = group.targets.length ? `; also named: ${group.targets.join(", ")}` : "";
    mf.by("about").textContent = said + target + (target ? `${others}.` : "");
  }

  function useMetric() {
    state.metric = control("metric").value || state.group.metric;
    const own = state.metric === state.group.metric ? state.group.target : null;
    state.target = own === null ? middle() : own;
    control("target").value = state.target === null ? "" : state.target;
    moveSlider();
    narrow();
  }
  // Between the best value and what the series end at.
  function middle() {
    const [low, high] = ends();
    return Number.isFinite(low) ? Number((less(state.metric) ? low + 0.1 * (high - low) : high -
      0.1 * (high - low)).toPrecision(4)) : null;
  }

  function ends() {
    let low = Infinity;
    let high = -Infinity;
    for (const series of state.group.series) {
      for (const seed of series.seeds) {
        for (const value of (seed[state.metric] || []).slice(1)) {
          if (value === null) continue;
          low = Math.min(low, value);
          high = Math.max(high, value);
        }
      }
    }
    return [low, high];
  }

  // With the target in it, wherever that was typed.
  function slideRange() {
    const [low, high] = differing();
    const goal = state.target;
    return goal === null ? [low, high] : [Math.min(low, goal), Math.max(high, goal)];
  }

  function differing() {
    const [low, high] = ends();
    if (!Number.isFinite(low)) return [0, 1];
    const goal = state.group.target;
    const reach = goal === null || state.metric !== state.group.metric ? high - low :
      Math.max(4 * Math.abs(goal - (less(state.metric) ? low : high)), 0.01 * Math.abs(goal));
    return less(state.metric) ? [low, Math.min(high, low + reach)] : [Math.max(low, high - reach), high];
  }

  function moveSlider() {
    state.range = slideRange();
    const [low, high] = state.range;
    const slide = control("slide");
    slide.disabled = state.target === null;
    slide.value = high > low && state.target !== null ? Math.round(1000 * (state.target - low) / (high - low)) : 0;
    slide.setAttribute("aria-valuetext", state.target === null ? "none" : String(state.target));
  }

  const selected = () => state.group.series.filter((series) =>
    (!control("machine").value || series.bench === control("machine").value) &&
    (!control("factors").value || !series.sized || String(series.factors) === control("factors").value) &&
    (!control("run").value || series.run === control("run").value));
  const reach = (series, clock) => series.seeds.map((seed) => (state.target === null ? null :
    mf.timeToTarget(seed[clock], seed[state.metric], state.target, less(state.metric))));

  // A row a series, by the target as it stands.
  function rowOf(series) {
    const train = reach(series, "train_s");
    const answer = reach(series, "answer_s");
    const met = state.target === null ? null : mf.metAt(series.seeds, state.metric, state.target, less(state.metric));
    return {
      series, algorithm: series.name,
      configuration: series.configuration + mf.marks(series.label), run: series.run, machine: series.machine,
      precision: series.precision, factors: series.factors, seeds: series.seeds.length,
      reached: train.filter((t) => t !== null).length, met, epoch: met && met.epoch, best: series.best[state.metric],
      train: mf.censoredMedian(train), answer: mf.censoredMedian(answer)
    };
  }

  const columns = [
    { key: "shown", title: "Show", node: (row) => showBox(row.series) },
    { key: "algorithm", title: "Algorithm" },
    { key: "answer", title: "Answer to target", number: true, show: mf.duration },
    { key: "train", title: "Training to target", number: true, show: mf.duration },
    { key: "reached", title: "Got there", number: true, show: (value, row) => `${value} of ${row.seeds}` },
    { key: "epoch", title: "At epoch", number: true, show: (value, row) => mf.atEpoch(value, row.met && row.met.before) },
    { key: "best", title: "Quality", number: true, show: mf.fixed(4) },
    { key: "configuration", title: "Configuration", wide: true },
    { key: "factors", title: "f", number: true },
    { key: "machine", title: "Hardware", mid: true, show: mf.machine },
    mf.RUN,
  ];

  const placeOf = (key) => columns.findIndex((column) => column.key === key);

  function showBox(series) {
    const box = mf.el("input", {
      type: "checkbox",
      "aria-label": `Show ${series.label} of ${series.run}`,
      onchange: () => { box.checked ? state.shown.add(series) : state.shown.delete(series);
        draw(); }
    });
    box.checked = state.shown.has(series);
    return mf.el("span", { class: "nowrap" }, box, mf.swatch(series));
  }

  // So few that a legend names them all; libraries are always among them.
  const FIRST_SHOWN = 8;

  function narrow() {
    state.shown = new Set(fastestOfEach().filter((series, place) => place < FIRST_SHOWN || series.kind === "library"));
    tabulate(true);
    draw();
    remember();
  }
  // Of each algorithm the first by answer, the best where none gets there; the first of all first.
  function fastestOfEach() {
    const found = new Map();
    for (const row of selected().map(rowOf)) {
      if (row.best === null) continue;
      const before = found.get(row.series.name);
      if (!before || faster(row, before)) found.set(row.series.name, row);
    }
    return [...found.values()].sort((a, b) => (faster(a, b) ? -1 : faster(b, a) ? 1 : 0)).map((row) => row.series);
  }
  const faster = (a, b) => (a.answer ?? Infinity) < (b.answer ?? Infinity) ||
    ((a.answer ?? Infinity) === (b.answer ?? Infinity) && (less(state.metric) ? a.best < b.best : a.best > b.best));
  // Anew for other series; for another target the table stays as it was searched and paged.
  function tabulate(anew = false) {
    const rows = selected().map(rowOf);
    if (!anew) return state.table.clear().rows.add(rows).draw(false);
    state.table = mf.table(mf.by("series"), columns, rows, { label: "Series with times to the target", order: [
        [placeOf("answer"), "asc"],
        [placeOf("best"), less(state.metric) ? "asc" : "desc"]] });
  }

  // ---- the figure ----
  // Once a frame, however fast the line is dragged.
  function draw() {
    state.drawing ||= new Promise((frame) => requestAnimationFrame(frame)).then(() => {
      state.drawing = null;
      return drawNow();
    });
    return state.drawing;
  }

  function drawNow() {
    const clock = control("clock").value;
    const shown = selected().filter((series) => state.shown.has(series));
    const drawn = (make) => shown.map((series) => make(series, clock)).filter((trace) => trace !== null);
    const [bands, traces] = [drawn(bandOf), drawn(traceOf)];
    const host = mf.by("figure");
    if (!state.group.metrics.length) return mf.nothing(host, "No case of it has a trace.");
    host.classList.remove("empty");
    return mf.draw(host, [...bands, ...traces], layoutOf(traces, clock), true).then(() => listen(host));
  }

  function traceOf(series, clock) {
    const [x, y, low, high] = (series.curves[state.metric] || {})[clock] || [[], [], [], []];
    const log = control("logx").checked;
    const keep = x.map((value, i) => i).filter((i) => x[i] !== null && (!log || x[i] > 0));
    if (!keep.length) return null;
    const colour = mf.colour(series);
    const joined = !(series.restarts && ["answer_s", "train_s"].includes(clock));
    return {
      type: "scatter",
      mode: joined ? "lines+markers" : "markers",  // each point is a run of its own
      x: keep.map((i) => x[i]), y: keep.map((i) => y[i]), name: mf.figureText(short(series)),
      line: { color: colour, dash: mf.dash(series.variant), width: 2 },
      marker: { color: colour, size: 7, symbol: mf.symbol(series.marker, series.variant) },
      hovertemplate: `<b>${mf.figureText(series.label)}</b><br>${mf.figureText(series.run)}, ${mf.figureText(series.machine)}, ` +
        `n = ${series.seeds.length}<br>%{x:.4g}${clock === "epoch" ? " epochs" : " s"}, %{y:.5g}%{customdata}<extra></extra>`,
      customdata: keep.map((i) => (series.seeds.length < 3 ? "" :
        ` [${mf.significant(low[i], 5)}, ${mf.significant(high[i], 5)}]`))
    };
  }
  const short = (series) => {
    const label = [series.name, series.configuration].filter(Boolean).join(" ") + mf.marks(series.label);
    return label.length > 42 ? `${label.slice(0, 40)}…` : label;
  };

  // From the smallest to the largest of three seeds or more.
  function bandOf(series, clock) {
    const [x, , low, high] = (series.curves[state.metric] || {})[clock] || [[], [], [], []];
    const keep = x.map((value, i) => i).filter((i) => x[i] !== null && low[i] !== null && high[i] !== null &&
      (!control("logx").checked || x[i] > 0));
    if (series.seeds.length < 3 || series.restarts || keep.length < 2) return null;
    const back = [...keep].reverse();
    return {
      type: "scatter", mode: "lines", x: [...keep, ...back].map((i) => x[i]),
      y: [...keep.map((i) => high[i]), ...back.map((i) => low[i])], fill: "toself", fillcolor: `${mf.colour(series)}26`,
      line: { width: 0 }, hoverinfo: "skip", showlegend: false
    };
  }

  function layoutOf(traces, clock) {
    const names = { answer_s: "prepare + transfer + training (s)", train_s: "training (s)",
      wall_s: "wall time (s)", epoch: "epochs" };
    const narrowPage = innerWidth < 700;
    const line = state.target === null ? [] : [{
      type: "line", xref: "paper", x0: 0, x1: 1, yref: "y", y0: state.target, y1: state.target,
      line: { color: mf.style("--accent"), width: 2.5, dash: "dash" }
    }];
    const window = windowOf(traces);
    return mf.layout({
      shapes: line, showlegend: !narrowPage || traces.length <= FIRST_SHOWN, height: narrowPage ? 460 : 520,
      legend: narrowPage ? { orientation: "h", y: -0.22, font: { size: 11 } } :
      { font: { size: 12 } },
      xaxis: mf.axis(names[clock], timesOf(traces, window)),
      yaxis: mf.axis(mf.store.explore.metrics[state.metric], window)
    });
  }
  // The range in which the series differ: best and last values, the target, and of the descent what
  // most go through. The initial model, often far above, may fall outside.
  function windowOf(traces) {
    const log = control("logy").checked;
    const bests = traces.map((t) => t.y.reduce((a, b) => (less(state.metric) ? Math.min(a, b) :
      Math.max(a, b))));
    const starts = traces.map((t) => t.y[Math.min(1, t.y.length - 1)]).sort((a, b) => a - b);
    const goals = [...bests, ...traces.map((t) => t.y[t.y.length - 1]),
      ...(starts.length ? [starts[Math.floor(less(state.metric) ? 0.75 * (starts.length - 1) :
        0.25 * (starts.length - 1))]] : []), ...(state.target === null ? [] : [state.target])
    ].filter((v) => v !== null && (!log || v > 0));
    if (!goals.length) return { type: log ? "log" : "linear" };
    let [low, high] = [Math.min(...goals), Math.max(...goals)];
    if (log)[low, high] = [Math.log10(low), Math.log10(high)];
    const pad = 0.06 * (high - low) || 0.01;
    return { type: log ? "log" : "linear", range: [low - pad, high + pad] };
  }
  // From the last point above the window to the last of all.
  function timesOf(traces, window) {
    const log = control("logx").checked;
    if (!window.range || !log) return { type: log ? "log" : "linear" };
    const top = window.type === "log" ? 10 ** window.range[1] : window.range[1];
    const bottom = window.type === "log" ? 10 ** window.range[0] : window.range[0];
    const begins = traces.map((t) => t.x[Math.max(0, t.y.findIndex((y) => y <= top && y >=
      bottom))]);
    const ends = traces.flatMap((t) => t.x);
    if (!ends.length) return { type: "log" };
    const [low, high] = [Math.log10(Math.min(...begins)), Math.log10(Math.max(...ends))];
    const pad = 0.04 * (high - low) || 0.1;
    return { type: "log", range: [low - pad, high + pad] };
  }

  function listen(host) {
    if (host.dataset.listens) return;
    host.dataset.listens = "yes";
    host.on("plotly_relayout", (changed) => {
      if (changed["shapes[0].y0"] === undefined) return;
      // It is a line: whichever end was dragged.
      const ends = [changed["shapes[0].y0"], changed["shapes[0].y1"]].filter((v) => v !==
        undefined);
      setTarget(rounded(ends.reduce((a, b) => a + b, 0) / ends.length, Infinity));
    });
  }

  function setTarget(value, slid = false) {
    if (!Number.isFinite(value)) return;
    state.target = value;
    if (Number(control("target").value) !== state.target) control("target").value = state.target;
    if (slid) control("slide").setAttribute("aria-valuetext", String(state.target));
    else moveSlider();
    tabulate();
    draw();
    remember();
  }
  // As many digits as tell two places of the slider apart, five at least.
  function rounded(value, step) {
    const digits = Math.ceil(Math.log10(Math.abs(value) / step)) + 1;
    return Number(value.toPrecision(Math.min(Math.max(Number.isFinite(digits) ? digits : 5, 5), 15)));
  }

  function listenToControls() {
    control("controls").addEventListener("submit", (event) => event.preventDefault());
    // Another data set in the same view.
    control("data").addEventListener("change", () => {
      const said = new URLSearchParams({ data: control("data").value });
      for (const key of ["clock", "x", "y"]) {
        if (mf.address().has(key)) said.set(key, mf.address().get(key));
      }
      location.hash = said;
    });
    for (const id of ["machine", "factors", "run"]) control(id).addEventListener("change", narrow);
    control("metric").addEventListener("change", useMetric);
    for (const id of ["clock", "logx", "logy"]) control(id).addEventListener("change", () => {
      draw();
      remember();
    });
    control("target").addEventListener("change", () => { if (control("target").value !== "")
        setTarget(Number(control("target").value)); });
    control("slide").addEventListener("input", () => {
      const [low, high] = state.range;
      setTarget(rounded(low + (high - low) * Number(control("slide").value) / 1000, (high - low) / 1000), true);
    });
    const showing = (series) => { state.shown = new Set(series);
      tabulate();
      draw(); };
    control("best").addEventListener("click", () => showing(fastestOfEach()));
    control("all").addEventListener("click", () => showing(selected()));
    control("none").addEventListener("click", () => showing([]));
    addEventListener("hashchange", () => follow());
  }
  // ---- the address, which holds the view ----
  const CHOICES = ["machine", "factors", "run", "metric", "clock"];
  const usual = (id) => ({ metric: state.group.metric, clock: "answer_s", run: "", ...state.group.usual })[id];

  function remember() {
    const said = new URLSearchParams();
    for (const id of CHOICES) if (control(id).value !== usual(id)) said.set(id, control(id).value);
    const own = state.metric === state.group.metric ? state.group.target : null;
    if (state.target !== null && state.target !== own) said.set("target", state.target);
    if (!control("logx").checked) said.set("x", "linear");
    if (control("logy").checked) said.set("y", "log");
    if (!said.size && !mf.address().has("data")) return;
    history.replaceState(null, "", `#${new URLSearchParams([["data", state.group.title], ...said])}`);
  }

  function recall(asked) {
    const has = (id, value) => [...control(id).options].some((option) => option.value === value);
    for (const id of CHOICES) {
      if (asked.has(id) && has(id, asked.get(id))) control(id).value = asked.get(id);
    }
    if (!asked.has("clock")) control("clock").value = usual("clock");
    control("logx").checked = asked.get("x") !== "linear";
    control("logy").checked = asked.get("y") === "log";
    useMetric();
    if (asked.get("target")) setTarget(Number(asked.get("target")));
  }
  async function follow() {
    const asked = mf.address();
    const { groups } = mf.store.explore;
    const title = asked.has("data") ? asked.get("data") : groups[0].title;
    const found = groups.find((group) => group.title === title);
    if (!found) {
      control("data").value = mf.by("about").textContent = "";
      mf.by("series").replaceChildren();
      return mf.nothing(mf.by("figure"), `This report has no data set "${title}"; choose one above.`);
    }
    await choose(found.index);
    recall(asked);
  }

  return {
    state, rowOf,
    selected, setTarget,
    async start() {
      const { groups, cases, runs, damaged } = mf.store.explore;
      mf.by("counts").textContent = `${cases.toLocaleString("en")} cases of ${runs.toLocaleString("en")} folders on ` +
        `${groups.length} data sets and splits.` + (damaged ? ` ${damaged} could not be read: see Failures.` : "");
      control("data").replaceChildren(...groups.map((g) => mf.option(g.title, `${g.title} (${g.cases})`)));
      listenToControls();
      mf.redraw = () => draw();
      await follow();
      mf.ready();
    }
  };
})();
mf.explore.start();