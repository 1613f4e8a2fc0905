/* Updates the linked panels of a line search. AUM, AUC, the ROC curve and the errors at a
   step are computed from the lines, so that the page contains no table of them. */
(function () {
  "use strict";
  const { FP, FN, GRAY: BOTH, INK, axis, layout, clamped, ...charts } = rocpathCharts;
  const VARIANT_COLORS = ["first-min", "linear", "best-aum", "best-auc"].map(
    globalThis.rocpathColor);
  const SVG = "http://www.w3.org/2000/svg";
  const N_TICKS = 1000, LINES_PER_TRACE = 25;

  function sum(values) { return values.reduce((total, value) => total + value, 0); }

  /* Computes FP, FN and the thresholds at which they change at one step. Thresholds that
     differ only by rounding are tied, so that a crossing is a slanted piece of the curve. */
  function errorsAt(lines, order, step) {
    const n = order.length, threshold = new Float64Array(n);
    let size = 0;
    for (let b = 0; b < n; b++) {
      threshold[b] = lines.intercept[b] + step * lines.slope[b];
      size = Math.max(size, Math.abs(lines.intercept[b]), Math.abs(step * lines.slope[b]));
    }
    order.sort((a, b) => threshold[a] - threshold[b]);
    const edge = [], fp = [0], fn = [lines.total_fn];
    let last = -Infinity;
    for (const b of order) {
      if (threshold[b] - last > 1e-14 * size || edge.length === 0) {
        last = threshold[b];
        edge.push(last);
        fp.push(fp[fp.length - 1]);
        fn.push(fn[fn.length - 1]);
      }
      fp[fp.length - 1] += lines.fp_diff[b];
      fn[fn.length - 1] += lines.fn_diff[b];
    }
    return { edge, fp, fn };
  }

  function areas(errors, totalFp, totalFn) {
    let aum = 0, auc = 0;
    const { edge, fp, fn } = errors;
    for (let k = 0; k < edge.length; k++) {
      if (k > 0) aum += Math.min(fp[k], fn[k]) * (edge[k] - edge[k - 1]);
      auc += (fp[k + 1] - fp[k]) * (totalFn - (fn[k] + fn[k + 1]) / 2);
    }
    return { aum: Math.max(aum, 0), auc: auc / (totalFp * totalFn) };
  }

  /* Plotly draws the axes once; everything that depends on the step is drawn over them,
     since redrawing a figure takes a hundred times as long. */
  function overlay(place, names) {
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "overlay");
    const path = {};
    names.forEach((name) => {
      path[name] = document.createElementNS(SVG, "path");
      path[name].setAttribute("class", name);
      svg.appendChild(path[name]);
    });
    place.appendChild(svg);
    const scaled = ([low, high], length) => (at) => (at - low) / (high - low) * length;
    /* Fits the overlay to the axes and returns functions from numbers to pixels. */
    function fit() {
      const { l, t, w, h } = place._fullLayout._size;
      Object.assign(svg.style, { left: `${l}px`, top: `${t}px`, width: `${w}px`,
        height: `${h}px` });
      const y = scaled(place.layout.yaxis.range, h);
      return { x: scaled(place.layout.xaxis.range, w), y: (at) => h - y(at), height: h };
    }
    return { path, fit };
  }

  function roomFor(range, low, high) {
    const width = high - low || 1;
    const isGood = range[0] <= low && high <= range[1] && width > 0.4 * (range[1] - range[0]);
    return isGood ? range : [low - 0.12 * width, high + 0.12 * width];
  }

  /* Changes the range of an axis only if the curve would not fit or would be small. */
  function makeRoom(place, axis, low, high) {
    const range = place.layout[axis].range, wanted = roomFor(range, low, high);
    if (wanted !== range) Plotly.relayout(place, { [`${axis}.range`]: wanted });
  }

  function extent(values) {
    let low = Infinity, high = -Infinity;
    for (const value of values) {
      if (value < low) low = value;
      if (value > high) high = value;
    }
    return [low, high];
  }

  function curvePath(xs, ys, scale) {
    let text = "";
    for (let k = 0; k < xs.length; k++) {
      text += `${k ? "L" : "M"}${scale.x(xs[k]).toFixed(1)},${scale.y(ys[k]).toFixed(1)}`;
    }
    return text;
  }

  /* Returns the path of the step function with values[k] from edge[k - 1] to edge[k]. */
  function stepPath(edge, values, scale) {
    let text = `M-10,${scale.y(values[0]).toFixed(1)}`;
    for (let k = 0; k < edge.length; k++) {
      text += `H${scale.x(edge[k]).toFixed(1)}V${scale.y(values[k + 1]).toFixed(1)}`;
    }
    return `${text}H9999`;
  }

  /* Interpolates a curve at a step. */
  function interpolated(curve, step) {
    let low = 0, high = curve.step.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (curve.step[middle] <= step) low = middle; else high = middle;
    }
    const width = curve.step[high] - curve.step[low];
    const part = width > 0 ? Math.min(1, (step - curve.step[low]) / width) : 0;
    return curve.value[low] + part * (curve.value[high] - curve.value[low]);
  }

  /* Splits lines into small traces, because overlapping lines of one trace are not drawn
     darker. Frequent colors come first, so that rare ones are on top. */
  function lineTraces(lines, end) {
    const color = (b) => lines.fp_diff[b] && lines.fn_diff[b] ? BOTH
      : lines.fp_diff[b] ? FP : FN;
    const count = {};
    lines.slope.forEach((_, b) => { count[color(b)] = (count[color(b)] || 0) + 1; });
    const order = Array.from(lines.slope.keys())
      .sort((a, b) => count[color(b)] - count[color(a)]);
    // If a color has few lines, each must be visible among many of another color.
    const opacity = (one) => clamped(100 / count[one], 0.3, 1);
    const open = {}, traces = [];
    order.forEach((b) => {
      let trace = open[color(b)];
      if (!trace || trace.x.length >= 3 * LINES_PER_TRACE) {
        trace = { x: [], y: [], mode: "lines", showlegend: false, hoverinfo: "skip",
          opacity: opacity(color(b)), line: { color: color(b), width: 1, simplify: false } };
        open[color(b)] = trace;
        traces.push(trace);
      }
      trace.x.push(0, end, null);
      trace.y.push(lines.intercept[b], lines.intercept[b] + end * lines.slope[b], null);
    });
    const keys = [["FP changes", FP], ["FN changes", FN], ["both change", BOTH]];
    return traces.concat(keys.filter(([, one]) => one in open).map(([name, one]) => ({
      x: [null], y: [null], mode: "lines", name, line: { color: one, width: 3 } })));
  }

  function verticalLine(step, color, dash, width) {
    return { type: "line", x0: step, x1: step, yref: "paper", y0: 0, y1: 1,
      line: { color, dash, width } };
  }

  function drawSteps(place, data) {
    const traces = lineTraces(data.lines, data.max_step);
    [["AUM", data.aum, "y2"], ["AUC", data.auc, "y3"]].forEach(([name, curve, yaxis]) =>
      traces.push({ x: curve.step, y: curve.value, yaxis, name, mode: "lines",
        showlegend: false, line: { color: INK, width: 1.8 } }));
    data.variants.forEach((one, k) => [[one.aum, "y2"], [one.auc, "y3"]].forEach(
      ([value, yaxis]) => traces.push({ x: [one.step], y: [value], yaxis, mode: "markers",
        name: one.name, showlegend: false, cliponaxis: false,
        marker: { color: VARIANT_COLORS[k % 4], size: 12 - 2 * k } })));
    const part = (title, domain) => axis(title, { domain, automargin: true });
    return Plotly.newPlot(place, traces, layout({
      margin: { l: 60, r: 12, t: 26, b: 44 }, legend: charts.legendAbove,
      xaxis: axis("step size", { anchor: "y", range: [0, data.max_step] }),
      yaxis: part("threshold", [0, 0.42]), yaxis2: part("AUM", [0.48, 0.71]),
      yaxis3: part("AUC", [0.77, 1]),
      shapes: data.variants.map((one, k) =>
        verticalLine(one.step, VARIANT_COLORS[k % 4], "dot", 1.2)),
    }), charts.tools("zoomIn2d", "zoomOut2d"));
  }

  function drawAxes(place, xTitle, yTitle, names) {
    const range = [-0.02, 1.02];
    const keys = names.map(([name, color, width]) => ({ x: [null], y: [null], name,
      mode: "lines", line: { color, width } }));
    return Plotly.newPlot(place, keys.length ? keys : [{ x: [null], y: [null] }], layout({
      margin: { l: 60, r: 12, t: keys.length ? 26 : 8, b: 44 },
      showlegend: keys.length > 0, legend: charts.legendAbove,
      xaxis: axis(xTitle, { range }), yaxis: axis(yTitle, { range }),
    }), { responsive: true, staticPlot: true });
  }

  function showRoc(place, layer, errors, totalFp, totalFn) {
    const fpr = errors.fp.map((value) => value / totalFp);
    const tpr = errors.fn.map((value) => 1 - value / totalFn);
    const inUnit = ([low, high]) => [Math.min(low, 0), Math.max(high, 1)];
    makeRoom(place, "xaxis", ...inUnit(extent(fpr)));
    makeRoom(place, "yaxis", ...inUnit(extent(tpr)));
    const scale = layer.fit();
    layer.path.chance.setAttribute("d", curvePath([0, 1], [0, 1], scale));
    layer.path.curve.setAttribute("d", curvePath(fpr, tpr, scale));
  }

  function showErrors(place, layer, errors) {
    const least = errors.fp.map((value, k) => Math.min(value, errors.fn[k]));
    const [low, high] = extent(errors.fp.concat(errors.fn));
    makeRoom(place, "xaxis", errors.edge[0], errors.edge[errors.edge.length - 1]);
    makeRoom(place, "yaxis", Math.min(low, 0), high);
    const scale = layer.fit(), zero = scale.y(0).toFixed(1);
    const smallest = stepPath(errors.edge, least, scale);
    layer.path.aum.setAttribute("d", `${smallest}V${zero}H-10Z`);
    layer.path.fp.setAttribute("d", stepPath(errors.edge, errors.fp, scale));
    layer.path.fn.setAttribute("d", stepPath(errors.edge, errors.fn, scale));
    layer.path.least.setAttribute("d", smallest);
  }

  function shown(value) {
    return Number.isFinite(value) ? String(Number(value.toPrecision(6))) : "–";
  }

  function readPage(section) {
    const find = (selector) => section.querySelector(selector);
    const data = JSON.parse(find("script[type='application/json']").text);
    data.lines.total_fn = -sum(data.lines.fn_diff);
    return {
      section, data, find, layer: {}, step: 0, variant: null, pending: null,
      totalFp: sum(data.lines.fp_diff), totalFn: data.lines.total_fn,
      order: Array.from(data.lines.slope.keys()),
      slider: find("input[type=range]"), number: find("input[type=number]"),
      buttons: Array.from(section.querySelectorAll("button")),
      panel: { steps: find(".steps"), roc: find(".roc"), errors: find(".errors") },
    };
  }

  function writeNumbers(page, values, isExact) {
    const { step, slider, number } = page;
    [["step", step, true], ["aum", values.aum, isExact], ["auc", values.auc, isExact]].forEach(
      ([name, value, isSure]) => {
        const output = page.find(`[data-value=${name}]`);
        output.textContent = (isSure ? "" : "≈ ") + shown(value);
        output.dataset.number = String(value);
      });
    slider.value = String(Math.round(step / page.data.max_step * N_TICKS));
    slider.setAttribute("aria-valuetext",
      `step ${shown(step)}, AUM ${shown(values.aum)}, AUC ${shown(values.auc)}`);
    // The field is not rewritten while the user types.
    if (document.activeElement !== number) number.value = String(Number(step.toPrecision(8)));
    page.buttons.forEach((button) => button.setAttribute("aria-pressed",
      String(Number(button.dataset.step) === step)));
  }

  function showCursor(page) {
    const scale = page.layer.steps.fit(), x = scale.x(page.step).toFixed(1);
    page.layer.steps.path.cursor.setAttribute("d", `M${x},0V${scale.height}`);
  }

  /* Shows a step. The values of a variant are exact. */
  function show(page, step, variant) {
    const began = performance.now(), { data, section } = page;
    Object.assign(page, { step, variant });
    const errors = errorsAt(data.lines, page.order, step);
    const fromCurves = () => ({ aum: interpolated(data.aum, step),
      auc: interpolated(data.auc, step) });
    const values = variant
      || (data.is_sample ? fromCurves() : areas(errors, page.totalFp, page.totalFn));
    writeNumbers(page, values, Boolean(variant) || !data.is_sample);
    showCursor(page);
    showRoc(page.panel.roc, page.layer.roc, errors, page.totalFp, page.totalFn);
    showErrors(page.panel.errors, page.layer.errors, errors);
    section.dataset.milliseconds = String(performance.now() - began);
    section.dataset.shown = String(step);
  }

  function request(page, step, variant) {
    if (!Number.isFinite(step)) return;
    const isIdle = page.pending === null;
    page.pending = [clamped(step, 0, page.data.max_step), variant];
    // Several moves of the slider within a frame are drawn once.
    if (isIdle) requestAnimationFrame(() => {
      const [nextStep, nextVariant] = page.pending;
      page.pending = null;
      show(page, nextStep, nextVariant);
    });
  }

  function listen(page) {
    const { slider, number, panel, data } = page;
    slider.addEventListener("input",
      () => request(page, slider.value / N_TICKS * data.max_step));
    number.addEventListener("input", () => {
      if (number.value !== "") request(page, Number(number.value));
    });
    // A number outside the range is replaced with the nearest limit.
    number.addEventListener("change", () => {
      const typed = Number(number.value);
      if (number.value !== "" && Number.isFinite(typed)) {
        number.value = String(clamped(typed, 0, data.max_step));
      }
    });
    page.buttons.forEach((button) => button.addEventListener("click", () => {
      const variant = data.variants[Number(button.dataset.variant)];
      request(page, variant ? variant.step : 0, variant);
    }));
    panel.steps.on("plotly_click", (event) => request(page, event.points[0].x));
    panel.steps.on("plotly_relayout", () => showCursor(page));
    window.addEventListener("resize",
      () => setTimeout(() => show(page, page.step, page.variant), 200));
  }

  function start(section) {
    const page = readPage(section), { panel, layer, data } = page;
    const keys = [["FP", FP, 3], ["FN", FN, 3],
      ["min (area: AUM)", INK, 1.5]];
    Promise.all([
      drawSteps(panel.steps, data),
      drawAxes(panel.roc, "false positive rate", "true positive rate", []),
      drawAxes(panel.errors, "threshold: constant added to predictions", "errors", keys),
    ]).then(() => {
      layer.steps = overlay(panel.steps, ["cursor"]);
      layer.roc = overlay(panel.roc, ["chance", "curve"]);
      layer.errors = overlay(panel.errors, ["aum", "fp", "fn", "least"]);
      listen(page);
      show(page, 0);
      section.dataset.ready = "true";
    });
  }

  document.querySelectorAll(".explorer:not([data-ready])").forEach(start);
})();
