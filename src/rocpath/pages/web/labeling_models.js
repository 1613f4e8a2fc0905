/* Label errors of the segmentations of each sequence, and where the remaining candidates
   differ. */
(function (shared) {
  "use strict";
  // Changes within this fraction of the length are treated as the same change.
  const SAME_PLACE = 0.01;
  // Assumed width of the infinite intervals of log penalties of the first and last model.
  const END_WIDTH = Math.LN2;

  function errorsOfModels(signal, labels) {
    return signal.models.map((model) => shared.errors(model.places, labels));
  }

  function fewest(found) { return Math.min(...found.map((one) => one.fp + one.fn)); }

  /* Returns the model with the fewest errors; if there are several, the one that is selected
     by the widest interval of log penalties. */
  function bestModel(signal, found) {
    const least = fewest(found), width = widths(signal.models);
    let best = -1;
    found.forEach((one, k) => {
      if (one.fp + one.fn === least && (best < 0 || width[k] > width[best])) best = k;
    });
    return best;
  }

  function widths(models) {
    return models.map(({ minPenalty, maxPenalty }) => {
      const low = Math.log(minPenalty), high = Math.log(maxPenalty);
      return Number.isFinite(high - low) ? high - low : END_WIDTH;
    });
  }

  /* Returns the minimum number of label errors with a common penalty for all sequences. */
  function onePenalty(signals, labels) {
    const jumps = [];
    let now = 0;
    labels.forEach((own, k) => {
      if (own.length === 0) return;
      const found = errorsOfModels(signals[k], own).map((one) => one.fp + one.fn);
      now += found[found.length - 1];
      // Models are visited by increasing penalty; each starts at its smallest penalty.
      for (let m = found.length - 2; m >= 0; m--) {
        jumps.push([signals[k].models[m].minPenalty, found[m] - found[m + 1]]);
      }
    });
    jumps.sort((a, b) => a[0] - b[0]);
    let least = now;
    jumps.forEach(([penalty, change], k) => {
      now += change;
      const isLast = k + 1 === jumps.length || jumps[k + 1][0] > penalty;
      if (isLast && now < least) least = now;
    });
    return least;
  }

  /* Finds where the candidates differ. Candidates are the models with the fewest label errors,
     weighted by the width of the interval of log penalties that select them. The
     disagreement is 4 p (1 - p) where a fraction p of them has a change, and 0 inside a label. */
  function undecided(signal, labels) {
    const { models, position } = signal, found = errorsOfModels(signal, labels);
    const least = fewest(found), all = widths(models);
    const width = all.map((one, k) => (found[k].fp + found[k].fn === least ? one : 0));
    const total = width.reduce((sum, one) => sum + one, 0);
    const near = Math.max(1, SAME_PLACE * position.n), places = [];
    models.forEach((model, m) => {
      if (width[m] === 0) return;
      const seen = new Set();
      model.changes.forEach((change) => {
        let place = places.find((one) => Math.abs(one.change - change) <= near);
        if (!place) places.push(place = { change, width: 0 });
        if (!seen.has(place)) place.width += width[m];
        seen.add(place);
      });
    });
    const open = places.map(({ change, width: one }) => {
      const share = Math.min(one / total, 1), at = position.at(change);
      const isDecided = labels.some((label) => label.start < at && at <= label.end);
      return { change, at, disagreement: isDecided ? 0 : 4 * share * (1 - share) };
    }).filter((one) => one.disagreement > 1e-9);
    return { places: open, disagreement: open.reduce((sum, one) => sum + one.disagreement, 0) };
  }

  /* Returns functions of the current labels, whose results are cached. */
  shared.decisions = function (signals) {
    const known = signals.map(() => ({}));
    const of = (k, labels) => {
      if (known[k].labels !== labels) {
        const found = errorsOfModels(signals[k], labels);
        known[k] = { labels, errors: found, fewest: fewest(found),
          best: bestModel(signals[k], found), undecided: undecided(signals[k], labels) };
      }
      return known[k];
    };
    return {
      of,
      /* Returns the sequence, except the current one, whose candidates differ most; -1 if none
         differ. */
      next(all, current) {
        let best = -1, most = 0;
        all.forEach((labels, k) => {
          const { disagreement } = of(k, labels).undecided;
          if (k !== current && disagreement > most) [best, most] = [k, disagreement];
        });
        return best;
      },
      onePenalty: (all) => onePenalty(signals, all),
    };
  };
})(window.rocpathLabeling);
