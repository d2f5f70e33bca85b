/**
 * One phone, one number. Some countries dropped or added a digit, or gave every phone a new prefix; for years, phones, carriers and files use both
 * forms. All readers return the current one. `spellingsOf` returns the forms that carriers and our own rows may still have.
 */

/** An old form of numbers, and the current one of the same phones. Patterns match whole numbers; each undoes the other. */
interface Change {
  from: RegExp
  to: string
  back: RegExp
  backTo: string
  /** The old form only exists behind the calling code: at home, its digits are another country's number. */
  isAbroad?: true
}

const change = (from: RegExp, to: string, back: RegExp, backTo: string): Change => ({ from, to, back, backTo })

// By calling code. Only changes that a regulator published for the whole range, with an old form that is unassigned today.
const changes: Readonly<Record<string, readonly Change[]>> = {
  // Mexico, 2019: the 1 before mobile numbers was dropped. Phones and some carriers still write it, people also write the old trunk prefixes.
  52: [
    { ...change(/^521([2-9]\d{9})$/, '52$1', /^52([2-9]\d{9})$/, '521$1'), isAbroad: true },
    change(/^52(?:01|04[45])([2-9]\d{9})$/, '52$1', /^$/, ''),
  ],
  // Argentina: mobile numbers have a 9 behind the country code in calls from abroad, but not in texts or at home. A number that receives texts is
  // mobile.
  54: [change(/^54((?:11|2\d|3\d)\d{8})$/, '549$1', /^549((?:11|2\d|3\d)\d{8})$/, '54$1')],
  // Brazil, 2012 to 2016: mobile numbers got a 9 before their eight digits. For those that begin with 7, see `doubts`.
  55: [
    change(
      /^55([1-9][1-9])([689]\d{7}|7[1-6]\d{6})$/,
      '55$19$2',
      /^55([1-9][1-9])9([689]\d{7}|7[1-6]\d{6})$/,
      '55$1$2',
    ),
  ],
  // Chile, 2016: the trunk zero ended, and with it 09 before mobile numbers; people still write both.
  56: [change(/^560([2-79]\d{8})$/, '56$1', /^56([2-79]\d{8})$/, '560$1')],
  // Viet Nam, 2018: mobile numbers of eleven digits became ten (with the trunk zero).
  84: (
    [
      ['12([068])', '7$1', '7([068])'],
      ['121', '79', '79'],
      ['122', '77', '77'],
      ['12([345])', '8$1', '8([345])'],
      ['127', '81', '81'],
      ['129', '82', '82'],
      ['16([2-9])', '3$1', '3([2-9])'],
      ['18([68])', '5$1', '5([68])'],
      ['199', '59', '59'],
    ] as const
  ).map(([old, current, pattern]) => {
    const digits = old.includes('(') ? '$2' : '$1'
    const before = old.replace(/\(.*\)/, '$1')
    return change(
      new RegExp(`^84${old}(\\d{7})$`),
      `84${current}${digits}`,
      new RegExp(`^84${pattern}(\\d{7})$`),
      `84${before}${digits}`,
    )
  }),
  // Côte d'Ivoire, 2021: ten digits. The second digit of mobile numbers, and the third of fixed ones, gave the operator.
  225: [
    change(/^225([04-9][0-3]\d{6})$/, '22501$1', /^22501([04-9][0-3]\d{6})$/, '225$1'),
    change(/^225([04-9][4-6]\d{6})$/, '22505$1', /^22505([04-9][4-6]\d{6})$/, '225$1'),
    change(/^225([04-9][7-9]\d{6})$/, '22507$1', /^22507([04-9][7-9]\d{6})$/, '225$1'),
    change(/^225(2\d8\d{5})$/, '22521$1', /^22521(2\d8\d{5})$/, '225$1'),
    change(/^225([23]\d0\d{5})$/, '22525$1', /^22525([23]\d0\d{5})$/, '225$1'),
    change(/^225(2\d[1-79]\d{5}|3\d[1-9]\d{5})$/, '22527$1', /^22527(2\d[1-79]\d{5}|3\d[1-9]\d{5})$/, '225$1'),
  ],
  // Benin, 2024: 01 before all eight digits.
  229: [change(/^229(\d{8})$/, '22901$1', /^22901(\d{8})$/, '229$1')],
  // Mauritius, 2013: a 5 before mobile numbers of seven digits.
  230: [change(/^230([79]\d{6})$/, '2305$1', /^2305([79]\d{6})$/, '230$1')],
  // Cameroon, 2014: a 6 before mobile numbers of eight digits, a 2 before fixed ones.
  237: [
    change(/^237([79]\d{7})$/, '2376$1', /^2376([79]\d{7})$/, '237$1'),
    change(/^237((?:22|33)\d{6})$/, '2372$1', /^2372((?:22|33)\d{6})$/, '237$1'),
  ],
  // Gabon, 2019: mobile numbers of seven digits got a 6 or a 7, by their operator.
  241: [
    change(/^241([256]\d{6})$/, '2416$1', /^2416([256]\d{6})$/, '241$1'),
    change(/^241([47]\d{6})$/, '2417$1', /^2417([47]\d{6})$/, '241$1'),
  ],
  // Ecuador, 2012: a 9 before mobile numbers of eight digits.
  593: [change(/^593([89]\d{7})$/, '5939$1', /^5939([89]\d{7})$/, '593$1')],
}

/** Forms with an uncertain current form, and the most likely one; '' if the area code is missing. */
const doubts: Readonly<Record<string, readonly Pick<Change, 'from' | 'to'>[]>> = {
  // Argentina: 15 before a mobile number at home.
  54: [{ from: /^549?15\d{8}$/, to: '' }],
  // Brazil: a mobile number at home; and trunked radio kept eight digits until it ended; mobile numbers with the same digits got the 9.
  55: [
    { from: /^559\d{8}$/, to: '' },
    { from: /^55([1-9][1-9])(7[07-9]\d{6})$/, to: '55$19$2' },
  ],
}

/** The current form of a number, or the number itself. `code` is its calling code; `isHome` means that it was written without it. */
export function currentForm(code: string, number: string, isHome = false): string {
  for (const { from, to, isAbroad } of changes[code] ?? [])
    if (from.test(number) && !(isAbroad && isHome)) return number.replace(from, to)
  return number
}

/** The most likely current form of an uncertain one, '' without its area code; null for all other numbers. */
export function doubtfulForm(code: string, number: string): string | null {
  for (const { from, to } of doubts[code] ?? []) if (from.test(number)) return number.replace(from, to)
  return null
}

/** All forms of the phone with this current number, the current one first. Rows from before a change may have another. */
export function formsOf(code: string, number: string): string[] {
  const others = (changes[code] ?? []).flatMap(({ back, backTo }) =>
    back.test(number) ? [number.replace(back, backTo)] : [],
  )
  return [number, ...others]
}
