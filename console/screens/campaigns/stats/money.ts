/** `€71.10`, or more digits for amounts below a cent. */
export function tellMoney(amounts: readonly { amount: string; currency: string }[]): string {
  return amounts
    .map(({ amount, currency }) => {
      const isSmall = Number(amount) < 0.1
      const digits = isSmall ? { maximumFractionDigits: 5 } : {}
      return new Intl.NumberFormat('en', { style: 'currency', currency, ...digits }).format(Number(amount))
    })
    .join(' + ')
}
