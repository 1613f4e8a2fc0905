/* Draws the ROC curves of a report; names come as HTML text, escaped. */
(function () {
  "use strict";
  const COLORS = ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"];
  const DASHES = ["solid", "dash", "dot", "dashdot", "longdash"];
  const place = document.querySelector(".roc-comparison");
  const curves = JSON.parse(document.querySelector(".roc-data script").text);
  const axis = (text, standoff) => ({ title: { text, standoff }, range: [-0.01, 1.01],
    gridcolor: "#eaeef2", zeroline: false });
  const traces = curves.map((curve, k) => ({ x: curve.fpr, y: curve.tpr, name: curve.name,
    mode: "lines", line: { color: COLORS[k % COLORS.length], width: 2,
      dash: DASHES[k % DASHES.length] } }));
  traces.unshift({ x: [0, 1], y: [0, 1], mode: "lines", hoverinfo: "skip",
    showlegend: false, line: { color: "#c5ccd3", width: 1 } });
  Plotly.newPlot(place, traces, {
    font: { family: "system-ui, 'Liberation Sans', sans-serif", size: 13, color: "#1b1f24" },
    margin: { l: 60, r: 12, t: 32, b: 46 }, hovermode: "closest",
    legend: { x: 0.99, xanchor: "right", y: 0.02, yanchor: "bottom",
      bgcolor: "rgba(255,255,255,0.85)" },
    xaxis: axis("false positive rate", 8), yaxis: axis("true positive rate", 6),
  }, { responsive: true, displaylogo: false,
    modeBarButtons: [["toImage", "zoom2d", "pan2d", "resetScale2d"]] })
    .then(() => { place.dataset.ready = "true"; });
})();
