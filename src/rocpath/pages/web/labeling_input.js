/* Handles pointer, wheel and keyboard events of the large view. */
(function (shared) {
  "use strict";
  // Maximum distance in pixels between the pointer and an edge that it can drag.
  const NEAR = { mouse: 6, pen: 8, touch: 14 };
  const CLICK = 4;  // maximum movement of a click, in pixels
  const ARROWS = ["ArrowLeft", "ArrowRight"];

  /* Returns the edge of the selected label under a pointer; other labels cannot be moved. */
  function edgeAt(editor, scale, x, near) {
    const { selected } = editor.state;
    if (selected === null) return null;
    const label = editor.labels()[selected];
    return ["end", "start"].find((edge) => Math.abs(scale.x(label[edge]) - x) <= near) || null;
  }

  function isInside({ box }, x, y) {
    return x >= box.left - 6 && x <= box.left + box.width + 6 && y >= box.top
      && y <= box.top + box.height + 26;
  }

  /* Zooms with two fingers, so that the same positions stay under them. */
  function pinch(editor, scale, touches) {
    const [a, b] = [...touches.values()], { box } = scale;
    const share = (x) => (x - box.left) / box.width;
    const span = (b.place - a.place) / (share(b.x) - share(a.x));
    if (Number.isFinite(span) && span > 0) editor.look(a.place - share(a.x) * span, span);
  }

  function listenToPointers(canvas, editor, page) {
    const touches = new Map();
    let drag = null;
    const near = (event) => NEAR[event.pointerType] || NEAR.mouse;
    const nearest = (x) => editor.signal().position.nearest(page.scale.place(x));

    function down(event) {
      const x = event.offsetX;
      touches.set(event.pointerId, { x, place: page.scale.place(x) });
      if (touches.size > 1) { drag = { way: "pinch" }; editor.clear(); return; }
      if (!isInside(page.scale, x, event.offsetY) || event.button === 2) return;
      canvas.setPointerCapture(event.pointerId);
      const edge = edgeAt(editor, page.scale, x, near(event));
      const label = editor.labelAt(page.scale.place(x));
      if (event.shiftKey || event.button === 1) drag = { way: "pan", x };
      else if (edge) {
        editor.state.edge = edge;
        drag = { way: "edge", x, hasMoved: false };
      } else if (label !== null) {
        editor.select(label);
        drag = { way: "label", x };
      } else { editor.clear(); drag = { way: "mark", x, anchor: nearest(x) }; }
    }

    function move(event) {
      const x = event.offsetX;
      if (touches.has(event.pointerId)) touches.get(event.pointerId).x = x;
      if (drag === null) {
        const edge = edgeAt(editor, page.scale, x, near(event));
        canvas.style.cursor = edge ? "ew-resize"
          : editor.labelAt(page.scale.place(x)) === null ? "crosshair" : "pointer";
        return;
      }
      if (drag.way === "pinch") pinch(editor, page.scale, touches);
      if (drag.way === "pan") {
        editor.pan(page.scale.place(drag.x) - page.scale.place(x));
        drag.x = x;
      }
      if (drag.way === "label" && Math.abs(x - drag.x) > CLICK) {
        // The label is deselected, so that a key does not change its kind.
        editor.clear();
        page.notify("Regions must not overlap. Start outside of labels, or select a label and "
          + "drag one of its edges.");
      }
      if (drag.way === "mark" && (editor.state.pending || Math.abs(x - drag.x) > CLICK)) {
        editor.mark(drag.anchor, nearest(x));
      }
      if (drag.way === "edge" && (drag.hasMoved || Math.abs(x - drag.x) > CLICK / 2)) {
        drag.hasMoved = true;
        editor.moveEdge(nearest(x));
      }
      page.render();
    }

    function up(event) {
      touches.delete(event.pointerId);
      if (drag && drag.way === "mark" && !editor.state.pending) {
        editor.state.cursor = drag.anchor;
      }
      if (drag && drag.way === "edge") { editor.settle(); page.changed(); }
      if (touches.size === 0) drag = null;
      page.render();
    }

    canvas.addEventListener("pointerdown", (event) => { down(event); page.render(); });
    canvas.addEventListener("pointermove", move);
    canvas.addEventListener("pointerup", up);
    canvas.addEventListener("pointercancel", (event) => {
      // The browser handles the gesture, for example as scrolling.
      touches.delete(event.pointerId);
      drag = null;
      editor.clear();
      page.render();
    });
    canvas.addEventListener("dblclick", () => { editor.seeAll(); page.render(); });
    canvas.addEventListener("wheel", (event) => {
      event.preventDefault();
      const { from, to } = editor.view(), unit = event.deltaMode === 1 ? 30 : 1;
      const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
      if (Math.abs(sideways) > (event.shiftKey ? 0 : Math.abs(event.deltaY))) {
        editor.pan(sideways * unit / page.scale.box.width * (to - from));
      } else {
        const strength = event.ctrlKey ? 0.01 : 0.0016;
        editor.zoom(Math.exp(event.deltaY * unit * strength),
          page.scale.place(event.offsetX));
      }
      page.render();
    }, { passive: false });
  }

  /* Dragging moves the visible part of the sequence; a click centers it. */
  function listenToOverview(canvas, editor, page) {
    let grabbed = null;
    const to = (event) => {
      const span = editor.view().to - editor.view().from;
      editor.look(page.wholeScale.place(event.offsetX) - grabbed, span);
      page.render();
    };
    canvas.addEventListener("pointerdown", (event) => {
      canvas.setPointerCapture(event.pointerId);
      const place = page.wholeScale.place(event.offsetX), { from, to: end } = editor.view();
      grabbed = place >= from && place <= end ? place - from : (end - from) / 2;
      to(event);
    });
    canvas.addEventListener("pointermove", (event) => { if (grabbed !== null) to(event); });
    ["pointerup", "pointercancel"].forEach((name) => canvas.addEventListener(name,
      () => { grabbed = null; }));
  }

  /* Arrow keys move the cursor by one hundredth of the view, or with Ctrl by one observation.
     With Shift they move the edge of the region, or start a region at the cursor. */
  function step(editor, event) {
    const { state } = editor, { position } = editor.signal(), { from, to } = editor.view();
    const sign = event.key === "ArrowLeft" ? -1 : 1;
    const seen = position.from(to) - position.from(from);
    const far = event.ctrlKey ? 1 : Math.max(1, Math.round(seen / 100));
    const within = (index) => Math.min(Math.max(index, 0), position.n - 1);
    const middle = position.nearest((from + to) / 2);
    if (event.shiftKey) {
      const under = state.cursor === null ? null : editor.labelAt(position.at(state.cursor));
      if (!state.pending && state.selected === null && under !== null) editor.select(under);
      if (state.selected !== null) {
        const edge = position.nearest(editor.labels()[state.selected][state.edge]);
        editor.moveEdge(within(edge + sign * far));
        editor.reveal(editor.labels()[state.selected][state.edge]);
      } else {
        const { anchor, head } = state.pending
          || { anchor: state.cursor === null ? middle : state.cursor, head: null };
        editor.mark(anchor, within((head === null ? anchor : head) + sign * far));
        editor.reveal(position.at(state.pending.head));
      }
      return;
    }
    const chosen = editor.region();
    const start = chosen ? position.nearest(chosen[sign < 0 ? "start" : "end"])
      : state.cursor;
    editor.settle();
    editor.clear();
    state.cursor = start === null ? middle : within(start + sign * far);
    editor.reveal(position.at(state.cursor));
  }

  /* Switches the edge that Shift and the arrow keys move. */
  function swapEdge({ state }) {
    state.edge = state.edge === "end" ? "start" : "end";
    if (state.pending) {
      const { anchor, head } = state.pending;
      state.pending = { anchor: head, head: anchor };
    }
  }

  function selectNear(editor, sign) {
    const n = editor.labels().length, { selected } = editor.state;
    if (n === 0) return;
    editor.select(selected === null ? (sign > 0 ? 0 : n - 1) : (selected + sign + n) % n);
    const label = editor.labels()[editor.state.selected];
    editor.reveal(label.start);
    editor.reveal(label.end);
  }

  function enter(editor) {
    const { state } = editor, { position } = editor.signal();
    if (state.pending || state.selected !== null) swapEdge(editor);
    else if (state.cursor !== null) {
      const under = editor.labelAt(position.at(state.cursor));
      if (under !== null) editor.select(under);
    }
  }

  function toEnd(editor, index) {
    editor.settle();
    editor.clear();
    editor.state.cursor = index;
    editor.reveal(editor.signal().position.at(index));
  }

  function keys(editor, page) {
    const { n } = editor.signal().position, { state } = editor;
    const { from, to } = editor.view();
    return {
      ArrowUp: () => editor.setModel(editor.model + 1),
      ArrowDown: () => editor.setModel(editor.model - 1),
      PageDown: () => page.go(state.current + 1),
      PageUp: () => page.go(state.current - 1),
      Home: () => toEnd(editor, 0),
      End: () => toEnd(editor, n - 1),
      Enter: () => enter(editor),
      Escape: () => { state.preview = null; editor.clear(); },
      Delete: () => { editor.remove(); page.changed(); },
      Backspace: () => { editor.remove(); page.changed(); },
      "+": () => editor.zoom(0.7), "=": () => editor.zoom(0.7), "-": () => editor.zoom(1 / 0.7),
      "[": () => editor.pan(-0.2 * (to - from)), "]": () => editor.pan(0.2 * (to - from)),
      ",": () => selectNear(editor, -1), ".": () => selectNear(editor, 1),
      f: () => editor.seeAll(), g: () => page.next(), m: () => page.best(),
    };
  }

  /* Returns whether the key was handled. */
  function press(editor, page, event) {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
    if (event.ctrlKey || event.metaKey) {
      const way = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[key];
      if (way) { editor.travel(way); page.changed(); return true; }
      if (key === "s") { page.save(); return true; }
      if (!ARROWS.includes(key)) return false;
    }
    if (event.altKey) return false;
    if (ARROWS.includes(key)) { step(editor, event); return true; }
    const kind = page.kinds.find((one) => shared.KINDS[one].key === key);
    if (kind) { page.setKind(kind); return true; }
    const act = keys(editor, page)[key];
    if (act) act();
    return Boolean(act);
  }

  shared.listen = function (section, large, overview, editor, page) {
    listenToPointers(large, editor, page);
    listenToOverview(overview, editor, page);
    section.addEventListener("keydown", (event) => {
      const isView = event.target.closest(".large") !== null;
      const isCommand = event.ctrlKey || event.metaKey;
      // Outside the view, keys other than commands belong to the focused control.
      if (!isView && !isCommand) return;
      if (press(editor, page, event)) {
        event.preventDefault();
        page.render();
      }
    });
    section.addEventListener("keyup", (event) => {
      // All key presses while Shift is held are undone together.
      if (event.key === "Shift" && editor.state.preview) {
        editor.settle();
        page.changed();
        page.render();
      }
    });
  };
})(window.rocpathLabeling);
