/* Draws the ROC curves of an evaluation and moves the threshold of the selected score. */
(function () {
  "use strict";
  const { COLORS, DASHES, axis, layout, diagonal, ...charts } = rocpathCharts;
  const data = JSON.parse(document.querySelector(".chart-data script").text);
  const find = (selector) => document.querySelector(selector);
  const roc = find(".roc-comparison"), slider = find("input.place"), select = find(".model");

  function band({ fpr_low, fpr_high, tpr_low, tpr_high }, color) {
    return { x: fpr_low.concat(fpr_high.slice().reverse()),
      y: tpr_high.concat(tpr_low.slice().reverse()), mode: "lines", fill: "toself",
      fillcolor: color + "22", line: { width: 0 }, hoverinfo: "skip", showlegend: false };
  }

  function drawRoc(chosen) {
    const color = (k) => COLORS[k % COLORS.length];
    const traces = [diagonal(1), band(data.models[chosen].band, color(chosen))];
    data.models.forEach((one, k) => traces.push({ x: one.fpr, y: one.tpr, name: one.name,
      mode: "lines", line: { color: color(k), width: k === chosen ? 2.6 : 1.4,
        dash: DASHES[k % DASHES.length] } }));
    traces.push({ x: [0], y: [0], mode: "markers", hoverinfo: "skip", showlegend: false,
      cliponaxis: false,
      marker: { color: "#d1242f", size: 12, line: { color: "#fff", width: 2 } } });
    const range = [-0.01, 1.01];
    return Plotly.react(roc, traces, layout({ legend: charts.legendInside,
      xaxis: axis("false positive rate", { range }),
      yaxis: axis("true positive rate", { range }) }), charts.tools());
  }

  function drawCalibration(groups) {
    find(".calibrated").hidden = !groups.length;
    if (!groups.length) return;
    const take = (name) => groups.map((one) => one[name]);
    const end = Math.min(1, 1.08 * Math.max(...take("high"), ...take("probability")));
    Plotly.react(find(".calibration"), [diagonal(end), { x: take("probability"),
      y: take("share"), mode: "markers+lines", showlegend: false,
      line: { color: "#0072B2", width: 1 }, marker: { size: 9, color: "#0072B2" },
      error_y: { type: "data", symmetric: false, color: "#0072B2", thickness: 1.2, width: 4,
        array: groups.map((one) => one.high - one.share),
        arrayminus: groups.map((one) => one.share - one.low) } }], layout({
      xaxis: axis("mean predicted probability", { range: [-0.01 * end, end] }),
      yaxis: axis("observed share of positives", { range: [-0.01 * end, end] }),
    }), charts.tools());
  }

  function percent(part, whole) {
    return whole ? `${(100 * part / whole).toFixed(1)}%` : "–";
  }

  /* Shows counts and rates of a threshold, and moves the dot, which is the last trace. */
  function showPlace() {
    const one = data.models[Number(select.value)], place = Number(slider.value);
    const tp = one.tp[place], fp = one.fp[place];
    const cells = { tp, fp, fn: data.n_positive - tp, tn: data.n_negative - fp };
    document.querySelectorAll("[data-cell]").forEach((cell) => {
      cell.textContent = cells[cell.dataset.cell].toLocaleString("en");
    });
    const shown = { threshold: one.threshold[place].toPrecision(4),
      tpr: percent(tp, data.n_positive), fpr: percent(fp, data.n_negative),
      precision: percent(tp, tp + fp) };
    Object.entries(shown).forEach(([name, text]) => {
      find(`[data-rate=${name}]`).textContent = text;
    });
    slider.setAttribute("aria-valuetext", `threshold ${shown.threshold}, TPR ${shown.tpr}, ` +
      `FPR ${shown.fpr}, precision ${shown.precision}`);
    return Plotly.restyle(roc, { x: [[fp / data.n_negative]], y: [[tp / data.n_positive]] },
      [roc.data.length - 1]);
  }

  /* The first threshold shown has a false positive rate of at most a tenth. */
  function selectModel() {
    const one = data.models[Number(select.value)];
    slider.max = String(one.tp.length - 1);
    let place = 0;
    while (place + 1 < one.fp.length && one.fp[place + 1] <= 0.1 * data.n_negative) place++;
    slider.value = String(place);
    drawCalibration(one.calibration);
    return drawRoc(Number(select.value)).then(showPlace);
  }

  slider.addEventListener("input", showPlace);
  select.addEventListener("change", selectModel);
  selectModel().then(() => { roc.dataset.ready = "true"; });
})();
