/* Draws a sequence: values at the resolution of the screen, a segmentation, and labels. */
(function (shared) {
  "use strict";
  const color = globalThis.rocpathColor;
  const INK = color("ink"), SOFT = color("soft"), RULE = color("rule"), SIGNAL = color("gray");
  const WRONG = color("wrong");
  const FONT = "12px system-ui, -apple-system, 'Segoe UI', Roboto, 'Liberation Sans', sans-serif";
  const BAND = 19;  // height of the strip with a label's name
  const SECOND = 1000, MINUTE = 60 * SECOND, HOUR = 60 * MINUTE, DAY = 24 * HOUR;
  const TIME_STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, ...[1, 2, 5, 10, 15, 30].map(
    (k) => k * SECOND), ...[1, 2, 5, 10, 15, 30].map((k) => k * MINUTE),
  ...[1, 2, 3, 6, 12].map((k) => k * HOUR), ...[1, 2, 7, 14, 30, 91, 182, 365, 730, 1826,
    3652].map((k) => k * DAY)];
  const MAX_DENSITY = 1.5;  // observations per pixel above which only extremes are drawn

  /* Clears a canvas and sets its resolution to that of the screen. */
  function cleared(canvas) {
    const width = canvas.clientWidth, height = canvas.clientHeight;
    const ratio = window.devicePixelRatio || 1;
    if (canvas.width !== Math.round(width * ratio)
      || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(width * ratio);
      canvas.height = Math.round(height * ratio);
    }
    const pen = canvas.getContext("2d");
    pen.setTransform(ratio, 0, 0, ratio, 0, 0);
    pen.clearRect(0, 0, width, height);
    pen.font = FONT;
    return { pen, width, height };
  }

  /* Returns the conversions between positions, scaled values and pixels of a box. */
  function scales(signal, view, box) {
    const { position } = signal;
    const first = Math.max(position.from(view.from) - 1, 0);
    const last = Math.min(position.from(view.to) + 1, position.n);
    let [low, high] = signal.extremes(first, Math.max(last, first + 1));
    const room = (high - low) * 0.06 || 0.1;
    [low, high] = [low - room, high + room];
    return {
      first, last, low, high, box, view,
      x: (p) => box.left + (p - view.from) / (view.to - view.from) * box.width,
      y: (v) => box.top + box.height - (v - low) / (high - low) * box.height,
      place: (x) => view.from + (x - box.left) / box.width * (view.to - view.from),
    };
  }

  function drawExtremes(pen, signal, scale) {
    const { box, place, y } = scale, { position } = signal;
    let before = null, i = scale.first;
    pen.beginPath();
    for (let px = 0; px < box.width; px++) {
      const next = Math.min(position.from(place(box.left + px + 1)), position.n);
      if (next > i) {
        let [low, high] = signal.extremes(i, next);
        // Each pixel column is connected to the previous one.
        if (before && before[1] < low) low = before[1];
        if (before && before[0] > high) high = before[0];
        pen.moveTo(box.left + px + 0.5, y(low) + 0.5);
        pen.lineTo(box.left + px + 0.5, y(high) - 0.5);
        before = signal.extremes(i, next);
        i = next;
      }
    }
    pen.lineWidth = 1;
    pen.strokeStyle = SIGNAL;
    pen.globalAlpha = 0.7;  // so that labels remain visible below it
    pen.stroke();
    pen.globalAlpha = 1;
  }

  function drawRuns(pen, signal, scale) {
    const { position, values } = signal;
    pen.beginPath();
    for (let i = scale.first; i < scale.last; i++) {
      const end = i + 1 < position.n ? position.at(i + 1) : scale.view.to;
      pen.lineTo(scale.x(position.at(i)), scale.y(values[i]));
      pen.lineTo(scale.x(end), scale.y(values[i]));
    }
    pen.lineWidth = 1.3;
    pen.strokeStyle = SIGNAL;
    pen.stroke();
  }

  function drawPoints(pen, signal, scale) {
    const { position, values } = signal, { box } = scale;
    const density = box.width / Math.max(scale.last - scale.first, 1);
    const [least, most] = box.height > 100 ? [1.6, 3] : [0.9, 1.4];
    const radius = Math.min(Math.max(density * 0.35, least), most);
    pen.beginPath();
    for (let i = scale.first; i < scale.last; i++) {
      const x = scale.x(position.at(i)), y = scale.y(values[i]);
      pen.moveTo(x + radius, y);
      pen.arc(x, y, radius, 0, 2 * Math.PI);
    }
    pen.fillStyle = SIGNAL;
    pen.fill();
  }

  function drawSignal(pen, signal, scale) {
    if (scale.last - scale.first > MAX_DENSITY * scale.box.width) {
      drawExtremes(pen, signal, scale);
    } else if (signal.isRuns) drawRuns(pen, signal, scale);
    else drawPoints(pen, signal, scale);
  }

  function drawModel(pen, signal, model, scale, width) {
    const { position } = signal, { box } = scale;
    const ends = [...model.places, Infinity];
    const inBox = (x) => Math.min(Math.max(x, box.left - 5), box.left + box.width + 5);
    pen.fillStyle = INK;
    pen.globalAlpha = 0.15;
    for (const [low, high] of model.intervals) {
      const left = inBox(scale.x(low));
      pen.fillRect(left, box.top, inBox(scale.x(high)) - left, box.height);
    }
    pen.globalAlpha = 1;
    pen.strokeStyle = INK;
    pen.lineWidth = width;
    pen.beginPath();
    model.mean.forEach((mean, k) => {
      const start = k === 0 ? position.at(0) : ends[k - 1];
      if (start > scale.view.to || ends[k] < scale.view.from) return;
      const end = Math.min(ends[k], signal.high), slope = model.rise[k] / (end - start || 1);
      const from = Math.max(start, scale.view.from), to = Math.min(end, scale.view.to);
      const level = (at) => scale.y(mean + slope * (at - (start + end) / 2));
      pen.moveTo(slope ? scale.x(from) : inBox(scale.x(start)), level(from));
      pen.lineTo(slope ? scale.x(to) : inBox(scale.x(end)), level(to));
    });
    pen.stroke();
    pen.lineWidth = Math.max(width / 2, 0.8);
    pen.setLineDash(width > 1.5 ? [5, 4] : []);
    pen.beginPath();
    for (const at of model.places) {
      if (at < scale.view.from || at > scale.view.to) continue;
      pen.moveTo(scale.x(at), box.top);
      pen.lineTo(scale.x(at), box.top + box.height);
    }
    pen.stroke();
    pen.setLineDash([]);
  }

  /* Draws diagonal lines over wrong labels, so that they are not marked by color alone. */
  function hatch(pen, left, top, width, height) {
    pen.save();
    pen.beginPath();
    pen.rect(left, top, width, height);
    pen.clip();
    pen.beginPath();
    for (let x = left - height; x < left + width; x += 9) {
      pen.moveTo(x, top + height);
      pen.lineTo(x + height, top);
    }
    pen.strokeStyle = WRONG;
    pen.globalAlpha = 0.5;
    pen.lineWidth = 1;
    pen.stroke();
    pen.restore();
  }

  function fitting(pen, texts, width) {
    return texts.find((one) => pen.measureText(one).width <= width) || "";
  }

  /* Returns the part of a region inside the box, or null. */
  function extent(label, scale) {
    const { box } = scale, left = Math.max(scale.x(label.start), box.left);
    const width = Math.min(scale.x(label.end), box.left + box.width) - left;
    return width < 0 ? null : { left, width: Math.max(width, 1), top: box.top,
      height: box.height };
  }

  function drawShade(pen, label, wrong, scale) {
    const at = extent(label, scale);
    if (!at) return;
    pen.globalAlpha = 0.22;
    pen.fillStyle = shared.KINDS[label.kind].color;
    pen.fillRect(at.left, at.top, at.width, at.height);
    if (wrong) hatch(pen, at.left, at.top, at.width, at.height);
    pen.globalAlpha = 1;
  }

  /* Draws the frame of a region and its name above everything else. */
  function drawName(pen, label, wrong, scale, isSelected) {
    const at = extent(label, scale), kind = shared.KINDS[label.kind];
    if (!at) return;
    pen.fillStyle = kind.color;
    pen.fillRect(at.left, at.top, at.width, BAND);
    pen.strokeStyle = isSelected ? INK : kind.color;
    pen.lineWidth = isSelected ? 2 : 1;
    pen.strokeRect(at.left, at.top, at.width, at.height);
    pen.fillStyle = kind.isDark ? "#fff" : INK;
    pen.textBaseline = "middle";
    pen.textAlign = "center";
    const reason = { fp: "too many", fn: "missing" }[wrong];
    const texts = wrong ? [`✗ ${kind.text}: ${reason}`, `✗ ${reason}`, "✗"]
      : [kind.text, kind.short];
    pen.fillText(fitting(pen, texts, at.width - 4), at.left + at.width / 2,
      at.top + BAND / 2 + 1);
  }

  function drawHandles(pen, region, edge, scale) {
    const { box } = scale, middle = box.top + box.height / 2;
    for (const one of ["start", "end"]) {
      const x = scale.x(region[one]);
      if (x < box.left - 1 || x > box.left + box.width + 1) continue;
      pen.fillStyle = one === edge ? INK : "#fff";
      pen.strokeStyle = INK;
      pen.lineWidth = 1.5;
      pen.beginPath();
      pen.roundRect(x - 4, middle - 14, 8, 28, 4);
      pen.fill();
      pen.stroke();
    }
  }

  function ticks(low, high, most) {
    const rough = (high - low) / most, power = 10 ** Math.floor(Math.log10(rough));
    const step = [1, 2, 5, 10].map((k) => k * power).find((one) => one >= rough);
    const found = [];
    for (let k = Math.ceil(low / step); k * step <= high && found.length < 50; k++) {
      found.push(k * step);
    }
    return { step, found };
  }

  function shown(number, step) {
    if (Math.abs(number) >= 1e10 || (step < 1e-6 && number !== 0)) {
      return Number(number.toPrecision(10)).toExponential().replace("e+", "e");
    }
    if (number === 0) return "0";  // instead of "-0"
    const digits = Math.min(Math.max(Math.ceil(-Math.log10(step) - 1e-9), 0), 10);
    return number.toLocaleString("en", { minimumFractionDigits: digits,
      maximumFractionDigits: digits });
  }

  function timeText(time, step) {
    const date = new Date(time), iso = date.toISOString();
    if (step >= 365 * DAY) return iso.slice(0, 4);
    if (step >= 28 * DAY) return iso.slice(0, 7);
    if (step >= DAY || time % DAY === 0) return iso.slice(0, 10);
    if (step >= MINUTE) return iso.slice(11, 16);
    return step >= SECOND ? iso.slice(11, 19) : iso.slice(14, 23);
  }

  /* Returns the positions and texts of the ticks of the horizontal axis. */
  function placeTicks(signal, view, most) {
    const { position } = signal, span = view.to - view.from;
    if (position.kind === "time") {
      const step = TIME_STEPS.find((one) => one >= span / most)
        || Math.ceil(span / most / (3652 * DAY)) * 3652 * DAY;
      const found = [];
      for (let k = Math.ceil(view.from / step); k * step <= view.to; k++) {
        found.push([k * step, timeText(k * step, step)]);
      }
      return found;
    }
    const { step, found } = ticks(view.from, view.to, most);
    if (position.kind === "order") {
      return found.filter((p) => Number.isInteger(p) && p >= 0 && p < position.n)
        .map((p) => [p, position.text(p).slice(0, 16)]);
    }
    return found.map((p) => [p, shown(p, step)]);
  }

  function drawAxes(pen, signal, scale) {
    const { box, view } = scale;
    pen.strokeStyle = RULE;
    pen.fillStyle = SOFT;
    pen.lineWidth = 1;
    pen.textBaseline = "middle";
    pen.textAlign = "right";
    const { step, found } = ticks(signal.number(scale.low), signal.number(scale.high),
      Math.max(2, box.height / 60));
    pen.beginPath();
    for (const value of found) {
      const y = scale.y(signal.scaled(value));
      pen.moveTo(box.left, y);
      pen.lineTo(box.left + box.width, y);
      pen.fillText(shown(value, step), box.left - 6, y);
    }
    pen.stroke();
    pen.textBaseline = "top";
    pen.textAlign = "center";
    pen.beginPath();
    for (const [place, text] of placeTicks(signal, view, Math.max(2, box.width / 90))) {
      const x = scale.x(place), half = pen.measureText(text).width / 2;
      pen.moveTo(x, box.top);
      pen.lineTo(x, box.top + box.height + 4);
      const inside = Math.min(Math.max(x, half), box.left + box.width + 8 - half);
      pen.fillText(text, inside, box.top + box.height + 7);
    }
    pen.stroke();
  }

  /* Draws triangles where candidates differ; their size increases with the disagreement. */
  function drawDisagreements(pen, places, scale) {
    const { box } = scale, bottom = box.top + box.height;
    pen.fillStyle = color("fp");
    for (const { at, disagreement } of places) {
      if (at < scale.view.from || at > scale.view.to || disagreement < 0.1) continue;
      const x = scale.x(at), size = 3 + 4 * disagreement;
      pen.beginPath();
      pen.moveTo(x - size, bottom);
      pen.lineTo(x + size, bottom);
      pen.lineTo(x, bottom - 1.6 * size);
      pen.fill();
    }
  }

  function drawPending(pen, region, scale) {
    const { box } = scale, left = scale.x(region.start), right = scale.x(region.end);
    pen.fillStyle = "rgba(27, 31, 36, 0.10)";
    pen.fillRect(left, box.top, right - left, box.height);
    pen.strokeStyle = INK;
    pen.lineWidth = 1.5;
    pen.setLineDash([4, 3]);
    pen.strokeRect(left, box.top, right - left, box.height);
    pen.setLineDash([]);
  }

  function drawCursor(pen, at, scale) {
    const { box } = scale, x = scale.x(at);
    pen.strokeStyle = color("fn");
    pen.lineWidth = 1.5;
    pen.beginPath();
    pen.moveTo(x, box.top);
    pen.lineTo(x, box.top + box.height);
    pen.stroke();
  }

  /* Returns the box of the large view inside its canvas. */
  function largeBox(width, height) {
    return { left: width < 600 ? 44 : 60, top: 6,
      width: width - (width < 600 ? 44 : 60) - 10, height: height - 34 };
  }

  /* Draws the large view, and returns its scales, which convert pointer coordinates. */
  function drawLarge(canvas, state) {
    const { pen, width, height } = cleared(canvas), { signal, labels, model } = state;
    const scale = scales(signal, state.view, largeBox(width, height)), { box } = scale;
    drawAxes(pen, signal, scale);
    pen.save();
    pen.beginPath();
    pen.rect(box.left, box.top - 1, box.width, box.height + 2);
    pen.clip();
    const wrong = labels.map((label) => shared.labelError(model.places, label));
    labels.forEach((label, k) => drawShade(pen, label, wrong[k], scale));
    drawSignal(pen, signal, scale);
    drawModel(pen, signal, model, scale, 2.4);
    drawDisagreements(pen, state.disagreements, scale);
    labels.forEach((label, k) => drawName(pen, label, wrong[k], scale,
      k === state.selected));
    if (state.pending) drawPending(pen, state.pending, scale);
    if (state.cursor !== null) drawCursor(pen, state.cursor, scale);
    pen.restore();
    const region = state.pending || labels[state.selected];
    if (region) drawHandles(pen, region, state.edge, scale);
    pen.strokeStyle = color("border");
    pen.lineWidth = 1;
    pen.strokeRect(box.left, box.top, box.width, box.height);
    return scale;
  }

  Object.assign(shared, { cleared, scales, drawSignal, drawModel, drawLarge, shown, INK,
    SOFT });
})(window.rocpathLabeling);
