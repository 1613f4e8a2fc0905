/* What all charts share: colors, font, tools, axes and layouts of plotly. */
globalThis.rocpathCharts = (function () {
  "use strict";
  const INK = "#1b1f24";
  const FONT = { family: "system-ui, 'Liberation Sans', sans-serif", size: 13, color: INK };
  return {
    // Of the palette of Okabe and Ito, which the color-blind can tell apart; dashes too,
    // for print without colors.
    COLORS: ["#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000"],
    DASHES: ["solid", "dash", "dot", "dashdot", "longdash"],
    INK, FP: "#D55E00", FN: "#0072B2", GRAY: "#767676",
    tools: (...more) => ({ responsive: true, displaylogo: false,
      modeBarButtons: [["toImage", "zoom2d", "pan2d", ...more, "resetScale2d"]] }),
    axis: (text, more) => ({ title: { text, standoff: 6 }, gridcolor: "#eaeef2",
      zeroline: false, ...more }),
    layout: (more) => ({ font: FONT, margin: { l: 60, r: 12, t: 32, b: 46 },
      hovermode: "closest", ...more }),
    legendAbove: { orientation: "h", x: 0, y: 1.01, yanchor: "bottom", font: { size: 12 } },
    legendInside: { x: 0.99, xanchor: "right", y: 0.02, yanchor: "bottom",
      bgcolor: "rgba(255,255,255,0.85)" },
    diagonal: (end) => ({ x: [0, end], y: [0, end], mode: "lines", hoverinfo: "skip",
      showlegend: false, line: { color: "#c5ccd3", width: 1 } }),
    clamped: (value, low, high) => Math.min(Math.max(value, low), high),
  };
})();
