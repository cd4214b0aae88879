"use strict";
// The first page: how long each algorithm takes to each target; a matrix of all data sets, then a panel a data set.
mf.results = (() => {
  const LEVELS = { named: "named target", stricter: "strict", strictest: "strictest" };
  const CLOCKS = { answer: "answer", file: "file to model" };
  const KINDS = { new: mf.store.results.own ? "new here" : "of mfbench", paper: "of papers", library: "libraries" };
  const MADE = { "real": "real", "look-alike": "look-alike, synthetic", "enlarged": "enlarged, ratings drawn anew" };
  const CHOSEN = { before: " (chosen before)", afterwards: " (chosen afterwards)" };
  const FEWEST = 3;
  const WIDEST = 1000;  // of the profiles
  const state = { target: "named", clock: "answer", machine: "" };
  const { panels, losses, machines, own } = mf.store.results;
  const OURS = own ? "ours" : "yours";

  // ---- words and numbers ----
  const brief = (s) => {
    const [value, unit] = s >= 0.9995 ? [s, "s"] : s >= 0.9995e-3 ? [s * 1e3, "ms"] : [s * 1e6, "µs"];
    return `${value >= 9.95 ? Math.round(value).toLocaleString("en") : value.toFixed(1)} ${unit}`;
  };
  const times = (ratio) => ratio >= 9950 ? `${Math.round(ratio / 1000).toLocaleString("en")} k×` : `${ratio >= 9.95 ? Math.round(ratio).toLocaleString("en") : ratio.toFixed(1)}×`;
  const count = (n) => (n === null ? "" : n >= 1e6 ? `${(n / 1e6).toPrecision(2)} M ratings` :
    n >= 1e3 ? `${Math.round(n / 1e3)} k ratings` : `${n} ratings`);
  const goal = (item, value) => `${item.metric} ${item.less ? "≤" : "≥"} ${value}`;
  const quality = (value) => (value === null ? "–" : Math.abs(value) < 10 ? value.toFixed(4) : value.toFixed(2));
  // With the range over the seeds, if there are enough.
  const ranged = (best) => quality(best.quality) + (best.n >= FEWEST ? ` [${quality(best.low)}, ${quality(best.high)}]` : "");
  const bold = (text) => mf.el("b", {}, text);
  const mark = (at) => (at.contended ? " †" : "") + (at.summed && state.clock === "file" ? " ~" : "");

  // ---- a panel ----
  // The rows that get there, the first in front.
  const finishers = (panel, level = state.target) => ((panel.order[level] || {})[state.clock] || []).map((place) => panel.rows[place]);

  function inOrder(panel) {
    const sign = panel.less ? 1 : -1;
    const worst = (row) => (row.quality === null ? Infinity : sign * row.quality);
    const there = finishers(panel);
    return [...there, ...panel.rows.filter((row) => !there.includes(row)).sort((a, b) => worst(a) - worst(b))];
  }

  // Whole decades that hold every time of these panels: bars of all begin at one time, and stand still when the target moves.
  function decades(columns) {
    const all = columns.flatMap((panel) => [...panel.rows.flatMap((row) => Object.values(row.at).map((at) => at[state.clock] && at[state.clock].s)),
      panel.published && panel.published.by && panel.published.by[state.clock]]).filter((seconds) => seconds);
    if (!all.length) return [-2, 0];
    const low = Math.floor(Math.log10(Math.min(...all)));
    return [low, Math.max(Math.ceil(Math.log10(Math.max(...all))), low + 1)];
  }

  function rowOf(name, kind, seconds, range, words, why) {
    const row = mf.el("li", { class: `row ${kind}`, title: why || null });
    const track = mf.el("span", { class: "track" });
    if (seconds !== null) {
      row.style.setProperty("--at", (Math.log10(seconds) - range[0]) / (range[1] - range[0]));
      track.append(mf.el("i", { class: "bar", "aria-hidden": "true" }), mf.el("i", { class: "dot", "aria-hidden": "true" }));
    }
    track.append(mf.el("span", { class: seconds === null ? "value none" : "value" }, ...words));
    row.append(mf.el("span", { class: "name" }, name), track);
    return row;
  }

  const source = (at) => [at.configuration, `${at.seeds} seeds`, at.run, at.contended ? "the machine had other work too" : "",
    at.summed && state.clock === "file" ? "~: a sum of clocks" : ""]
    .filter(Boolean).join("; ");

  const floor = (row) => (row.below ? ` (loses to ${row.below})` : "");

  function measured(row, panel, range, fastest) {
    const at = panel.targets[state.target] === undefined ? null : row.at[state.target][state.clock];
    if (at === null) return rowOf(row.name + floor(row), row.kind, null, range, [`not reached; best ${quality(row.quality)}`,
      mf.el("small", { class: "range" }, ranged(row).slice(quality(row.quality).length))]);
    // Few seeds and shared machines get no ratio.
    const beside = at.seeds < FEWEST ? `n = ${at.seeds}` : at.s <= fastest.s || at.contended || fastest.contended ? "" : times(at.s / fastest.s);
    return rowOf(row.name + floor(row), row.kind, at.s, range, [brief(at.s) + mark(at), " ", mf.el("small", {}, beside)], source(at));
  }

  // A line with the value that others published, and who here reaches it.
  function published(panel, range) {
    if (!panel.published) return [];
    const { system, value, by } = panel.published;
    const line = mf.el("li", { class: "line" }, `${system} publishes ${value}` + (by ? ", here reached by" : ", not reached here"));
    if (!by) return [line];
    const name = by.factors === panel.factors ? by.name : `${by.name}, f = ${by.factors}`;
    return [line, rowOf(name, by.kind, by[state.clock], range, [brief(by[state.clock]) + mark(by), " ",
      mf.el("small", {}, quality(by.quality))], source(by))];
  }

  function axis([low, high]) {
    const ticks = [];
    const apart = Math.ceil((high - low + 1) / 3);  // on a narrow page, which has room for three
    for (let power = low; power <= high; power++) {
      const tick = mf.el("span", { class: (power - low) % apart ? "between" : null }, brief(10 ** power).replace(".0", ""));
      tick.style.setProperty("--at", (power - low) / (high - low));
      ticks.push(tick);
    }
    return mf.el("div", { class: "axis", "aria-hidden": "true" }, ...ticks);
  }

  const isLibrary = (row) => row.kind === "library";

  function sentence(panel) {
    const [first, next] = finishers(panel);
    if (!first) return ["No algorithm reaches it on this machine."];
    const at = (row) => row.at[state.target][state.clock];
    const said = (row) => `${brief(at(row).s)}${mark(at(row))}`;
    const start = [bold(first.name), ` ${said(first)}; `];
    const any = panel.races;
    const other = any ? finishers(panel).find((row) => isLibrary(row) !== isLibrary(first)) : next;
    if (panel.rows.every(isLibrary)) return [...start, `${OURS} were not run here`];
    if (!other) return [...start, !any ? "no other algorithm reaches it" : isLibrary(first) ? `no algorithm of ${OURS} reaches it` : "no library reaches it"];
    const side = !any ? "the next" : isLibrary(other) ? "the best library" : `the best of ${OURS}`;
    const { seeds, contended } = at(other);
    const ratio = seeds < FEWEST ? `(n = ${seeds}, too few to count)` : contended || at(first).contended ? "(contended, so no factor)" : `(${times(at(other).s / at(first).s)})`;
    return [...start, `${side}, ${other.name}, ${said(other)} `, bold(ratio)];
  }

  // The best value and its owner, which may have raced elsewhere: a quality hangs on no machine.
  function bestOf({ best, metric, rows }) {
    if (best.quality === null) return "";
    const here = rows.some((row) => row.name === best.of && row.quality === best.quality);
    return `Best ${metric}: ${ranged(best)}, ${best.of}${best.n < FEWEST ? `, n = ${best.n}` : ""}${here ? "" : ` (not in this race: ${best.run})`}.`;
  }

  const short = (panel) => (panel.gpu ? mf.machine(panel.gpu) : "CPU") +
    (panel.cores ? `, ${panel.cores} cores` : "");

  function panelOf(panel, range) {
    const rows = inOrder(panel);
    const [first] = finishers(panel);
    const fastest = first ? first.at[state.target][state.clock] : null;
    const target = panel.targets[state.target];
    const about = [count(panel.ratings), MADE[panel.made], goal(panel, target) + (CHOSEN[panel.chosen[state.target]] || ""),
      panel.factors === null ? "" : `f = ${panel.factors}`, panel.gpu ? short(panel) : panel.machine,
      `n = ${[...new Set(panel.seeds)].join(" to ")}`];
    const link = `explore.html#${new URLSearchParams({ data: panel.data, machine: panel.bench })}`;
    return mf.el("section", { class: "panel", id: idOf(panel), "aria-label": `${panel.title}, ${MADE[panel.made]}` },
      mf.el("h2", {}, mf.el("a", { href: link, title: "Its curves" }, panel.title), " ",
        mf.el("small", {}, about.filter(Boolean).join(" · "))),
      mf.el("p", { class: "say" }, ...sentence(panel)),
      mf.el("ol", { class: "rows" }, ...rows.map((row) => measured(row, panel, range, fastest)), ...published(panel, range)),
      axis(range),
      mf.el("p", { class: "tight" }, bestOf(panel)),
      ...(panel.tuning ? [mf.el("p", { class: "tight" }, `Tuned: ${panel.tuning}`)] : []));
  }

  // ---- the matrix: a row an algorithm, a column a panel ----
  const rank = (panel, row) => (finishers(panel).indexOf(row) + 1) || Infinity;

  // The rows of all panels, those of an algorithm and its twin in one; the most first places in front.
  function linesOf(columns) {
    const found = new Map();
    columns.forEach((panel, place) => panel.rows.forEach((row) => {
      const key = `${row.kind} ${row.hardware} ${row.line}`;
      if (!found.has(key)) found.set(key, { kind: row.kind, hardware: row.hardware, names: new Set(), cells: columns.map(() => null) });
      const line = found.get(key);
      line.names.add(row.own);
      if (!line.cells[place] || rank(panel, row) < rank(panel, line.cells[place])) line.cells[place] = row;
    }));
    const firsts = (line) => line.cells.filter((row, place) => row && rank(columns[place], row) === 1).length;
    const near = (line) => factorsOf(line, columns).reduce((sum, factor) => sum + 1 / (1 + Math.log10(factor)), 0);
    return [...found.values()].map((line) => ({ ...line, firsts: firsts(line), ran: line.cells.filter((row) => row).length, near: near(line) }))
      .sort((a, b) => b.firsts - a.firsts || b.near - a.near);
  }

  const factorsOf = (line, columns) => line.cells.map((row, place) => (row && row.at[state.target][state.clock] ?
    row.at[state.target][state.clock].s / fastestOf(columns[place]).s : NaN)).filter((factor) => factor);
  const fastestOf = (panel) => finishers(panel)[0].at[state.target][state.clock];

  function cellOf(row, panel) {
    if (!row) return mf.el("td", { class: "no" }, "·");
    const at = panel.targets[state.target] === undefined ? null : row.at[state.target][state.clock];
    if (!at) return mf.el("td", { class: "missed", title: `${row.name}: not reached; best ${ranged(row)}` }, "–");
    const first = fastestOf(panel);
    const title = `${row.name}: ${brief(at.s)}; ${source(at)}`;
    if (at === first) return mf.el("td", { class: `first ${row.kind}`, title }, mf.el("b", {}, "1 "), brief(at.s) + mark(at));
    const factor = at.seeds >= FEWEST && !at.contended && !first.contended;
    const cell = mf.el("td", { class: row.kind, title }, factor ? times(at.s / first.s) : at.seeds < FEWEST ? `(${brief(at.s)})` : brief(at.s) + mark(at));
    cell.style.setProperty("--tint", factor ? `${Math.max(45 - 13 * Math.log10(at.s / first.s), 4)}%` : "0%");
    return cell;
  }

  // The performance profile of a row: on which share of its data sets it is within a factor of the first, from 1 to 1,000.
  function profileOf(line, columns) {
    const factors = factorsOf(line, columns).filter((factor) => factor <= WIDEST).sort((a, b) => a - b);
    const steps = factors.map((factor, place) => `H${(1 + 74 * Math.log(factor) / Math.log(WIDEST)).toFixed(1)}V${(15.5 - 14 * (place + 1) / line.ran).toFixed(1)}`);
    const label = `on ${factors.length} of ${line.ran} data sets within ${WIDEST.toLocaleString("en")} times the first`;
    const picture = mf.svg("svg", { class: "profile", viewBox: "0 0 76 17", role: "img", "aria-label": label });
    picture.append(mf.svg("path", { d: "M1 1.5H75M1 15.5H75", class: "ends" }), mf.svg("path", { d: `M1 15.5${steps.join("")}H75` }));
    return mf.el("td", { class: line.kind, title: label }, picture);
  }

  function matrixOf(columns) {
    const lines = linesOf(columns);
    const body = Object.entries(KINDS).flatMap(([kind, words]) => lines.filter((line) => line.kind === kind).map((line, place, own) =>
      mf.el("tr", { class: kind }, place ? null : mf.el("th", { class: `kind ${kind}`, rowspan: own.length, scope: "rowgroup" }, mf.el("span", {}, words)),
        mf.el("th", { class: "name", scope: "row" }, [...line.names].join(", "), " ", mf.el("small", {}, line.hardware === "cuda" ? "GPU" : "CPU")),
        ...line.cells.map((row, column) => cellOf(row, columns[column])),
        mf.el("td", { class: line.firsts ? "count has" : "count" }, `${line.firsts} of ${line.ran}`), profileOf(line, columns))));
    const heads = columns.map((panel) => mf.el("th", { scope: "col" }, mf.el("a", { href: `#${idOf(panel)}`, onclick: (event) => jump(event, panel) },
      panel.title.split(",")[0]),
      mf.el("small", {}, aboutOf(panel)),
      mf.el("small", {}, goal(panel, panel.targets[state.target]) + (panel.chosen[state.target] === "afterwards" ? " *" : ""))));
    const firsts = columns.map((panel) => {
      const [first] = finishers(panel);
      return mf.el("td", { class: first ? `winner ${first.kind}` : "winner" }, first ? first.own : "nobody");
    });
    return mf.scroll("matrix", mf.el("table", { class: "matrix" },
      mf.el("thead", {}, mf.el("tr", {}, mf.el("th", { colspan: 2 }), ...heads, mf.el("th", { scope: "col" }, "first in", mf.el("small", {}, "of sets run")),
        mf.el("th", { scope: "col" }, "share within", mf.el("small", {}, `1 … ${WIDEST.toLocaleString("en")}×`))),
        mf.el("tr", {}, mf.el("th", { colspan: 2, class: "name" }, "First is"), ...firsts, mf.el("td", { colspan: 2 }))),
      mf.el("tbody", {}, ...body)));
  }

  // The address holds the switches: the link goes to the panel without it.
  const jump = (event, panel) => {
    event.preventDefault();
    mf.by(idOf(panel)).scrollIntoView();
  };
  const aboutOf = (panel) => {
    const rest = panel.title.split(", ").slice(1).join(", ");
    return [rest, rest && panel.made === "real" ? "" : panel.made].filter(Boolean).join(", ");
  };
  const idOf = (panel) => `panel-${panel.title.replace(/[^\w-]+/g, "-")}`;

  // ---- what else the page says ----
  function lossesOf() {
    const by = new Map();
    for (const loss of losses) {
      const title = (loss.made === "real" ? loss.data : `${loss.data} (${loss.made})`) + (loss.factors === null ? "" : `, f = ${loss.factors}`);
      by.set(title, [...(by.get(title) || []), loss]);
    }
    const list = [...by].map(([title, own]) => mf.el("li", {}, bold(title), ": ", own.map(lossText).join("; "), "."));
    return mf.el("section", { class: "panel" }, mf.el("h2", {}, own ? "Where we lose" : "Where yours lose"), list.length ?
      mf.el("ul", { class: "losses" }, ...list) : mf.el("p", {}, "Nowhere in these panels."));
  }

  const seeds = (who) => (who.seeds < FEWEST ? `, n = ${who.seeds}` : "");

  function lossText(loss) {
    if (loss.what === "quality") {
      const said = (who) => `${quality(who.quality)} (${who.name}${seeds(who)})`;
      return `the best ${loss.metric} of a library is ${said(loss.by)}, of ${OURS} ${said(loss.ours)}` +
        (loss.few ? `, or ${said(loss.few)}` : "");
    }
    const said = (who) => `${who.name} after ${brief(who.s)}${seeds(who)}`;
    const few = loss.few ? `${said(loss.few)}, too few seeds to count` : "";
    const ours = loss.ours ? [`of ${OURS} by`, said(loss.ours), few && `or ${few}`] : few ? [`of ${OURS} only by`, few] : [`no algorithm of ${OURS} reaches it`];
    return `${goal(loss, loss.target)} is reached by ${said(loss.by)}, ${ours.filter(Boolean).join(" ")}`;
  }

  function papersOf() {
    const { claims } = mf.store.results;
    const total = Object.values(claims).reduce((a, b) => a + b, 0);
    if (!total) return [];
    const said = [["holds", "hold"], ["holds in part", "hold in part"], ["does not hold", "do not hold"]]
      .map(([kind, words]) => [claims[kind] || 0, words]);
    const parts = [...said, [total - said.reduce((sum, [n]) => sum + n, 0), "other"]].filter(([n]) => n);
    return [mf.el("section", { class: "panel" }, mf.el("h2", {}, `Papers: ${total} claims looked at`),
      mf.el("p", {}, `${parts.map(([n, words]) => `${n} ${words}`).join(" · ")}. `,
        mf.el("a", { href: "papers.html" }, "Claim by claim")))];
  }

  // ---- switches and the address ----
  const shown = () => panels.filter((panel) => (state.machine ? panel.machine === state.machine : panel.usual));

  function show() {
    mf.by("matrix").replaceChildren(matrixOf(shown()));
    mf.by("panels").replaceChildren(...shown().map((panel, place, all) => panelOf(panel, decades(all))), ...(panels.some((panel) => panel.races) ? [lossesOf()] : []), ...papersOf());
    for (const button of document.querySelectorAll(".switches button")) {
      button.setAttribute("aria-pressed", String(state[button.dataset.key] === button.dataset.value));
    }
    const select = mf.by("machine");
    if (select) select.value = state.machine;
  }

  function set(key, value) {
    state[key] = value;
    const usual = { target: "named", clock: "answer", machine: "" };
    const said = new URLSearchParams(Object.keys(state).filter((k) => state[k] !== usual[k]).map((k) => [k, state[k]]));
    history.replaceState(null, "", said.size ? `#${said}` : location.pathname.split("/").pop());
    show();
  }

  function follow() {
    const asked = mf.address();
    const known = (key, values, usual) => (values.includes(asked.get(key)) ? asked.get(key) : usual);
    Object.assign(state, { target: known("target", Object.keys(LEVELS), "named"),
      clock: known("clock", Object.keys(CLOCKS), "answer"), machine: known("machine", machines, "") });
    show();
  }

  const group = (label, key, choices) => mf.el("span", { class: "switch", role: "group", "aria-label": label },
    ...Object.entries(choices).map(([value, text]) => mf.el("button", { type: "button", "data-key": key, "data-value": value,
      onclick: () => set(key, value) }, text)));

  function start() {
    const host = mf.by("switches");
    host.append(group("Target", "target", LEVELS), group("Clock", "clock", CLOCKS));
    if (machines.length > 1) host.append(mf.el("label", {}, "Machine ", mf.el("select", { id: "machine",
      onchange: (event) => set("machine", event.target.value) }, mf.option("", "the one with most algorithms"),
      ...machines.map((name) => mf.option(name, name)))));
    addEventListener("hashchange", follow);
    follow();
    mf.ready();
  }
  return { start, state, shown, axis };
})();
mf.results.start();
