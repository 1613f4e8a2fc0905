/* Charts of decisions: precision-recall, gains and decision curves, and a smooth calibration
   curve. Names are escaped HTML. */
globalThis.rocpathDecisions = (function () {
  "use strict";
  const { COLORS, DASHES, INK, GRAY, axis, layout, tools, legendInside, diagonal, filled }
    = rocpathCharts;
  const RANGE = [-0.01, 1.01];
  const legendTop = { ...legendInside, y: 0.98, yanchor: "top" };

  function line(model, k, chosen, x, y) {
    return { x, y, name: model.name, mode: "lines", legendrank: k, line: {
      color: COLORS[k % COLORS.length], width: k === chosen ? 2.6 : 1.4,
      dash: DASHES[k % DASHES.length] } };
  }

  /* Draws a curve of each model, with the chosen one on top. */
  function drawCurves(chart, models, chosen, read, below, more) {
    const traces = models.map((model, k) => line(model, k, chosen, ...read(model)));
    traces.push(...traces.splice(chosen, 1));
    return Plotly.react(chart, [...below, ...traces], layout(more), tools());
  }

  const drawPrecision = (chart, models, chosen, prevalence) => drawCurves(chart, models, chosen,
    ({ precision }) => [precision.recall, precision.precision],
    [{ x: [0, 1], y: [prevalence, prevalence], mode: "lines", hoverinfo: "skip",
      showlegend: false, line: { color: GRAY, width: 1, dash: "dot" } }],
    { legend: { ...legendTop }, xaxis: axis("recall (true positive rate)", { range: RANGE }),
      yaxis: axis("precision", { range: RANGE }) });

  const drawGains = (chart, models, chosen) => drawCurves(chart, models, chosen,
    ({ gains }) => [gains.share, gains.recall], [diagonal(1)],
    { legend: legendInside, xaxis: axis("share of rows predicted positive", { range: RANGE }),
      yaxis: axis("share of positives found", { range: RANGE }) });

  /* Draws the net benefit of each model that predicts probabilities. */
  function drawDecision(chart, models, chosen) {
    const drawn = models.map((model, k) => ({ model, k })).filter(({ model }) => model.decision);
    const { threshold, low, high, treat_all: all } = models[chosen].decision;
    const top = 1.15 * Math.max(...drawn.flatMap(({ model }) => model.decision.value), ...all, 0.01);
    const area = filled(threshold.concat(threshold.slice().reverse()),
      high.concat(low.slice().reverse()), COLORS[chosen % COLORS.length] + "22");
    const plain = (y, name, color) => ({ x: threshold, y, name, mode: "lines",
      line: { color, width: 1.2, dash: "solid" } });
    const traces = drawn.map(({ model, k }) => line(model, k, chosen, model.decision.threshold,
      model.decision.value));
    return Plotly.react(chart, [area, ...traces, plain(all, "all positive", GRAY),
      plain(threshold.map(() => 0), "none positive", INK)], layout({ legend: legendTop,
      xaxis: axis("threshold probability", { range: [0, threshold.at(-1)] }),
      yaxis: axis("net benefit", { range: [-0.35 * top, top] }) }), tools());
  }

  /* Adds the smooth calibration curve with its limits to a drawn calibration plot. */
  function addSmooth(chart, smooth) {
    const { probability, share, low, high } = smooth;
    return Plotly.addTraces(chart, [
      filled(probability.concat(probability.slice().reverse()),
        high.concat(low.slice().reverse()), COLORS[1] + "22"),
      { x: probability, y: share, mode: "lines", showlegend: false, hoverinfo: "skip",
        line: { color: COLORS[1], width: 2 } }]);
  }

  return { drawPrecision, drawGains, drawDecision, addSmooth };
})();
