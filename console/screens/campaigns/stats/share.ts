const percent = new Intl.NumberFormat('en', { style: 'percent', minimumFractionDigits: 1, maximumFractionDigits: 1 })

/** `96.2%`; a dash for a share of nothing. Only all is 100%, and only nothing is 0%. */
export function tellShare(value: number, of: number): string {
  if (of === 0) return '–'
  if (value === 0 || value === of) return value === 0 ? '0%' : '100%'
  const share = value / of
  return share < 0.001 ? '<0.1%' : percent.format(Math.min(share, 0.999))
}
