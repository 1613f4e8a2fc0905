/* Draws the panels around the large view: the small multiples, the whole sequence with the
   visible part, and the label errors of every segmentation. */
(function (shared) {
  "use strict";
  const color = globalThis.rocpathColor;
  const FP = color("fp"), FN = color("fn"), WRONG = color("wrong");
  const THUMB = 8;  // half the width of the slider's thumb, which the CSS sets for all browsers

  function drawShading(pen, labels, places, scale) {
    const { box } = scale;
    labels.forEach((label) => {
      const left = scale.x(label.start), right = scale.x(label.end);
      const wrong = shared.labelError(places, label), kind = shared.KINDS[label.kind];
      pen.fillStyle = kind.color;
      pen.globalAlpha = 0.45;
      pen.fillRect(left, box.top, Math.max(right - left, 1.5), box.height);
      pen.globalAlpha = 1;
      if (!wrong) return;
      pen.fillStyle = WRONG;
      pen.fillRect(left, box.top + box.height - 3, Math.max(right - left, 3), 3);
    });
  }

  /* Draws a whole sequence in a small canvas, and returns its scales. */
  function drawSmall(canvas, signal, labels, model) {
    const { pen, width, height } = shared.cleared(canvas);
    const whole = { from: signal.low, to: signal.high };
    const box = { left: 1, top: 1, width: width - 2, height: height - 2 };
    const scale = shared.scales(signal, whole, box);
    drawShading(pen, labels, model.places, scale);
    shared.drawSignal(pen, signal, scale);
    shared.drawModel(pen, signal, model, scale, 1.4);
    return { pen, scale };
  }

  /* Draws the whole sequence below the large view, darkened outside the visible part. */
  function drawOverview(canvas, state) {
    const { signal, labels, model, view } = state;
    const { pen, scale } = drawSmall(canvas, signal, labels, model), { box } = scale;
    const inBox = (x) => Math.min(Math.max(x, box.left), box.left + box.width);
    const left = inBox(scale.x(view.from)), right = inBox(scale.x(view.to));
    pen.fillStyle = "rgba(87, 96, 106, 0.28)";
    pen.fillRect(0, 0, left, canvas.clientHeight);
    pen.fillRect(right, 0, canvas.clientWidth - right, canvas.clientHeight);
    pen.strokeStyle = shared.INK;
    pen.lineWidth = 1.5;
    pen.strokeRect(Math.max(left, 1), 1, Math.max(right - left - 1, 2),
      canvas.clientHeight - 2);
    return scale;
  }

  /* Returns the position of the slider's thumb for a model. */
  function modelX(k, n, width) {
    return THUMB + (n > 1 ? k / (n - 1) : 0) * (width - 2 * THUMB);
  }

  function modelAt(x, n, width) {
    const k = Math.round((x - THUMB) / (width - 2 * THUMB) * (n - 1));
    return Math.min(Math.max(k, 0), n - 1);
  }

  /* Draws the label errors of every segmentation as two stacked bars below the slider. */
  function drawErrors(canvas, models, errors, shown) {
    const { pen, width, height } = shared.cleared(canvas), n = models.length;
    const most = Math.max(1, ...errors.map((one) => one.fp + one.fn));
    const gap = n > 1 ? (width - 2 * THUMB) / (n - 1) : width;
    const bar = Math.min(Math.max(gap * 0.6, 2), 16), floor = height - 18;
    const unit = Math.min((floor - 8) / most, 14);
    pen.textAlign = "center";
    pen.textBaseline = "top";
    let free = -Infinity;
    models.forEach((model, k) => {
      const x = modelX(k, n, width), { fp, fn } = errors[k];
      if (k === shown) {
        pen.fillStyle = "rgba(0, 114, 178, 0.12)";
        pen.fillRect(x - Math.max(bar / 2 + 3, 8), 0, Math.max(bar + 6, 16), height);
      }
      pen.fillStyle = FN;
      pen.fillRect(x - bar / 2, floor - unit * fn, bar, unit * fn);
      pen.fillStyle = FP;
      pen.fillRect(x - bar / 2, floor - unit * (fp + fn), bar, unit * fp);
      pen.fillStyle = color("soft");
      if (fp + fn === 0) pen.fillRect(x - bar / 2, floor - 1, bar, 2);
      const text = String(model.changes.length), half = pen.measureText(text).width / 2;
      if (x - half > free + 5) {
        pen.fillStyle = k === shown ? shared.INK : shared.SOFT;
        pen.fillText(text, Math.min(Math.max(x, half), width - half), floor + 5);
        free = x + half;
      }
    });
  }

  Object.assign(shared, { drawSmall, drawOverview, drawErrors, modelAt });
})(window.rocpathLabeling);
