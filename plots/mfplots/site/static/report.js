"use strict";
// Shared by all pages. Text of result files reaches the page as text: by textContent, or escaped.

mf.el = (tag, attributes = {}, ...children) => {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value !== null && value !== false) made.setAttribute(name, value === true ? "" :
      value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
};
mf.by = (id) => document.getElementById(id);
mf.escape = (text) => String(text).replace(/[&<>"']/g, (c) => `&#${c.charCodeAt(0)};`);

// ---- numbers, in the words of mfplots/style.py ----------------------------------------------------

mf.significant = (value, digits = 3) => {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  if (Math.abs(value) < 1e-4 || Math.abs(value) >= 1e6) return value.toExponential(digits - 1);
  return value.toFixed(Math.max(digits - 1 - Math.floor(Math.log10(Math.abs(value))), 0));
};
mf.withUnit = (value, unit, low, high) => {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return `0 ${unit}`;
  if (Math.abs(value) < 1000 * 10 ** high) value = Number(value.toExponential(2));
  const power = Math.floor(Math.log10(Math.abs(value)) + 1e-12);
  const step = Math.min(Math.max(Math.floor(power / 3) * 3, low), high);
  const letter = { "-9": "n", "-6": "µ", "-3": "m", 0: "", 3: "k", 6: "M", 9: "G", 12: "T" } [
    step];
  return `${(value / 10 ** step).toFixed(Math.max(2 - power + step, 0))} ${letter}${unit}`;
};
mf.duration = (seconds) => mf.withUnit(seconds, "s", -9, 0);
mf.si = (value, unit) => mf.withUnit(value, unit, 0, 12);
mf.percent = (share) => (share === null ? "–" : `${mf.significant(100 * share, 3)} %`);
// "H100, 16 cores" of "NVIDIA H100 80GB HBM3, 16 cores".
mf.machine = (name) => mf.plain(name).replace(/\(R\)/g, "").replace("NVIDIA ", "").replace(/ \d+GB( HBM\w*)?/, "").replace(" Processor", "");
mf.plain = (value) => (value === null || value === undefined ? "–" : String(value));
// "† ‡" behind a label.
mf.marks = (label) => (label.match(/( [†‡])+$/) || [""])[0];
mf.fixed = (digits) => (value) => (value === null || value === undefined ? "–" :
  Math.abs(value) < 1e4 ? value.toFixed(digits) : mf.significant(value, 6));

// ---- tables ---------------------------------------------------------------------------------------

// Rows without a number stand behind the others, whichever way a column is sorted.
const behind = (sign) => (a, b) => a === null ? (b === null ? 0 : 1) : b === null ? -1 : sign * (a - b);
mfTables.default.ext.type.order["known-asc"] = behind(1);
mfTables.default.ext.type.order["known-desc"] = behind(-1);

mf.scroll = (label, ...children) => mf.el("div", { class: "scroll", tabindex: "0", role: "region",
  "aria-label": `${label || "table"}, scrolls sideways` }, ...children);
// Columns of several tables.
mf.RUN = { key: "run", title: "Results", link: (row) => `cases.html#${new URLSearchParams({ run: row.run })}` };
mf.atEpoch = (epoch, before) => (epoch === null ? "–" : epoch - before > 1 ? `${epoch} (${before} before)` :
  `${epoch}`);
// columns: {key, title, show?(value, row) -> text, number?, link?(row) -> address, node?(row)}.
mf.table = (host, columns, rows, options = {}) => {
  const table = mf.el("table", { class: "display compact", "aria-label": options.label || "" });
  const scroll = mf.scroll(options.label, table);
  host.replaceChildren(scroll);
  const made = new mfTables.default(table, {
    data: rows, autoWidth: false, deferRender: true, pageLength: options.length || 25, lengthMenu: [10, 25, 100, 500],
    order: options.order || [], paging: rows.length > 10, searching: options.search !== false && rows.length > 5,
    info: rows.length > 10,
    layout: {
      topStart: "search", topEnd: null, bottomStart: "info", bottomEnd: "paging",
      bottom2Start: rows.length > 25 ? "pageLength" : null
    },
    language: { search: "Find", emptyTable: options.empty || "nothing here" },
    columns: columns.map((column) => ({
      title: mf.escape(column.title), type: column.number ? "known" : "string", name: column.key,
      orderable: column.node === undefined || column.sortable === true, visible: !column.hidden,
      className: column.number ? "number" : column.wide ? "wide" : column.link || column.mid ? "mid" :
        "",
      data: null, render: (row, kind) => mf.cell(column, row, kind),
    })),
  });
  // The search field and the buttons of pages stay; the table between them scrolls.
  const wrapper = table.closest(".dt-container");
  if (wrapper && wrapper !== scroll) {
    host.replaceChildren(wrapper);
    table.replaceWith(scroll);
    scroll.append(table);
  }
  return made;
};
mf.cell = (column, row, kind) => {
  const value = row[column.key];
  if (kind === "sort" || (kind === "type" && column.number)) {
    if (column.number) return value === undefined ? null : value;
    return mf.plain(value);
  }
  const text = column.show ? column.show(value, row) : mf.plain(value);
  // The library decodes entities of what it searches, by way of HTML: it gets no other.
  if (kind !== "display") return mf.escape(text);
  if (column.node) return column.node(row);
  const address = column.link && column.link(row);
  return address ? `<a href="${mf.escape(address)}">${mf.escape(text)}</a>` : mf.escape(text);
};

// Numbers by their value, before what is none.
const inOrder = (a, b) => {
  const [x, y] = [Number(a), Number(b)];
  if (Number.isNaN(x) !== Number.isNaN(y)) return Number.isNaN(x) ? 1 : -1;
  return Number.isNaN(x) ? (a < b ? -1 : a > b ? 1 : 0) : x - y;
};

// A select for each key, which narrows the table; what is chosen and searched stands in the address. A search is over all
// that `first` hides.
mf.filters = (host, table, columns, rows, keys, then = () => {}, first = {}) => {
  const asked = mf.address();
  const chosen = {};
  host.replaceChildren();
  for (const key of keys) {
    const column = columns.find((one) => one.key === key);
    const values = [...new Set(rows.map((row) => mf.plain(row[key])))].sort(inOrder);
    const wish = (asked.size ? asked.get(key) : first[key]) || "";
    const unknown = wish && !values.includes(wish) ? [mf.option(wish, `${wish}: not in this report`)] : [];
    const select = mf.el("select", { id: `filter-${key}`, "data-key": key, onchange: () => narrow() }, mf.option("", "all"),
      ...values.map((value) => mf.option(value, value)), ...unknown);
    select.value = wish;
    host.append(mf.el("label", {}, `${(column && (column.filter || column.title)) || key[0].toUpperCase() + key.slice(1)} `, select));
    chosen[key] = select;
  }
  const fits = (row) => keys.every((key) => !chosen[key].value || mf.plain(row[key]) === chosen[key].value);
  table.search.fixed("chosen", (text, row) => fits(row));
  if (table.search() !== (asked.get("find") || "")) table.search(asked.get("find") || "");

  function narrow() {
    const some = [...keys.filter((key) => chosen[key].value).map((key) => [key, chosen[key].value]),
      ...(table.search() ? [["find", table.search()]] : [])];
    // "all" where the page begins with less is said, too.
    const said = new URLSearchParams(some.length ? some : keys.filter((key) => first[key]).map((key) => [key, ""]));
    history.replaceState(null, "", said.size ? `#${said}` : location.pathname.split("/").pop());
    table.draw();
    then(rows.filter(fits));
  }
  let searched = table.search();
  table.off("search.address").on("search.address", () => {
    if (table.search() === searched) return;
    searched = table.search();
    for (const key of searched ? Object.keys(first) : []) chosen[key].value = "";
    narrow();
  });
  table.draw();
  then(rows.filter(fits));
};
mf.csvCell = (value) => {
  const text = value === null || value === undefined ? "" : String(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
};
mf.download = (name, text) => {
  const address = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  mf.el("a", { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10000);
};
mf.address = () => new URLSearchParams(location.hash.slice(1));
mf.option = (value, text) => mf.el("option", { value }, text);

// ---- data and figures that come when they are wanted ----------------------------------------------

mf.script = (source) => new Promise((done, failed) => {
  document.head.append(mf.el("script", {
    src: source, onload: done, onerror: () => failed(new Error(`${source} is not there`))
  }));
});
mf.fetchData = async (source, name) => {
  delete mf.store[name];
  await mf.script(source);
  return mf.store[name];
};

mf.unpack = async (source) => {
  const bytes = new Blob([Uint8Array.from(atob(await mf.fetchData(source, "packed")), (letter) => letter.charCodeAt(0))]);
  return new Response(bytes.stream().pipeThrough(new DecompressionStream("gzip"))).json();
};

// Plotly is large: it comes once the page is painted and usable.
mf.plotly = () => {
  mf.plotlyComing ||= new Promise((painted) => requestAnimationFrame(() => setTimeout(painted, 0)))
    .then(() => mf.script("assets/plotly.min.js"));
  return mf.plotlyComing.then(() => Plotly);
};
mf.isDark = () => document.documentElement.classList.contains("dark");
mf.colour = (item) => (mf.isDark() ? item.dark : item.colour);
mf.style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// Plotly takes some HTML in its texts: none of it comes from result files.
mf.figureText = (text) => String(text).replace(/[&<>]/g, (c) => ({ "&": "&amp;", "<": "&lt;", ">": "&gt;" } [c]));
mf.axis = (title, more = {}) => ({
  title: { text: title, standoff: 8 }, gridcolor: mf.style("--grid"), linecolor: mf.style("--line"), zeroline: false,
  automargin: true, ...more
});
mf.layout = (more = {}) => ({
  paper_bgcolor: "rgba(0,0,0,0)", plot_bgcolor: "rgba(0,0,0,0)", margin: { l: 56, r: 12, t: 34, b: 48 },
  modebar: { bgcolor: "rgba(0,0,0,0)", color: mf.style("--soft"), activecolor: mf.style("--accent") },
  font: { family: "system-ui, sans-serif", size: 13, color: mf.style("--text") },
  hoverlabel: { bgcolor: mf.style("--panel"), font: { color: mf.style("--text") }, bordercolor: mf.style("--line") },
  hovermode: "closest", showlegend: false, ...more
});
mf.draw = async (host, traces, layout, movable = false) => {
  host.style.minHeight = `${layout.height || 450}px`;  // so that nothing below moves when it comes
  const plotly = await mf.plotly();
  if (!host.data) host.replaceChildren();
  await plotly.react(host, traces, layout, {
    responsive: true, displaylogo: false, edits: { shapePosition: movable },
    // No button hands the figure to anybody.
    modeBarButtonsToRemove: ["sendChartToCloud", "sendDataToCloud", "editInChartStudio", "select2d",
      "lasso2d", "toImage", "autoScale2d"],
    plotlyServerURL: "", showSendToCloud: false, showEditInChartStudio: false
  });
  host.dataset.drawn = String(1 + Number(host.dataset.drawn || 0));
  return plotly;
};
mf.nothing = (host, text) => {
  if (host.data) Plotly.purge(host);
  delete host.dataset.listens;
  host.classList.add("empty");
  host.style.minHeight = "";
  host.replaceChildren(mf.el("p", {}, text));
};
// The markers of mfplots/palette.py by Plotly's names; an open one for half filled ones.
mf.symbol = (marker, variant) => {
  const name = {
    o: "circle", s: "square", "^": "triangle-up", D: "diamond", v: "triangle-down", P: "cross", X: "x",
    "<": "triangle-left"
  } [marker] || "circle";
  return variant % 6 === 0 ? name : variant % 6 === 1 ? `${name}-open` : `${name}-open-dot`;
};
mf.dash = (variant) => ["solid", "8px,3px", "10px,3px,2px,3px", "2px,2px", "14px,4px", "8px,2px,2px,2px,2px,2px"][variant % 6];

mf.svg = (name, attributes) => {
  const made = document.createElementNS("http://www.w3.org/2000/svg", name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
};

// A piece of a curve as the figure has it, before a name in a table.
mf.swatch = (item) => {
  const picture = mf.svg("svg", { class: "swatch", viewBox: "0 0 38 12", "aria-hidden": "true" });
  picture.style.setProperty("--light", item.colour);
  picture.style.setProperty("--dark", item.dark);
  const dash = mf.dash(item.variant);
  picture.append(mf.svg("line", { x1: 0, y1: 6, x2: 38, y2: 6, "stroke-dasharray": dash === "solid" ?
      "none" : dash.replaceAll("px", "") }));
  const open = item.variant % 6 !== 0;
  picture.append(mf.svg("path", { d: MARKERS[item.marker] || MARKERS.o, class: open ? "open" : "" }));
  return picture;
};
const MARKERS = {
  o: "M14.5 6a4.5 4.5 0 1 0 9 0a4.5 4.5 0 1 0 -9 0z", s: "M15 2h8v8h-8z", "^": "M19 1l5 9h-10z",
  D: "M19 1l5 5l-5 5l-5 -5z", v: "M19 11l5 -9h-10z", P: "M17 1h4v3h3v4h-3v3h-4v-3h-3v-4h3z",
  X: "M14 3l2 -2l3 3l3 -3l2 2l-3 3l3 3l-2 2l-3 -3l-3 3l-2 -2l3 -3z", "<": "M14 6l9 -5v10z"
};

// ---- the theme ------------------------------------------------------------------------------------

mf.redraw = () => {};
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
  document.documentElement.classList.toggle("dark", event.matches);
  mf.redraw();
});
// The address of a page holds its view: the link goes to the content without it.
mf.startSkip = () => document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  mf.by("main").focus();
  mf.by("main").scrollIntoView();
});
mf.ready = () => { document.documentElement.dataset.ready = String(Math.round(performance.now())); };
document.addEventListener("DOMContentLoaded", mf.startSkip);