import { execFileSync } from 'node:child_process'
import { tmpdir } from 'node:os'
import { expect, it } from 'vitest'
import { Disk, diskLevelOf, readDiskRoom, type DiskLevel, type DiskRoom } from './disk.ts'

const gigabyte = 1e9

it.each<[sizeGb: number, freeGb: number, before: DiskLevel, after: DiskLevel]>([
  [100, 10.1, 'enough', 'enough'],
  [100, 9.9, 'enough', 'low'],
  [100, 11.9, 'low', 'low'],
  [100, 12.1, 'low', 'enough'],
  [100, 4.9, 'enough', 'nearly full'],
  [100, 5.9, 'nearly full', 'nearly full'],
  [100, 6.1, 'nearly full', 'low'],
  [100, 12.1, 'nearly full', 'enough'],
  // A tenth of a small disk is little, of a large one plenty.
  [8, 1.9, 'enough', 'low'],
  [8, 0.9, 'enough', 'nearly full'],
  [4000, 51, 'enough', 'enough'],
  [4000, 49, 'enough', 'low'],
  [4000, 9.9, 'low', 'nearly full'],
])('%d GB with %d GB free, after %s, is %s', (sizeGb, freeGb, before, after) => {
  expect(diskLevelOf({ sizeBytes: sizeGb * gigabyte, freeBytes: freeGb * gigabyte }, before)).toBe(after)
})

it('each level is reported once, however often it is checked', async () => {
  const told: string[] = []
  const tell =
    (how: string) =>
    (_fields: object, message: string): void =>
      void told.push(`${how}: ${message}`)
  let room: DiskRoom = { freeBytes: 50 * gigabyte, sizeBytes: 100 * gigabyte }
  const log = { info: tell('info'), warn: tell('warn'), error: tell('error') }
  const disk = new Disk('/data', log, () => Promise.resolve(room))
  for (const freeGb of [50, 9, 8, 9.9, 10.1, 4, 3, 5.5, 7, 6, 20, 21]) {
    room = { ...room, freeBytes: freeGb * gigabyte }
    await disk.look()
    expect(disk.room).toEqual(room)
  }
  expect(told).toEqual([
    'warn: the disk is filling up',
    'error: the disk is nearly full',
    'warn: the disk is filling up',
    'info: the disk has space again',
  ])
})

it('the free space is what df reports', async () => {
  const df = (): number[] => {
    const [, numbers = ''] = execFileSync('df', ['-P', '-k', tmpdir()], { encoding: 'utf8' }).split('\n')
    const [, size, , free] = numbers.split(/\s+/)
    return [Number(size) * 1024, Number(free) * 1024]
  }
  // Other processes write to it meanwhile.
  await expect
    .poll(async () => {
      const [, before = 0] = df()
      const { sizeBytes, freeBytes } = await readDiskRoom(tmpdir())
      const [size = 0, after = 0] = df()
      return sizeBytes === size && Math.min(before, after) <= freeBytes && freeBytes <= Math.max(before, after)
    })
    .toBe(true)
})
