"use strict";

// Nothing here is needed: keys follow links that stand on the page, and what is chosen in a form that says so is sent at once.

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.altKey || event.metaKey || event.repeat) return;
  if (event.target.closest("input, select, textarea")) return;
  const link = document.querySelector(`a[data-keys~="${CSS.escape(event.key)}"]`);
  if (link === null) return;
  event.preventDefault();
  link.click();
});

document.addEventListener("input", (event) => {
  const output = event.target.form?.querySelector(`output[for="${event.target.id}"]`);
  if (output) output.value = event.target.value;
});

document.addEventListener("change", (event) => {
  const form = event.target.closest("form[data-sends]");
  if (form !== null) form.requestSubmit();
});
