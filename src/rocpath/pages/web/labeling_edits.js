/* Actions of the page: navigating, marking regions, setting kinds, moving edges and undo. */
(function (shared) {
  "use strict";
  const MIN_VISIBLE = 8;  // minimum number of observations in a view

  function whole(signal) {
    const room = 0.01 * (signal.high - signal.low);
    return { from: signal.low - room, to: signal.high + room };
  }

  /* Holds the state of the page: current sequence, view, model and selection. */
  shared.editor = function (signals, first) {
    const history = shared.history(first);
    const decisions = shared.decisions(signals);
    const views = [], models = signals.map((one) => one.firstShown);
    const state = { current: 0, pending: null, selected: null, edge: "end", cursor: null,
      preview: null };
    const signal = () => signals[state.current];
    const own = () => history.now[state.current];

    function labels() {
      return state.preview ? own().map((one, k) => (k === state.selected ? state.preview
        : one)) : own();
    }

    function view() {
      if (!views[state.current]) views[state.current] = whole(signal());
      return views[state.current];
    }

    function look(from, span) {
      const all = whole(signal()), { position } = signal();
      const least = Math.min((signal().high - signal().low) / position.n * MIN_VISIBLE,
        all.to - all.from);
      const width = Math.min(Math.max(span, least), all.to - all.from);
      const start = Math.min(Math.max(from, all.from), all.to - width);
      views[state.current] = { from: start, to: start + width };
    }

    function zoom(factor, at) {
      const { from, to } = view();
      const place = at === undefined ? focus() : at;
      const span = (to - from) * factor;
      look(place - (place - from) * factor, span);
    }

    /* Returns the position that stays fixed when zooming without a pointer. */
    function focus() {
      const { from, to } = view(), chosen = region();
      const place = chosen ? (chosen.start + chosen.end) / 2
        : state.cursor === null ? NaN : signal().position.at(state.cursor);
      return place >= from && place <= to ? place : (from + to) / 2;
    }

    function pan(distance) {
      const { from, to } = view();
      look(from + distance, to - from);
    }

    function reveal(place) {
      const { from, to } = view(), room = 0.05 * (to - from);
      if (place < from + room) look(place - room, to - from);
      if (place > to - room) look(place + room - (to - from), to - from);
    }

    function regionOf({ anchor, head }) {
      const { position } = signal();
      const [low, high] = anchor < head ? [anchor, head] : [head, anchor];
      return { start: position.at(low), end: position.at(high),
        texts: [position.text(low), position.text(high)] };
    }

    function region() {
      if (state.pending) return regionOf(state.pending);
      return state.selected === null ? null : labels()[state.selected];
    }

    /* Returns the first and last observation between the labels on both sides of a position. */
    function limits(place, skipped) {
      const { position } = signal();
      let low = -Infinity, high = Infinity;
      own().forEach((one, k) => {
        if (k === skipped) return;
        if (one.end <= place) low = Math.max(low, one.end);
        if (one.start >= place) high = Math.min(high, one.start);
      });
      const last = position.from(high);
      const isThere = last < position.n && position.at(last) === high;
      return [position.from(low), isThere ? last : last - 1];
    }

    function labelAt(place) {
      const found = own().findIndex((one) => one.start < place && place < one.end);
      return found < 0 ? null : found;
    }

    function clear() {
      Object.assign(state, { pending: null, selected: null, preview: null, edge: "end" });
    }

    /* Starts or extends a region between two observations, without overlapping other labels. */
    function mark(anchor, head) {
      const [low, high] = limits(signal().position.at(anchor), null);
      state.selected = null;
      state.pending = { anchor, head: Math.min(Math.max(head, low), high) };
      state.edge = state.pending.head < anchor ? "start" : "end";
    }

    /* Previews a label with one edge at another observation; `settle` applies it. */
    function moveEdge(index) {
      const { position } = signal(), label = labels()[state.selected];
      const [low, high] = limits((label.start + label.end) / 2, state.selected);
      let at = Math.min(Math.max(index, low), high);
      if (state.edge === "end") {
        while (at < high && position.at(at) <= label.start) at++;
        if (position.at(at) <= label.start) return;
        state.preview = { ...label, end: position.at(at),
          texts: [label.texts[0], position.text(at)] };
      } else {
        while (at > low && position.at(at) >= label.end) at--;
        if (position.at(at) >= label.end) return;
        state.preview = { ...label, start: position.at(at),
          texts: [position.text(at), label.texts[1]] };
      }
    }

    function settle() {
      if (!state.preview) return;
      const next = labels(), moved = state.preview;
      state.preview = null;
      history.of(state.current, next);
      state.selected = own().indexOf(moved);
    }

    function setKind(kind) {
      settle();
      const chosen = region();
      if (!chosen || chosen.start >= chosen.end) return false;
      const label = { ...chosen, kind };
      const rest = own().filter((_, k) => k !== state.selected);
      history.of(state.current, [...rest, label]);
      state.pending = null;
      state.selected = own().indexOf(label);
      return true;
    }

    function remove() {
      settle();
      if (state.selected !== null) {
        history.of(state.current, own().filter((_, k) => k !== state.selected));
      }
      clear();
    }

    function go(k) {
      settle();
      clear();
      state.cursor = null;
      state.current = Math.min(Math.max(k, 0), signals.length - 1);
    }

    /* Undoes or redoes a change, and shows the sequence that it affects. */
    function travel(way) {
      clear();
      const before = history.now;
      history[way]();
      const changed = history.now.findIndex((one, k) => one !== before[k]);
      if (changed >= 0 && history.now[state.current] === before[state.current]) go(changed);
    }

    return {
      state, signals, history, decisions, signal, labels, view, look, zoom, pan, reveal,
      region, labelAt, clear, mark, moveEdge, settle, setKind, remove, go, travel,
      get model() { return models[state.current]; },
      modelOf: (k) => models[k],
      setModel(k) {
        models[state.current] = Math.min(Math.max(k, 0), signal().models.length - 1);
      },
      seeAll() { views[state.current] = whole(signal()); },
      select(k) { settle(); clear(); state.selected = k; },
      replace(all) { clear(); history.set(all); },
    };
  };
})(window.rocpathLabeling);
