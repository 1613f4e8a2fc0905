/* Returns the defects of a page, as lines of text: contrast, names of controls, tap targets,
   headings and pictures. Rules are those of WCAG 2.2, level AA. */
const [leastTarget] = arguments;
const defects = [];
const shown = (element) => {
  const box = element.getBoundingClientRect(), style = getComputedStyle(element);
  return box.width > 1 && box.height > 1 && style.visibility !== "hidden"
    && element.checkVisibility({ opacityProperty: true, visibilityProperty: true });
};
const named = (element) => `${element.tagName.toLowerCase()}.${element.className
  && element.className.baseVal === undefined ? element.className : ""} "${
  (element.textContent || element.getAttribute("aria-label") || "").trim().slice(0, 30)}"`;
const rgba = (text) => {
  const pen = document.createElement("canvas").getContext("2d");
  pen.fillStyle = text;
  pen.fillRect(0, 0, 1, 1);
  return [...pen.getImageData(0, 0, 1, 1).data];
};
const luminance = (color) => color.slice(0, 3).map((one) => one / 255)
  .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4))
  .reduce((sum, one, k) => sum + one * [0.2126, 0.7152, 0.0722][k], 0);

/* The color behind an element: the nearest opaque background. */
function background(element) {
  for (let one = element; one; one = one.parentElement) {
    const color = rgba(getComputedStyle(one).backgroundColor);
    if (color[3] > 250) return color;
  }
  return [255, 255, 255, 255];
}

function checkContrast() {
  const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  const seen = new Set();
  while (texts.nextNode()) {
    const element = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || seen.has(element)) continue;
    seen.add(element);
    // Charts are checked by their palette; disabled controls are exempt.
    if (element.closest("svg, script, style, noscript, :disabled, mjx-container")
      || !shown(element)) continue;
    const style = getComputedStyle(element), size = parseFloat(style.fontSize);
    const isLarge = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700);
    const [dark, light] = [luminance(rgba(style.color)), luminance(background(element))]
      .sort((a, b) => a - b);
    const ratio = (light + 0.05) / (dark + 0.05);
    if (ratio < (isLarge ? 3 : 4.5)) {
      defects.push(`contrast ${ratio.toFixed(2)}: ${named(element)}`);
    }
  }
}

function checkControls() {
  document.querySelectorAll("a[href], button, input, select, textarea, summary").forEach((one) => {
    if (!shown(one) || one.closest("svg, .modebar")) return;
    const label = one.labels && one.labels.length ? one.labels[0].textContent : "";
    const image = one.querySelector("img[alt]:not([alt=''])");
    const name = one.getAttribute("aria-label") || one.getAttribute("aria-labelledby")
      || one.title || label || one.textContent || (image && image.alt) || "";
    if (!name.trim()) defects.push(`no name: ${one.outerHTML.slice(0, 80)}`);
    const { width, height } = one.getBoundingClientRect();
    // Links within a line of text are exempt.
    const isInline = one.tagName === "A" && getComputedStyle(one).display === "inline";
    if (!isInline && Math.min(width, height) < leastTarget - 0.5) {
      defects.push(`target of ${width.toFixed(0)} × ${height.toFixed(0)} px: ${named(one)}`);
    }
    if (one.tabIndex > 0) defects.push(`tabindex ${one.tabIndex}: ${named(one)}`);
  });
}

function checkStructure() {
  if (!document.documentElement.lang) defects.push("the page has no language");
  if (!document.title.trim()) defects.push("the page has no title");
  const levels = [...document.querySelectorAll("h1, h2, h3, h4, h5, h6")].filter(shown)
    .map((one) => Number(one.tagName[1]));
  if (levels.filter((one) => one === 1).length !== 1) defects.push("not exactly one h1");
  levels.forEach((one, k) => {
    if (k && one > levels[k - 1] + 1) defects.push(`h${one} follows h${levels[k - 1]}`);
  });
  document.querySelectorAll("img:not([alt])").forEach((one) =>
    defects.push(`no alternative text: ${one.src.slice(-60)}`));
  document.querySelectorAll("[role=img]:not([aria-label], [aria-hidden=true])").forEach((one) =>
    defects.push(`no description: ${named(one)}`));
  const room = document.documentElement.scrollWidth - innerWidth;
  if (room > 1) defects.push(`the page is ${room} px wider than the screen`);
}

checkContrast();
checkControls();
checkStructure();
return [...new Set(defects)];
