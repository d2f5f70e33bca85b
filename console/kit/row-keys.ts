/** Keys in lists: `j` and `k` move between rows, Enter opens one, `x` marks it. */

const rows = (): HTMLElement[] => [...document.querySelectorAll<HTMLElement>('main tr.leads td > a')]

addEventListener('keydown', (event) => {
  const { key, target } = event
  if (!['j', 'k', 'x'].includes(key) || event.metaKey || event.ctrlKey || event.altKey) return
  if (target instanceof Element && target.closest('input:not([type="checkbox"]), textarea, select, .dialog, .popup'))
    return
  const here = target instanceof Element ? target.closest('tr') : null
  if (key === 'x') {
    here?.querySelector<HTMLElement>('input[type="checkbox"]')?.click()
    return
  }
  const all = rows()
  const at = all.findIndex((link) => here?.contains(link))
  all[Math.max(0, Math.min(all.length - 1, at + (key === 'j' ? 1 : -1)))]?.focus()
})
