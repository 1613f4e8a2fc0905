/* Labels: their kinds, the label errors of segmentations, undo, CSV files and storage. */
(function (shared) {
  "use strict";
  const MOST_UNDONE = 500;
  // The object counted in a region, and the range of correct counts, as in Python.
  const KINDS = {
    no_change: { counts: "change", least: 0, most: 0, key: "n",
      text: "No change", short: "0" },
    one_change: { counts: "change", least: 1, most: 1, key: "o",
      text: "One change", short: "1" },
    at_least_one_change: { counts: "change", least: 1, most: Infinity, key: "a",
      text: "At least one change", short: "≥ 1" },
    no_peaks: { counts: "peak", least: 0, most: 0, key: "b",
      text: "No peak", short: "0" },
    peaks: { counts: "peak", least: 1, most: Infinity, key: "p",
      text: "Peaks", short: "≥ 1", isDark: true },
    peak_start: { counts: "peakStart", least: 1, most: 1, key: "s",
      text: "Start of a peak", short: "start" },
    peak_end: { counts: "peakEnd", least: 1, most: 1, key: "e",
      text: "End of a peak", short: "end", isDark: true },
  };
  const ALIASES = { normal: "no_change", "0breakpoints": "no_change",
    "0changes": "no_change", noChange: "no_change", oneChange: "one_change",
    "1breakpoint": "one_change", "1change": "one_change",
    breakpoint: "at_least_one_change", ">0breakpoints": "at_least_one_change",
    ">0changes": "at_least_one_change", noPeaks: "no_peaks", peakStart: "peak_start",
    peakEnd: "peak_end" };

  /* Counts the places, from `offset` in steps of `stride`, that satisfy a monotone condition. */
  function count(places, offset, stride, isBefore) {
    const n = Math.ceil((places.length - offset) / stride);
    return shared.firstIndex(Math.max(n, 0), (k) => !isBefore(places[offset + k * stride]));
  }

  /* Counts changes, starts of peaks or ends of peaks in (start, end], or overlapping peaks. */
  function counted(places, label, what) {
    const { start, end } = label;
    const upTo = (offset, stride, edge) => count(places, offset, stride, (p) => p <= edge);
    if (what === "change") return upTo(0, 1, end) - upTo(0, 1, start);
    if (what === "peakStart") return upTo(0, 2, end) - upTo(0, 2, start);
    if (what === "peakEnd") return upTo(1, 2, end) - upTo(1, 2, start);
    // Peaks that start before the end of the region, minus those that end before its start.
    return count(places, 0, 2, (p) => p < end) - upTo(1, 2, start);
  }

  /* Returns the error of a segmentation with changes at these places: "fp", "fn" or null. */
  function labelError(places, label) {
    const kind = KINDS[label.kind], n = counted(places, label, kind.counts);
    if (n > kind.most) return "fp";
    return n < kind.least ? "fn" : null;
  }

  function errors(places, labels) {
    let fp = 0, fn = 0;
    for (const label of labels) {
      const wrong = labelError(places, label);
      if (wrong === "fp") fp++;
      if (wrong === "fn") fn++;
    }
    return { fp, fn };
  }

  function sorted(labels) { return [...labels].sort((a, b) => a.start - b.start); }

  /* Keeps the labels of all sequences. They are replaced and never modified, so that undo
     restores the previous ones. */
  function history(first) {
    let past = [], future = [], now = first;
    return {
      get now() { return now; },
      get canUndo() { return past.length > 0; },
      get canRedo() { return future.length > 0; },
      set(next) {
        past = [...past.slice(-MOST_UNDONE + 1), now];
        future = [];
        now = next;
      },
      of(k, labels) {
        this.set(now.map((one, place) => (place === k ? sorted(labels) : one)));
      },
      undo() { if (past.length) { future.push(now); now = past.pop(); } },
      redo() { if (future.length) { past.push(now); now = future.pop(); } },
    };
  }

  /* Converts rows of (name, start, end, kind) to the labels of each sequence, and reports the
     rows that cannot be used. */
  function placed(rows, signals) {
    const known = new Map(signals.map((one, k) => [one.name, k]));
    const labels = signals.map(() => []), problems = [];
    rows.forEach(([name, start, end, kind], row) => {
      const refuse = (reason) => problems.push(`row ${row + 1}: ${reason}`);
      if (!known.has(name)) return refuse(`no sequence ${name} on this page`);
      const k = known.get(name), { position } = signals[k];
      const label = { start: position.read(start), end: position.read(end),
        texts: [String(start), String(end)], kind: ALIASES[kind] || kind };
      if (!Object.hasOwn(KINDS, label.kind)) return refuse(`unknown kind ${kind}`);
      if (!Number.isFinite(label.start)) return refuse(`invalid start ${start}`);
      if (!Number.isFinite(label.end)) return refuse(`invalid end ${end}`);
      if (label.start >= label.end) return refuse("start must be below end");
      if (label.end <= signals[k].low || label.start >= signals[k].high) {
        return refuse(`outside of ${name}`);
      }
      if (labels[k].some((one) => one.start < label.end && label.start < one.end)) {
        return refuse(`overlaps another label of ${name}`);
      }
      return labels[k].push(label);
    });
    return { labels: labels.map(sorted), problems };
  }

  function quoted(text) {
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  }

  function rowsOf(labels, signals) {
    return labels.flatMap((own, k) => own.map(
      (one) => [signals[k].name, ...one.texts, one.kind]));
  }

  function csv(labels, signals) {
    return [["sequence", "start", "end", "kind"], ...rowsOf(labels, signals)]
      .map((row) => `${row.map(quoted).join(",")}\n`).join("");
  }

  function fields(text) {
    const rows = [[""]];
    let isQuoted = false;
    for (let k = 0; k < text.length; k++) {
      const row = rows[rows.length - 1], sign = text[k];
      if (isQuoted && sign === '"' && text[k + 1] === '"') { row[row.length - 1] += '"'; k++; }
      else if (sign === '"' && (isQuoted || row[row.length - 1].trim() === "")) {
        if (!isQuoted) row[row.length - 1] = "";
        isQuoted = !isQuoted;
      } else if (isQuoted) row[row.length - 1] += sign;
      else if (sign === ",") row.push("");
      else if (sign === "\n") rows.push([""]);
      else row[row.length - 1] += sign;
    }
    return rows.filter((row) => row.length > 1 || row[0].trim() !== "");
  }

  /* Reads rows of (name, start, end, kind) from a CSV file with columns in any order. */
  function csvRows(text) {
    const [head = [], ...rows] = fields(text.replace(/^\uFEFF/, "").replace(/\r\n?/g, "\n"));
    const names = head.map((one) => one.trim());
    const places = ["sequence", "start", "end", "kind"].map((one) => names.indexOf(one));
    if (places.includes(-1)) {
      throw new Error("the file must have the columns sequence, start, end and kind");
    }
    return rows.map((row) => places.map((place, k) => {
      const field = row[place] === undefined ? "" : row[place];
      return k === 0 ? field : field.trim();
    }));
  }

  /* Returns the browser's storage; `save` returns false if the browser does not allow it. */
  function storage(key) {
    const name = `rocpath-labels-${key}`;
    return {
      save(rows) {
        try { localStorage.setItem(name, JSON.stringify(rows)); return true; }
        catch { return false; }
      },
      load() {
        try { return JSON.parse(localStorage.getItem(name)); } catch { return null; }
      },
    };
  }

  Object.assign(shared, { KINDS, labelError, errors, history, placed, rowsOf, csv, csvRows,
    storage });
})(window.rocpathLabeling);
