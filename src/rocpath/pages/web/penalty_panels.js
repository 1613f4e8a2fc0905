/* Panels of the report of learned penalties, as traces and layouts of Plotly. The names in
   chart data are already escaped; names of sequences are escaped here. */
(function (shared) {
  "use strict";
  const { COLORS, DASHES, INK, FP, FN, GRAY, ...charts } = rocpathCharts;
  const color = globalThis.rocpathColor;
  const NARROW = 620;  // width in pixels below which panels are stacked vertically

  const escaped = (text) => text.replace(/&/g, "&amp;").replace(/</g, "&lt;")
    .replace(/>/g, "&gt;");
  const words = (kind) => kind.replace(/_/g, " ");
  const axis = (text, more) => charts.axis(text, { automargin: true, ...more });
  const layout = (more) => charts.layout({ margin: { l: 56, r: 12, t: 14, b: 46 },
    showlegend: false, ...more });

  /* Returns the points of a step function with value[k] from edge[k] to edge[k + 1]. */
  function steps(edge, value) {
    const x = [], y = [];
    value.forEach((one, k) => { x.push(edge[k], edge[k + 1]); y.push(one, one); });
    return { x, y };
  }

  function errors(rows) {
    return { traces: [{ type: "bar", orientation: "h", y: rows.map((row) => row[0]),
      x: rows.map((row) => row[1]), marker: { color: rows.map((_, k) => COLORS[k % 6]) },
      error_x: { symmetric: false, color: INK, array: rows.map((row) => row[3] - row[1]),
        arrayminus: rows.map((row) => row[1] - row[2]) },
      hovertemplate: "%{y}: %{x} label errors<extra></extra>" }],
      layout: layout({ xaxis: axis("label errors", { rangemode: "tozero" }),
        yaxis: axis("", { autorange: "reversed" }) }) };
  }

  function roc(curves, width) {
    const traces = [charts.diagonal(1)];
    curves.forEach((curve, k) => {
      const color = COLORS[k % COLORS.length];
      traces.push({ x: curve.fpr, y: curve.tpr, mode: "lines", legendgroup: k,
        name: `${curve.name}, AUC ${curve.auc.toFixed(3)}`,
        line: { color, width: 2, dash: DASHES[k % DASHES.length] } });
      // Along the curve, constants are added to the predictions; the dot marks the constant 0.
      traces.push({ x: [curve.predicted[0]], y: [curve.predicted[1]], mode: "markers",
        name: `${curve.name}, as predicted`, legendgroup: k, showlegend: false,
        marker: { color, size: 10, line: { color: "#fff", width: 1.5 } } });
    });
    const below = { x: 0, xanchor: "left", y: -0.22, yanchor: "top" };
    return { traces, layout: layout({ showlegend: true,
      legend: width < NARROW ? below : charts.legendInside,
      xaxis: axis("false positive rate"), yaxis: axis("true positive rate") }) };
  }

  function coefficients(rows, width) {
    const shown = rows.slice(0, 20);
    const text = (name) => (width < NARROW && name.length > 22 ? `${name.slice(0, 21)}…`
      : name);
    return { traces: [{ type: "bar", orientation: "h", x: shown.map((row) => row[1]),
      // Bars are placed by index, because two features may have the same shortened name.
      y: shown.map((_, k) => k), hovertext: shown.map((row) => row[0]),
      hoverinfo: "text+x",
      marker: { color: shown.map((row) => (row[1] < 0 ? FP : FN)) } }],
      layout: layout({ height: 90 + 24 * shown.length,
        xaxis: axis("log penalty", { zeroline: true, zerolinecolor: color("soft") }),
        yaxis: axis("", { autorange: "reversed", tickvals: shown.map((_, k) => k),
          ticktext: shown.map((row) => text(row[0])) }) }) };
  }

  function path([alpha, mean, error, selected]) {
    const at = alpha.indexOf(selected);
    return { traces: [{ x: alpha, y: mean, mode: "lines+markers",
      error_y: { array: error, color: color("gray") }, line: { color: color("series-0") },
      hovertemplate: "L1 weight %{x:.3g}: %{y:.3f}<extra></extra>" },
    { x: [alpha[at]], y: [mean[at]], mode: "markers", hoverinfo: "skip",
      marker: { symbol: "circle-open", size: 15, color: INK, line: { width: 2 } } }],
      layout: layout({ yaxis: axis("cross-validated loss"),
        xaxis: axis("L1 weight (fraction of the largest)",
          { type: "log", autorange: "reversed" }) }) };
  }

  function regions(one, kinds) {
    const shapes = [], annotations = [];
    for (const [start, end, kind, outcome] of one.labels) {
      shapes.push({ type: "rect", xref: "x", yref: "y domain", x0: start, x1: end, y0: 0,
        y1: 1, fillcolor: kinds[kind], opacity: outcome ? 0.45 : 0.3, layer: "below",
        line: { color: INK, width: outcome ? 4 : 0 } });
      if (outcome) {
        annotations.push({ xref: "x", yref: "y domain", x: (start + end) / 2, y: 1,
          yanchor: "top", text: `<b>${outcome}</b>`, showarrow: false,
          bgcolor: INK, font: { color: "#fff", size: 12 } });
      }
    }
    return { shapes, annotations };
  }

  function line(ref, x, dash) {
    return { type: "line", xref: ref, yref: ref === "x" ? "y domain" : "y2 domain", x0: x,
      x1: x, y0: 0, y1: 1, line: { color: ref === "x" ? INK : color("soft"), dash,
        width: ref === "x" ? 1 : 2 } };
  }

  /* Names of the curves of label errors, on the left, because the buttons of the chart are on
     the right. */
  function errorNames() {
    return [["FP", color("fp-text"), 0], ["FN", color("fn"), 0.14]].map(([text, shade, x]) => (
      { xref: "x2 domain", yref: "y2 domain", x, y: 1.0, text: `<b>${text}</b>`,
        xanchor: "left", yanchor: "bottom", showarrow: false, font: { color: shade } }));
  }

  /* Returns the panel of a sequence, with its label errors by penalty beside or below it. */
  function sequence(one, { is_time: isTime, kinds }, width) {
    const isNarrow = width < NARROW;
    const { shapes, annotations } = regions(one, kinds);
    one.edge.slice(1, -1).forEach((x) => shapes.push(line("x", x, "dash")));
    shapes.push(line("x2", one.log_penalty, "dash"), line("x2", one.final, "dot"));
    const middle = one.labels.map(([start, end]) => (start + end) / 2);
    const top = Math.max(...one.value), known = { xaxis: "x2", yaxis: "y2" };
    const traces = [
      { x: one.position, y: one.value, mode: "markers",
        marker: { color: GRAY, size: 4 }, name: "value",
        hovertemplate: "%{x}: %{y}<extra></extra>" },
      { ...steps(one.edge, one.mean), mode: "lines", name: "mean",
        line: { color: "#000", width: 2.5 }, hoverinfo: "skip" },
      // Invisible markers show hover text, which shapes do not support.
      { x: middle, y: middle.map(() => top), mode: "markers", marker: { opacity: 0 },
        hovertext: one.labels.map(([, , kind, outcome]) =>
          `${words(kind)}: ${outcome || "correct"}`),
        hoverinfo: "text" },
      { x: one.edge.slice(1, -1), y: one.gain.map(() => top), mode: "markers",
        marker: { opacity: 0 }, hoverinfo: "text",
        hovertext: one.gain.map((gain) => `change, gain in cost ${gain.toPrecision(3)}`) },
      { ...steps(one.penalty_edge, one.fp), ...known, mode: "lines", name: "FP",
        // The line below is wider, so that both are visible where they coincide.
        line: { color: FP, width: 5 } },
      { ...steps(one.penalty_edge, one.fn), ...known, mode: "lines", name: "FN",
        line: { color: FN, width: 2.5 } },
    ];
    annotations.push(...errorNames());
    const most = Math.max(1, ...one.fp, ...one.fn);
    const domains = isNarrow
      ? { x: [0, 1], y: [0.5, 1], x2: [0, 1], y2: [0, 0.3] }
      : { x: [0, 0.66], y: [0, 1], x2: [0.74, 1], y2: [0, 0.94] };
    return { traces, layout: layout({ shapes, annotations,
      xaxis: axis(isTime ? "" : "position", { domain: domains.x, anchor: "y",
        type: isTime ? "date" : "linear" }),
      yaxis: axis("value", { domain: domains.y }),
      xaxis2: axis("log penalty", { domain: domains.x2, anchor: "y2" }),
      yaxis2: axis("label errors", { domain: domains.y2, anchor: "x2",
        range: [-0.06 * most, 1.06 * most], tickformat: "d",
        dtick: Math.ceil(most / 5) }) }) };
  }

  shared.penaltyPanels = { words, escaped, errors, roc, coefficients, path, sequence };
})(globalThis);
