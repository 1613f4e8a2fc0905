/* The labeling page: displays the state of the editor and connects its controls. */
(function (shared) {
  "use strict";
  const { KINDS } = shared;

  function plural(n, word) { return `${n.toLocaleString("en")} ${word}${n === 1 ? "" : "s"}`; }

  function element(name, attributes, text) {
    const created = document.createElement(name);
    Object.entries(attributes).forEach(([key, value]) => created.setAttribute(key, value));
    if (text !== undefined) created.textContent = text;
    return created;
  }

  /* Returns the numbers of label errors as text. */
  function errorText({ fp, fn }) {
    if (fp + fn === 0) return "no label errors";
    const parts = [];
    if (fp) parts.push(plural(fp, "false positive"));
    if (fn) parts.push(plural(fn, "false negative"));
    return `${plural(fp + fn, "label error")}: ${parts.join(", ")}`;
  }

  function penaltyText({ minPenalty, maxPenalty }) {
    const round = (one) => String(Number(one.toPrecision(3)));
    if (minPenalty === 0 && maxPenalty === Infinity) return "any penalty";
    if (maxPenalty === Infinity) return `penalties of at least ${round(minPenalty)}`;
    if (minPenalty === 0) return `penalties below ${round(maxPenalty)}`;
    return `penalties ${round(minPenalty)} to ${round(maxPenalty)}`;
  }

  function makeKinds(page) {
    page.kinds.forEach((kind) => {
      const { key, text, color } = KINDS[kind];
      const button = element("button", { type: "button", "data-kind": kind,
        "aria-keyshortcuts": key.toUpperCase(), style: `--kind: ${color}` });
      button.append(element("span", { class: "swatch", "aria-hidden": "true" }), text,
        element("kbd", { "aria-hidden": "true" }, key.toUpperCase()));
      button.addEventListener("click", () => { page.setKind(kind); page.large.focus(); });
      page.find("[data-do=delete]").before(button);
    });
  }

  /* Creates a small multiple for each sequence, which is drawn when it becomes visible. */
  function makeThumbs(page) {
    const seen = new IntersectionObserver((entries) => {
      entries.forEach((entry) => {
        page.thumbs[Number(entry.target.dataset.place)].isSeen = entry.isIntersecting;
      });
      page.render();
    }, { root: page.find(".thumbs"), rootMargin: "200px" });
    page.thumbs = page.editor.signals.map((signal, k) => {
      const button = element("button", { type: "button", class: "thumb", "data-place": k });
      const caption = element("span", { class: "caption" });
      const name = element("span", { class: "name" }, signal.name);
      const badge = element("span", { class: "badge" });
      caption.append(name, badge);
      button.append(caption, element("canvas", { "aria-hidden": "true" }));
      button.addEventListener("click", () => page.go(k));
      page.find(".thumbs").append(button);
      seen.observe(button);
      return { button, badge, canvas: button.lastChild, isSeen: false, drawn: null };
    });
  }

  function writeThumbs(page) {
    const { editor } = page, { history, decisions, signals } = editor;
    page.thumbs.forEach((thumb, k) => {
      thumb.button.setAttribute("aria-current", String(k === editor.state.current));
      // There may be thousands, so only visible ones that have changed are drawn.
      if (!thumb.isSeen) return;
      const labels = history.now[k], m = editor.modelOf(k);
      const state = [labels, m, thumb.canvas.clientWidth];
      if (thumb.drawn && state.every((one, i) => one === thumb.drawn[i])) return;
      thumb.drawn = state;
      const { fp, fn } = decisions.of(k, labels).errors[m];
      thumb.badge.textContent = labels.length === 0 ? ""
        : fp + fn > 0 ? `✗ ${fp + fn} of ${labels.length}` : `✓ ${labels.length}`;
      thumb.badge.classList.toggle("wrong", fp + fn > 0);
      thumb.button.setAttribute("aria-label", `${signals[k].name}: ${labels.length === 0
        ? "no labels" : `${plural(labels.length, "label")}, ${errorText({ fp, fn })}`}`);
      shared.drawSmall(thumb.canvas, signals[k], labels, signals[k].models[m]);
    });
  }

  function writeTotals(page) {
    const { history, decisions, modelOf, state, signals } = page.editor;
    const all = history.now, labeled = [...all.keys()].filter((k) => all[k].length > 0);
    const n = labeled.reduce((sum, k) => sum + all[k].length, 0);
    let shown = 0, fewest = 0;
    labeled.forEach((k) => {
      const found = decisions.of(k, all[k]), { fp, fn } = found.errors[modelOf(k)];
      shown += fp + fn;
      fewest += found.fewest;
    });
    page.find("[data-value=totals]").textContent = n === 0
      ? `No labels yet in ${plural(signals.length, "sequence")}.`
      : `${plural(n, "label")} in ${labeled.length} of ${plural(signals.length, "sequence")}. `
        + `Label errors: ${shown} as shown, ${fewest} with the best segmentation of each `
        + `sequence, ${decisions.onePenalty(all)} with the best common penalty.`;
    const next = decisions.next(all, state.current), button = page.find("[data-do=next]");
    button.disabled = next < 0;
    page.find("[data-value=next]").textContent = next < 0 ? "none"
      : signals[next].name;
    page.nextPlace = next;
  }

  function writeChoice(page) {
    const { editor } = page, { models } = editor.signal(), k = editor.model;
    const labels = editor.labels(), errors = models.map(
      (model) => shared.errors(model.places, labels));
    const { slider } = page, model = models[k];
    slider.max = String(models.length - 1);
    slider.value = String(k);
    const outcome = labels.length ? errorText(errors[k]) : "no labels yet";
    const text = `${plural(model.changes.length, "change")}, ${penaltyText(model)}; ${outcome}`;
    slider.setAttribute("aria-valuetext", text);
    const { note } = editor.signal();
    page.find("[data-value=model]").textContent = note ? `${text}. ${note}` : text;
    page.find("[data-do=best]").disabled = labels.length === 0;
    shared.drawErrors(page.errors, models, errors, k);
  }

  function writeTable(page) {
    const { editor } = page, labels = editor.labels();
    const { places } = editor.signal().models[editor.model];
    const state = [editor.state.current, labels, editor.model, editor.state.selected];
    // Rebuilding the table at every move would remove the focus from its buttons.
    if (page.written && state.every((one, k) => one === page.written[k])) return;
    page.written = state;
    const rows = labels.map((label, k) => {
      const row = element("tr", { "aria-selected": String(k === editor.state.selected) });
      const choose = element("button", { type: "button", class: "plain",
        "aria-label": `Select label ${k + 1}` }, `${label.texts[0]} – ${label.texts[1]}`);
      choose.addEventListener("click", () => {
        editor.select(k);
        editor.reveal(label.start);
        page.large.focus();
        page.render();
      });
      const wrong = shared.labelError(places, label), kind = element("td", {});
      kind.append(element("span", { class: "swatch", "aria-hidden": "true",
        style: `--kind: ${KINDS[label.kind].color}` }), KINDS[label.kind].text);
      const cell = element("td", {});
      cell.append(choose);
      row.append(cell, kind, element("td", wrong ? { class: "wrong" } : {},
        wrong === null ? "✓ correct" : wrong === "fp" ? "✗ too many" : "✗ missing"));
      return row;
    });
    page.find(".own-labels").hidden = rows.length === 0;
    page.find(".own-labels tbody").replaceChildren(...rows);
  }

  /* Returns the line below the view: the selection and the available actions. */
  function hint(page) {
    const { editor } = page, { state } = editor, chosen = editor.region();
    const keys = page.kinds.map((kind) => `${KINDS[kind].key.toUpperCase()} (${
      KINDS[kind].text.toLowerCase()})`).join(", ");
    if (page.message) return page.message;
    if (state.pending) {
      return `Region ${chosen.texts.join(" to ")}. Press a key to label it: ${keys}.`;
    }
    if (chosen) {
      return `${KINDS[chosen.kind].text}, ${chosen.texts.join(" to ")}. Drag an edge to `
        + "move it, press a key to change the kind, or press Delete.";
    }
    if (state.cursor !== null) {
      const { position, values } = editor.signal(), value = editor.signal().number(
        values[state.cursor]);
      return `At ${position.text(state.cursor)}: ${Number(value.toPrecision(5))}. Press Shift `
        + "and an arrow key to mark a region from here.";
    }
    return "Drag over a region to mark it. Scroll to zoom; hold Shift and drag to move the view.";
  }

  function writeControls(page) {
    const { editor } = page, { state, history } = editor, chosen = editor.region();
    page.find("[data-value=name]").textContent = editor.signal().name;
    page.find("[data-do=undo]").disabled = !history.canUndo;
    page.find("[data-do=redo]").disabled = !history.canRedo;
    page.find("[data-do=delete]").disabled = !chosen;
    page.section.querySelectorAll("[data-kind]").forEach((button) => {
      button.disabled = !chosen;
      button.setAttribute("aria-pressed", String(Boolean(chosen)
        && chosen.kind === button.dataset.kind));
    });
    const text = hint(page), place = page.find("[data-value=hint]");
    // A screen reader repeats a line whenever it is set, even if it has not changed.
    if (place.textContent !== text) place.textContent = text;
    place.classList.toggle("problem", Boolean(page.isProblem));
    page.large.setAttribute("aria-label", `${editor.signal().name}, sequence ${
      state.current + 1} of ${editor.signals.length}: signal, segmentation and labels`);
  }

  function draw(page) {
    const { editor } = page, { state } = editor, signal = editor.signal();
    const began = performance.now();
    const shown = { signal, labels: editor.labels(), view: editor.view(),
      model: signal.models[editor.model], selected: state.selected, edge: state.edge,
      pending: state.pending && editor.region(),
      disagreements: editor.decisions.of(state.current, editor.history.now[state.current])
        .undecided.places,
      cursor: state.cursor === null ? null : signal.position.at(state.cursor) };
    page.scale = shared.drawLarge(page.canvas, shown);
    page.wholeScale = shared.drawOverview(page.overview, shown);
    writeControls(page);
    writeChoice(page);
    writeTable(page);
    writeTotals(page);
    writeThumbs(page);
    // For tests: the number of redraws and the duration of the last one.
    page.section.dataset.milliseconds = String(performance.now() - began);
    page.section.dataset.drawn = String(Number(page.section.dataset.drawn || 0) + 1);
  }

  function setMessage(page, message, isProblem) {
    Object.assign(page, { message, isProblem: Boolean(isProblem) });
  }

  function save(page) {
    const { editor } = page;
    const text = shared.csv(editor.history.now, editor.signals);
    const address = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
    const link = element("a", { href: address, download: "labels.csv" });
    link.click();
    // The address is revoked later, because some browsers read it after the click returns.
    setTimeout(() => URL.revokeObjectURL(address), 10000);
    setMessage(page, "Saved as labels.csv in your downloads folder.");
    page.render();
  }

  async function load(page, file) {
    const { editor } = page;
    try {
      const rows = shared.csvRows(await file.text());
      const { labels, problems } = shared.placed(rows, editor.signals);
      // The import is a single edit, which can be undone.
      editor.replace(labels);
      const taken = plural(rows.length - problems.length, "label");
      setMessage(page, problems.length === 0 ? `Imported ${taken} from ${file.name}.`
        : `Imported ${taken} from ${file.name}, skipped ${plural(problems.length, "row")}: ${
          problems.slice(0, 3).join("; ")}${problems.length > 3 ? "; …" : ""}.`,
      problems.length > 0);
      page.changed(true);
    } catch (error) {
      setMessage(page, `Nothing was imported from ${file.name}: ${error.message}.`, true);
    }
    page.render();
  }

  function actions(page) {
    const { editor } = page, file = page.find("input[type=file]");
    const doing = {
      undo: () => { editor.travel("undo"); page.changed(); },
      redo: () => { editor.travel("redo"); page.changed(); },
      delete: () => { editor.remove(); page.changed(); page.large.focus(); },
      "zoom-in": () => editor.zoom(0.6), "zoom-out": () => editor.zoom(1 / 0.6),
      all: () => editor.seeAll(), next: () => page.next(), best: () => page.best(),
      import: () => file.click(), save: () => page.save(),
    };
    page.section.querySelectorAll("[data-do]").forEach((button) => {
      button.addEventListener("click", () => { doing[button.dataset.do](); page.render(); });
    });
    file.addEventListener("change", () => {
      if (file.files.length) load(page, file.files[0]);
      // Without this, a file could not be selected again after it was edited.
      file.value = "";
    });
    page.slider.addEventListener("input", () => {
      editor.setModel(Number(page.slider.value));
      page.render();
    });
    page.errors.addEventListener("click", (event) => {
      editor.setModel(shared.modelAt(event.offsetX, editor.signal().models.length,
        page.errors.clientWidth));
      page.render();
    });
    new ResizeObserver(() => page.render()).observe(page.section);
  }

  function makePage(section, data, editor) {
    const find = (selector) => section.querySelector(selector), kept = shared.storage(data.key);
    let isRequested = false;
    const page = { section, find, editor, large: find(".large"), canvas: find(".large canvas"),
      overview: find("canvas.overview"), slider: find("input[type=range]"),
      errors: find("canvas.errors"), message: null,
      kinds: Object.keys(KINDS).filter((one) => data.has_peaks || !one.includes("peak")),
      /* Draws at most once per frame. */
      render() {
        if (!isRequested) requestAnimationFrame(() => { isRequested = false; draw(page); });
        isRequested = true;
      },
      changed(keepsMessage) {
        if (!keepsMessage) setMessage(page, null);
        const isKept = kept.save(shared.rowsOf(editor.history.now, editor.signals));
        if (!isKept) setMessage(page, "This browser does not store labels: save them before you "
          + "close the page.", true);
      },
      setKind(kind) { if (editor.setKind(kind)) page.changed(); page.render(); },
      go(k) {
        setMessage(page, null);
        editor.go(k);
        page.thumbs[editor.state.current].button.scrollIntoView({ block: "nearest",
          inline: "nearest" });
        page.render();
      },
      next() { if (page.nextPlace >= 0) page.go(page.nextPlace); },
      best() {
        const { state, history, decisions } = editor;
        editor.setModel(decisions.of(state.current, history.now[state.current]).best);
        page.render();
      },
      save: () => save(page),
      notify(message) { setMessage(page, message, true); page.render(); },
    };
    return page;
  }

  function start(section) {
    const data = JSON.parse(section.querySelector("script[type='application/json']").text);
    const signals = data.sequences.map(shared.signal);
    Object.entries(data.kind_colors).forEach(([kind, color]) => { KINDS[kind].color = color; });
    const kept = shared.storage(data.key).load();
    // Labels stored by this browser are newer than those in the page.
    const { labels, problems } = shared.placed(kept || data.labels, signals);
    const page = makePage(section, data, shared.editor(signals, labels));
    makeKinds(page);
    makeThumbs(page);
    shared.listen(section, page.canvas, page.overview, page.editor, page);
    // A message is shown until the next action.
    ["pointerdown", "keydown"].forEach((name) => section.addEventListener(name,
      () => setMessage(page, null), { capture: true }));
    actions(page);
    if (problems.length) setMessage(page, `Skipped ${plural(problems.length, "label")}: ${
      problems.slice(0, 3).join("; ")}.`, true);
    else if (kept && kept.length) {
      setMessage(page, `Restored ${plural(kept.length, "label")} from this browser.`);
    }
    draw(page);
    section.dataset.ready = "true";
  }

  document.querySelectorAll(".labeling:not([data-ready])").forEach(start);
})(window.rocpathLabeling);
