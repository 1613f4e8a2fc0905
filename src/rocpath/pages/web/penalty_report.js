/* Draws the report of learned penalties, with several pages of sequences. */
(function (shared) {
  "use strict";
  const PER_PAGE = 6;  // sequences per page, because Plotly is slow
  const panels = shared.penaltyPanels;
  const data = JSON.parse(document.querySelector(".report-data script").text);
  const find = (selector) => document.querySelector(selector);
  const fileName = (name) => name.replace(/[^\w.-]+/g, "_").slice(0, 60) || "panel";

  function draw(place, { traces, layout }) {
    return Plotly.newPlot(place, traces, layout, shared.rocpathCharts.tools())
      .then(() => { place.dataset.ready = "true"; });
  }

  /* Saves a chart at twice the resolution of the screen. */
  function save(place, name) {
    return Plotly.downloadImage(place, { format: "png", scale: 2,
      width: place.clientWidth, height: place.clientHeight, filename: fileName(name) });
  }

  /* Creates an element; text is never parsed as HTML. */
  function element(tag, className, text) {
    const one = document.createElement(tag);
    if (className) one.className = className;
    if (text) one.textContent = text;
    return one;
  }

  function summary(one) {
    const text = element("p", "summary");
    const n = one.labels.length, wrong = one.n_errors;
    text.append(element("strong", "", `${wrong} of ${n} label${n === 1 ? "" : "s"} wrong`));
    const changes = one.mean.length - 1;
    const [low, high] = one.target.map((end) => (end === null ? null : end.toFixed(2)));
    const best = low === null && high === null ? "any"
      : low === null ? `up to ${high}` : high === null ? `from ${low}`
        : `${low} to ${high}`;
    const parts = [`${changes} change${changes === 1 ? "" : "s"}`,
      `log penalty ${one.log_penalty.toFixed(2)} cross-validated, ${one.final.toFixed(2)} saved`,
      `log penalties with the fewest errors: ${best}`,
      `${one.n.toLocaleString("en")} observations`];
    if (one.group !== null) parts.unshift(`group ${one.group}`);
    text.append(`; ${parts.join("; ")}`);
    return text;
  }

  function item(one) {
    const row = element("li");
    const figure = element("figure", "panel"), chart = element("div", "chart sequence");
    chart.setAttribute("role", "img");
    chart.setAttribute("aria-label", `${one.name}, its labels and predicted changes`);
    const button = element("button", "png", "Save as PNG");
    button.type = "button";
    button.addEventListener("click", () => save(chart, one.name));
    figure.append(chart, button);
    row.append(element("h3", "", one.name), summary(one), figure);
    return { row, chart };
  }

  const state = { page: 0 };

  function chosen() {
    // The sort is stable: sequences with equal errors keep the order of the table.
    const text = find(".search").value.toLowerCase();
    const shown = data.sequences.filter((one) => one.name.toLowerCase().includes(text)
      && (find(".which").value === "all" || one.n_errors > 0));
    if (find(".order").value === "errors") shown.sort((a, b) => b.n_errors - a.n_errors);
    return shown;
  }

  function show(page) {
    const every = chosen(), n_pages = Math.max(1, Math.ceil(every.length / PER_PAGE));
    state.page = Math.min(Math.max(page, 0), n_pages - 1);
    const last = n_pages.toLocaleString("en");
    find(".place").textContent = `page ${state.page + 1} of ${last}`;
    find(".before").disabled = state.page === 0;
    find(".after").disabled = state.page === n_pages - 1;
    const list = find(".list");
    // Plotly keeps the data of charts until they are purged.
    list.querySelectorAll(".chart").forEach((chart) => Plotly.purge(chart));
    list.replaceChildren();
    const first = state.page * PER_PAGE;
    for (const one of every.slice(first, first + PER_PAGE)) {
      const { row, chart } = item(one);
      // The row is appended first, because a chart has no width before that.
      list.append(row);
      draw(chart, panels.sequence(one, data, chart.clientWidth));
    }
    if (!every.length) list.append(element("li", "", "No matching sequences."));
  }

  const single = { errors: () => panels.errors(data.errors),
    roc: (place) => panels.roc(data.roc, place.clientWidth),
    path: () => panels.path(data.path),
    coefficients: (place) => panels.coefficients(data.coefficients, place.clientWidth) };
  for (const [name, make] of Object.entries(single)) {
    const place = find(`.chart.${name}`);
    if (place && data[name]) draw(place, make(place));
  }
  document.querySelectorAll(".png[data-chart]").forEach((button) => {
    button.addEventListener("click", () =>
      save(find(`.chart.${button.dataset.chart}`), button.dataset.chart));
  });

  // A legend of the kinds of labels in the data.
  const labels = data.sequences.flatMap((one) => one.labels);
  const used = new Set(labels.map((label) => label[2]));
  for (const kind of Object.keys(data.kinds).filter((one) => used.has(one))) {
    const entry = element("span"), swatch = element("i");
    swatch.style.background = data.kinds[kind];
    entry.append(swatch, panels.words(kind));
    find(".kinds").append(entry);
  }
  [".which", ".order"].forEach((name) =>
    find(name).addEventListener("change", () => show(0)));
  find(".search").addEventListener("input", () => show(0));
  find(".before").addEventListener("click", () => show(state.page - 1));
  find(".after").addEventListener("click", () => show(state.page + 1));
  show(0);
})(globalThis);
