/* Draws the curves of an evaluation and moves the threshold of the selected score. */
(function () {
  "use strict";
  const { COLORS, band, drawRoc, drawCalibration, moveThreshold } = rocpathCharts;
  const { drawPrecision, drawGains, drawDecision, addSmooth } = rocpathDecisions;
  const data = JSON.parse(document.querySelector(".chart-data script").text);
  const find = (selector) => document.querySelector(selector);
  const roc = find(".roc-comparison"), slider = find("input.place"), select = find(".model");

  /* Shows the counts and rates of the selected threshold. */
  function showPlace() {
    const model = data.models[Number(select.value)], place = Number(slider.value);
    const tp = model.tp[place], fp = model.fp[place];
    const cells = { tp, fp, fn: data.n_positive - tp, tn: data.n_negative - fp };
    document.querySelectorAll("[data-cell]").forEach((cell) => {
      cell.textContent = cells[cell.dataset.cell].toLocaleString("en");
    });
    const shares = { sensitivity: [tp, tp + cells.fn], specificity: [cells.tn, cells.tn + fp],
      ppv: [tp, tp + fp], npv: [cells.tn, cells.tn + cells.fn] };
    document.querySelectorAll("[data-share]").forEach((cell) => {
      const [part, whole] = shares[cell.dataset.share];
      const limits = model.limits[cell.dataset.share][place];
      const shown = (x) => (100 * x).toFixed(1);
      cell.textContent = limits && whole
        ? `${shown(part / whole)}% (${shown(limits[0])} to ${shown(limits[1])})` : "–";
    });
    const threshold = model.threshold[place].toPrecision(4);
    find("[data-rate=threshold]").textContent = threshold;
    const rates = moveThreshold(roc, tp, fp, data.n_positive, data.n_negative);
    slider.setAttribute("aria-valuetext", `threshold ${threshold}, ${rates}`);
  }

  /* Shows the selected score, at first with a false positive rate of at most 10%. */
  function selectModel() {
    const chosen = Number(select.value), model = data.models[chosen];
    slider.max = String(model.tp.length - 1);
    let place = 0;
    while (place + 1 < model.fp.length && model.fp[place + 1] <= 0.1 * data.n_negative) place++;
    slider.value = String(place);
    document.querySelectorAll("[data-model]").forEach((part) => {
      part.hidden = Number(part.dataset.model) !== chosen;
    });
    document.querySelectorAll(".calibrated").forEach((part) => {
      part.hidden = !model.calibration.length;
    });
    if (model.calibration.length) {
      drawCalibration(find(".calibration"), model.calibration,
        model.smooth ? "markers" : "markers+lines")
        .then((chart) => model.smooth && addSmooth(chart, model.smooth));
      drawDecision(find(".decision"), data.models, chosen);
    }
    drawPrecision(find(".precision-recall"), data.models, chosen,
      data.n_positive / (data.n_positive + data.n_negative));
    drawGains(find(".gains"), data.models, chosen);
    const shaded = band(model.band, COLORS[chosen % COLORS.length] + "22");
    return drawRoc(roc, data.models, chosen, [shaded]).then(showPlace);
  }

  slider.addEventListener("input", showPlace);
  select.addEventListener("change", selectModel);
  selectModel().then(() => { roc.dataset.ready = "true"; });
})();
