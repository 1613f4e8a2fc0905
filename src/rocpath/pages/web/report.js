/* Draws the curves of a report and moves its threshold; names are escaped HTML. */
(function () {
  "use strict";
  const { COLORS, DASHES, axis, layout, diagonal, clamped, ...charts } = rocpathCharts;
  const data = JSON.parse(document.querySelector(".chart-data script").text);
  const find = (selector) => document.querySelector(selector);

  function filled(x, y, color) {
    return { x, y, mode: "lines", fill: "toself", fillcolor: color, line: { width: 0 },
      hoverinfo: "skip", showlegend: false };
  }

  /* The band between the upper left and the lower right corners of the bounds. */
  function band({ fpr_low, fpr_high, tpr_low, tpr_high }) {
    return filled(fpr_low.concat(fpr_high.slice().reverse()),
      tpr_high.concat(tpr_low.slice().reverse()), "rgba(0,114,178,0.12)");
  }

  /* The area under a curve up to a false positive rate, its last piece cut there. */
  function partialArea({ fpr, tpr }, end) {
    const x = [0], y = [0];
    for (let k = 0; k < fpr.length; k++) {
      if (fpr[k] > end) {
        const part = (end - fpr[k - 1]) / (fpr[k] - fpr[k - 1]);
        x.push(end);
        y.push(tpr[k - 1] + part * (tpr[k] - tpr[k - 1]));
        break;
      }
      x.push(fpr[k]);
      y.push(tpr[k]);
    }
    return filled(x.concat([end]), y.concat([0]), "rgba(0,114,178,0.35)");
  }

  function drawRoc(place) {
    const traces = [diagonal(1)];
    if (data.band) traces.push(band(data.band));
    if (data.max_fpr) traces.push(partialArea(data.curves[0], data.max_fpr));
    // The first curve is drawn last, on top of the others.
    data.curves.map((curve, k) => ({ x: curve.fpr, y: curve.tpr, name: curve.name,
      mode: "lines", legendrank: k, line: { color: COLORS[k % COLORS.length],
        width: k ? 1.4 : 2.6, dash: DASHES[k % DASHES.length] } }))
      .reverse().forEach((trace) => traces.push(trace));
    if (data.grid) traces.push({ x: [0], y: [0], mode: "markers", hoverinfo: "skip",
      showlegend: false, cliponaxis: false,
      marker: { color: "#d1242f", size: 12, line: { color: "#fff", width: 2 } } });
    const range = [-0.01, 1.01];
    return Plotly.newPlot(place, traces, layout({ legend: charts.legendInside,
      xaxis: axis("false positive rate", { range }),
      yaxis: axis("true positive rate", { range }) }), charts.tools());
  }

  function drawCalibration(place) {
    const groups = data.calibration, take = (name) => groups.map((one) => one[name]);
    // For a rare class all values are near 0: the axes end with the data.
    const end = Math.min(1, 1.08 * Math.max(...take("high"), ...take("probability")));
    return Plotly.newPlot(place, [diagonal(end), { x: take("probability"), y: take("share"),
      mode: "markers+lines", showlegend: false, line: { color: "#0072B2", width: 1 },
      marker: { size: 9, color: "#0072B2" },
      text: groups.map((one) => `${one.n_rows} rows`),
      hovertemplate: "predicted %{x:.3f}, observed %{y:.3f}, %{text}<extra></extra>",
      error_y: { type: "data", symmetric: false, color: "#0072B2", thickness: 1.2, width: 4,
        array: groups.map((one) => one.high - one.share),
        arrayminus: groups.map((one) => one.share - one.low) } }], layout({
      xaxis: axis("mean predicted probability", { range: [-0.01 * end, end] }),
      yaxis: axis("observed share of positives", { range: [-0.01 * end, end] }),
    }), charts.tools());
  }

  function probability(score) { return 1 / (1 + Math.exp(-score)); }

  function percent(part, whole) {
    return whole ? `${(100 * part / whole).toFixed(1)}%` : "–";
  }

  /* Shows the counts and rates of a threshold, and moves the dot on the curve. */
  function showPlace(place) {
    const tp = data.grid.tp[place], fp = data.grid.fp[place];
    const cells = { tp, fp, fn: data.n_positive - tp, tn: data.n_negative - fp };
    const total = data.n_positive + data.n_negative;
    document.querySelectorAll(".confusion").forEach((table) =>
      table.querySelectorAll("[data-cell]").forEach((cell) => {
        const count = cells[cell.dataset.cell];
        cell.textContent = table.dataset.unit === "count" ? count.toLocaleString("en")
          : (1000 * count / total).toFixed(1);
      }));
    const rates = { tpr: percent(tp, data.n_positive), fpr: percent(fp, data.n_negative),
      precision: percent(tp, tp + fp) };
    Object.entries(rates).forEach(([name, text]) => {
      find(`[data-rate=${name}]`).textContent = text;
    });
    const slider = find("input.place"), typed = find("input.probability");
    const least = probability(data.grid.threshold[place]);
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", `minimum probability ${least.toPrecision(3)}, ` +
      `TPR ${rates.tpr}, FPR ${rates.fpr}, precision ${rates.precision}`);
    // Not while the user types: "0.0" on the way to 0.05 would be rewritten.
    if (document.activeElement !== typed) typed.value = String(Number(least.toPrecision(3)));
    const roc = find(".roc-comparison");
    // Only the dot, which is the last trace, is drawn again, so that dragging is smooth.
    Plotly.restyle(roc, { x: [[fp / data.n_negative]], y: [[tp / data.n_positive]] },
      [roc.data.length - 1]);
    document.querySelectorAll(".decide [data-called]").forEach((button) =>
      button.setAttribute("aria-pressed", String(Number(button.dataset.called) === tp + fp)));
    find(".decide").dataset.shown = String(place);
  }

  /* The place on the grid whose positives have at least this probability. */
  function placeOf(least) {
    const { threshold } = data.grid;
    let place = 0;
    while (place + 1 < threshold.length && probability(threshold[place + 1]) >= least) place++;
    return place;
  }

  function listen() {
    const slider = find("input.place"), typed = find("input.probability");
    slider.addEventListener("input", () => showPlace(Number(slider.value)));
    typed.addEventListener("input", () => {
      if (typed.value !== "") showPlace(placeOf(clamped(Number(typed.value), 0, 1)));
    });
    // A number beyond the ends is replaced by the nearest end.
    typed.addEventListener("change", () => {
      if (typed.value !== "") typed.value = String(clamped(Number(typed.value), 0, 1));
    });
    const called = data.grid.tp.map((tp, k) => tp + data.grid.fp[k]);
    // The grid need not have a place for every rule: the nearest one is shown.
    const nearest = (count) => called.reduce((best, one, k) =>
      (Math.abs(one - count) < Math.abs(called[best] - count) ? k : best), 0);
    const buttons = document.querySelectorAll(".decide [data-called]");
    buttons.forEach((button) => button.addEventListener("click",
      () => showPlace(nearest(Number(button.dataset.called)))));
    // A useful threshold first: a guaranteed one that was requested, or the top 10%.
    find(".decide [data-initial]").click();
  }

  const roc = find(".roc-comparison"), calibration = find(".calibration");
  Promise.all([drawRoc(roc), calibration && drawCalibration(calibration)]).then(() => {
    if (data.grid) listen();
    roc.dataset.ready = "true";
  });
})();
