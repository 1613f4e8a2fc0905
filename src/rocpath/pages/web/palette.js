/* Returns a color of the palette, which the style of the page defines. */
globalThis.rocpathColor = (name) =>
  getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
