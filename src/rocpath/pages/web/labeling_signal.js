/* Signals: positions, values, and the extremes of any range of observations.
   The scripts of the labeling page share one object, `rocpathLabeling`. */
window.rocpathLabeling = {};
(function (shared) {
  "use strict";
  const BLOCK = 4;  // number of observations or blocks in a block of the next level

  function bytes(text) {
    const coded = atob(text), found = new Uint8Array(coded.length);
    for (let k = 0; k < coded.length; k++) found[k] = coded.charCodeAt(k);
    return found.buffer;
  }

  function once(make) {
    let made;
    return () => (made === undefined ? (made = make()) : made);
  }

  /* Returns the first index for which a monotone condition is true; n if there is none. */
  function firstIndex(n, isTrue) {
    let low = 0, high = n;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isTrue(middle)) high = middle; else low = middle + 1;
    }
    return low;
  }

  /* Parses a time; times without a zone are read in UTC. */
  function timeOf(text) {
    const joined = text.trim().replace(/^(\d{4}-\d\d-\d\d) /, "$1T");
    const hasZone = /(Z|[+-]\d\d:?\d\d)$/.test(joined) || !joined.includes("T");
    return Date.parse(hasZone ? joined : `${joined}Z`);
  }

  function positions(data) {
    const places = data.float64 ? new Float64Array(bytes(data.float64)) : null;
    const n = places ? places.length : data.n;
    const at = places ? (i) => places[i] : (i) => data.first + data.step * i;
    // Returns the first observation at or after a position; n if there is none.
    const from = (place) => firstIndex(n, (i) => at(i) >= place);
    const nearest = (place) => {
      const after = Math.min(from(place), n - 1);
      return after > 0 && place - at(after - 1) < at(after) - place ? after - 1 : after;
    };
    const indexOf = once(() => new Map((data.text || []).map((one, i) => [one, i])));
    const text = (i) => (data.text ? data.text[i] : String(at(i)));
    /* Returns the position that a text or number denotes, or NaN. */
    const read = (given) => {
      const known = indexOf().get(String(given));
      if (known !== undefined) return at(known);
      if (data.kind === "order" || String(given).trim() === "") return NaN;
      return data.kind === "time" ? timeOf(String(given)) : Number(given);
    };
    return { n, at, from, nearest, text, read, kind: data.kind };
  }

  /* Returns the extremes of blocks of BLOCK ** k observations for each level k. */
  function pyramid(values) {
    const levels = [{ low: values, high: values, size: 1 }];
    let last = levels[0];
    while (last.low.length > BLOCK) {
      const n = Math.ceil(last.low.length / BLOCK);
      const low = new Float32Array(n), high = new Float32Array(n);
      for (let b = 0; b < n; b++) {
        let least = Infinity, most = -Infinity;
        const end = Math.min((b + 1) * BLOCK, last.low.length);
        for (let k = b * BLOCK; k < end; k++) {
          if (last.low[k] < least) least = last.low[k];
          if (last.high[k] > most) most = last.high[k];
        }
        low[b] = least;
        high[b] = most;
      }
      last = { low, high, size: last.size * BLOCK };
      levels.push(last);
    }
    return levels;
  }

  /* Returns the extremes of the observations from `first` to before `last`. They are read
     at the coarsest level whose blocks are at most a quarter of the range, so that rounding
     its ends outward is not visible. */
  function extremes(levels, first, last) {
    let k = 0;
    while (k + 1 < levels.length && levels[k + 1].size * 4 <= last - first) k++;
    const { low, high, size } = levels[k];
    let least = Infinity, most = -Infinity;
    const end = Math.min(Math.ceil(last / size), low.length);
    for (let b = Math.floor(first / size); b < end; b++) {
      if (low[b] < least) least = low[b];
      if (high[b] > most) most = high[b];
    }
    return [least, most];
  }

  /* Returns a sequence. Values and means are relative to the middle of its range, in units
     of half the range. */
  shared.signal = function (data) {
    const position = once(() => positions(data.position));
    const values = once(() => new Float32Array(bytes(data.value.float32)));
    const levels = once(() => pyramid(values()));
    const { middle, half } = data.value;
    const models = once(() => data.models.map((one, k) => ({
      minPenalty: one.min_penalty,
      maxPenalty: k > 0 ? data.models[k - 1].min_penalty : Infinity,
      changes: one.changes,
      mean: one.mean,
      rise: one.rise || one.mean.map(() => 0),
      intervals: (one.intervals || []).map((ends) => ends.map((i) => position().at(i))),
      places: Float64Array.from(one.changes, (i) => position().at(i)),
    })));
    return {
      name: data.name, isRuns: data.is_runs, firstShown: data.shown, note: data.note,
      get position() { return position(); },
      get values() { return values(); },
      get models() { return models(); },
      extremes: (first, last) => extremes(levels(), first, last),
      number: (scaled) => middle + half * scaled,
      scaled: (number) => (number - middle) / half,
      get low() { return position().at(0); },
      // A single observation gets some width, so that it is visible.
      get high() { return Math.max(position().at(position().n - 1), this.low + 1e-9); },
    };
  };
  Object.assign(shared, { firstIndex, once });
})(window.rocpathLabeling);
