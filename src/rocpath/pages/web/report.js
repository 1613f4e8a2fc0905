/* Draws the curves of a report and moves its threshold. */
(function () {
  "use strict";
  const { filled, band, clamped, drawRoc, drawCalibration, moveThreshold } = rocpathCharts;
  const data = JSON.parse(document.querySelector(".chart-data script").text);
  const find = (selector) => document.querySelector(selector);
  const roc = find(".roc-comparison");

  /* Fills the area under a curve up to a false positive rate, interpolated there. */
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

  function probability(score) { return 1 / (1 + Math.exp(-score)); }

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
    const rates = moveThreshold(roc, tp, fp, data.n_positive, data.n_negative);
    const slider = find("input.place"), typed = find("input.probability");
    const least = probability(data.grid.threshold[place]);
    slider.value = String(place);
    slider.setAttribute("aria-valuetext", `minimum probability ${least.toPrecision(3)}, ` +
      rates);
    // While the user types, the field is unchanged: "0.0" on the way to 0.05 would be rewritten.
    if (document.activeElement !== typed) typed.value = String(Number(least.toPrecision(3)));
    document.querySelectorAll(".decide [data-predicted]").forEach((button) =>
      button.setAttribute("aria-pressed", String(Number(button.dataset.predicted) === tp + fp)));
    find(".decide").dataset.shown = String(place);
  }

  /* Returns the last place on the grid whose positives have at least this probability. */
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
    // A number outside the range is replaced with the nearest limit.
    typed.addEventListener("change", () => {
      if (typed.value !== "") typed.value = String(clamped(Number(typed.value), 0, 1));
    });
    const predicted = data.grid.tp.map((tp, k) => tp + data.grid.fp[k]);
    // The grid may not contain the threshold of a rule; the nearest one is shown.
    const nearest = (count) => predicted.reduce((best, one, k) =>
      (Math.abs(one - count) < Math.abs(predicted[best] - count) ? k : best), 0);
    const buttons = document.querySelectorAll(".decide [data-predicted]");
    buttons.forEach((button) => button.addEventListener("click",
      () => showPlace(nearest(Number(button.dataset.predicted)))));
    // Show a useful threshold first: a requested one with a guarantee, or the top 10%.
    find(".decide [data-initial]").click();
  }

  const calibration = find(".calibration"), areas = [];
  if (data.band) areas.push(band(data.band, "rgba(0,114,178,0.12)"));
  if (data.max_fpr) areas.push(partialArea(data.curves[0], data.max_fpr));
  Promise.all([
    drawRoc(roc, data.curves, 0, areas),
    calibration && drawCalibration(calibration, data.calibration),
  ]).then(() => {
    if (data.grid) listen();
    roc.dataset.ready = "true";
  });
})();
