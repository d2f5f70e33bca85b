// Before the first paint, so that a page in a chosen theme does not flash in the other (shell/look.ts).
try {
  Object.assign(document.documentElement.dataset, JSON.parse(localStorage.getItem('heliogram.look')))
} catch {}
