/* What labels decide between the segmentations of each sequence, and what they do not. */
(function (shared) {
  "use strict";
  const SAME_PLACE = 0.01;  // of the length: changes that have only moved
  const END_WIDTH = Math.LN2;  // of the log penalties that select the first and last model

  function errorsOfModels(signal, labels) {
    return signal.models.map((model) => shared.errors(model.places, labels));
  }

  function fewest(found) { return Math.min(...found.map((one) => one.fp + one.fn)); }

  /* The model with the fewest errors; of several the one that most log penalties
     select, as those at the ends are selected by infinitely many for want of others. */
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

  /* The fewest errors of all sequences if all had one penalty. */
  function onePenalty(signals, labels) {
    const jumps = [];
    let now = 0;
    labels.forEach((own, k) => {
      if (own.length === 0) return;
      const found = errorsOfModels(signals[k], own).map((one) => one.fp + one.fn);
      now += found[found.length - 1];
      // From penalty 0 up: each model begins at its smallest penalty.
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

  /* Where the candidates differ. A candidate is a model with the fewest label errors, and
     counts by the width of the log penalties that select it. At a place where a share p
     of them has a change, they differ by p (1 - p); places inside a label are decided. */
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
      return { change, at, doubt: isDecided ? 0 : 4 * share * (1 - share) };
    }).filter((one) => one.doubt > 1e-9);
    return { places: open, doubt: open.reduce((sum, one) => sum + one.doubt, 0) };
  }

  /* Answers for the labels there are now, each computed once. */
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
      /* The sequence in most doubt, other than the one shown unless only that is. */
      next(all, current) {
        let best = -1, most = 0;
        all.forEach((labels, k) => {
          const { doubt } = of(k, labels).undecided;
          if (k !== current && doubt > most) [best, most] = [k, doubt];
        });
        return best;
      },
      onePenalty: (all) => onePenalty(signals, all),
    };
  };
})(window.rocpathLabeling);
