/* Functions shared by all charts: colors, font, tools, axes and layouts of Plotly; ROC curves
   with a movable threshold, and calibration plots. Names are escaped HTML. */
globalThis.rocpathCharts = (function () {
  "use strict";
  const color = globalThis.rocpathColor;
  const INK = color("ink");
  const FONT = { family: "system-ui, 'Liberation Sans', sans-serif", size: 13, color: INK };
  const axis = (text, more) => ({ title: { text, standoff: 6 }, gridcolor: color("hover"),
    zeroline: false, ...more });
  const layout = (more) => ({ font: FONT, margin: { l: 60, r: 12, t: 32, b: 46 },
    hovermode: "closest", ...more });
  const tools = (...more) => ({ responsive: true, displaylogo: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", ...more, "resetScale2d"]] });
  const diagonal = (end) => ({ x: [0, end], y: [0, end], mode: "lines", hoverinfo: "skip",
    showlegend: false, line: { color: color("faint"), width: 1 } });
  const percent = (part, whole) => (whole ? `${(100 * part / whole).toFixed(1)}%` : "–");
  const legendInside = { x: 0.99, xanchor: "right", y: 0.02, yanchor: "bottom",
    bgcolor: "rgba(255,255,255,0.85)" };

  // Dashes distinguish curves that are printed without color.
  const COLORS = Array.from({ length: 7 }, (_, k) => color(`series-${k}`));
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];

  function filled(x, y, color) {
    return { x, y, mode: "lines", fill: "toself", fillcolor: color, line: { width: 0 },
      hoverinfo: "skip", showlegend: false };
  }

  /* Draws ROC curves over filled areas, with the chosen curve on top. The last trace is the dot
     that moveThreshold moves. */
  function drawRoc(chart, curves, chosen, areas) {
    const traces = curves.map((curve, k) => ({ x: curve.fpr, y: curve.tpr, name: curve.name,
      mode: "lines", legendrank: k, line: { color: COLORS[k % COLORS.length],
        width: k === chosen ? 2.6 : 1.4, dash: DASHES[k % DASHES.length] } }));
    traces.push(...traces.splice(chosen, 1));
    const dot = { x: [], y: [], mode: "markers", hoverinfo: "skip", showlegend: false,
      cliponaxis: false,
      marker: { color: color("cursor"), size: 12, line: { color: "#fff", width: 2 } } };
    const range = [-0.01, 1.01];
    return Plotly.react(chart, [diagonal(1), ...areas, ...traces, dot], layout({
      legend: legendInside, xaxis: axis("false positive rate", { range }),
      yaxis: axis("true positive rate", { range }) }), tools());
  }

  /* Shows the rates of a threshold, moves the dot there, and returns the rates as text. */
  function moveThreshold(chart, tp, fp, nPositive, nNegative) {
    const rates = { tpr: percent(tp, nPositive), fpr: percent(fp, nNegative),
      precision: percent(tp, tp + fp) };
    Object.entries(rates).forEach(([name, text]) => {
      document.querySelector(`[data-rate=${name}]`).textContent = text;
    });
    // Only the dot is drawn again, so that dragging is smooth.
    Plotly.restyle(chart, { x: [[fp / nNegative]], y: [[tp / nPositive]] },
      [chart.data.length - 1]);
    return `TPR ${rates.tpr}, FPR ${rates.fpr}, precision ${rates.precision}`;
  }

  function drawCalibration(chart, groups, mode = "markers+lines") {
    const take = (name) => groups.map((one) => one[name]);
    // If positives are rare, all values are near 0, so the axes end at the data.
    const end = Math.min(1, 1.08 * Math.max(...take("high"), ...take("probability")));
    const range = [-0.01 * end, end];
    return Plotly.react(chart, [diagonal(end), { x: take("probability"), y: take("share"),
      mode, showlegend: false, line: { color: color("series-0"), width: 1 },
      marker: { size: 9, color: color("series-0") },
      text: groups.map((one) => `${one.n_rows} rows`),
      hovertemplate: "predicted %{x:.3f}, observed %{y:.3f}, %{text}<extra></extra>",
      error_y: { type: "data", symmetric: false, color: color("series-0"), thickness: 1.2, width: 4,
        array: groups.map((one) => one.high - one.share),
        arrayminus: groups.map((one) => one.share - one.low) } }], layout({
      xaxis: axis("mean predicted probability", { range }),
      yaxis: axis("observed fraction of positives", { range }) }), tools());
  }

  return { COLORS, DASHES, axis, layout, tools, legendInside, diagonal, filled, drawRoc,
    moveThreshold, drawCalibration,
    INK, FP: color("fp"), FN: color("fn"), GRAY: color("gray"),
    legendAbove: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom", font: { size: 12 } },
    /* Returns the area between the bounds of the true positive rate. */
    band: ({ fpr, tpr_low, tpr_high }, color) => filled(
      fpr.concat(fpr.slice().reverse()), tpr_high.concat(tpr_low.slice().reverse()), color),
    clamped: (value, low, high) => Math.min(Math.max(value, low), high),
  };
})();
