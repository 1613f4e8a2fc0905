/* Draws the ROC curves of an evaluation and moves the threshold of the selected score. */
(function () {
  "use strict";
  const { COLORS, band, drawRoc, drawCalibration, moveThreshold } = rocpathCharts;
  const data = JSON.parse(document.querySelector(".chart-data script").text);
  const find = (selector) => document.querySelector(selector);
  const roc = find(".roc-comparison"), slider = find("input.place"), select = find(".model");

  /* Shows the counts and rates of the selected threshold. */
  function showPlace() {
    const one = data.models[Number(select.value)], place = Number(slider.value);
    const tp = one.tp[place], fp = one.fp[place];
    const cells = { tp, fp, fn: data.n_positive - tp, tn: data.n_negative - fp };
    document.querySelectorAll("[data-cell]").forEach((cell) => {
      cell.textContent = cells[cell.dataset.cell].toLocaleString("en");
    });
    const threshold = one.threshold[place].toPrecision(4);
    find("[data-rate=threshold]").textContent = threshold;
    const rates = moveThreshold(roc, tp, fp, data.n_positive, data.n_negative);
    slider.setAttribute("aria-valuetext", `threshold ${threshold}, ${rates}`);
  }

  /* Shows the selected score, at first with a false positive rate of at most 10%. */
  function selectModel() {
    const chosen = Number(select.value), one = data.models[chosen];
    slider.max = String(one.tp.length - 1);
    let place = 0;
    while (place + 1 < one.fp.length && one.fp[place + 1] <= 0.1 * data.n_negative) place++;
    slider.value = String(place);
    find(".calibrated").hidden = !one.calibration.length;
    if (one.calibration.length) drawCalibration(find(".calibration"), one.calibration);
    const shaded = band(one.band, COLORS[chosen % COLORS.length] + "22");
    return drawRoc(roc, data.models, chosen, [shaded]).then(showPlace);
  }

  slider.addEventListener("input", showPlace);
  select.addEventListener("change", selectModel);
  selectModel().then(() => { roc.dataset.ready = "true"; });
})();
