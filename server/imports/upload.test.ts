import { once } from 'node:events'
import { request as openRequest, type ClientRequest, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { createTestAccount } from '../accounts/testing.ts'
import { parseId } from '../ground/base/ids.ts'
import { chunkBytes } from '../ground/tables/bytes.ts'
import { uploadsMax } from './start.ts'
import { Stride } from './stride.ts'
import { rawWorkbook, rowOf } from '../ground/tables/zip-testing.ts'
import { numberOf, createImportTest, until } from './testing.ts'

const test = await createImportTest()
await test.app.listen({ port: 0, host: '127.0.0.1' })
const port = (test.app.server.address() as AddressInfo).port

const workbookType = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet'

describe('an upload', () => {
  it('checks after each piece whether messages are sent, and then rests', async () => {
    const pieces = 5
    const { imports } = test
    let looks = 0
    test.imports = { ...imports, openStride: () => new Stride(() => looks++) }
    await test.hold(await test.newCampaign(), `phone\n${'15551230001\n'.repeat((pieces * chunkBytes) / 12 - 10)}`)
    test.imports = imports
    // And once at the beginning.
    expect(looks).toBe(pieces + 1)
  })

  it('is refused at once if it can never be imported, and leaves nothing', async () => {
    const campaign = await test.newCampaign()
    const refusals: [type: string, payload: string | Buffer, status: number][] = [
      ['text/csv', '', 422],
      ['text/csv', 'phone\n', 422],
      ['text/csv', 'name\nAda', 422],
      ['text/csv', 'phone,a\0b\n1,2', 422],
      ['text/csv', Buffer.from('PK\u0003\u0004 workbook'), 422],
      ['text/csv', Buffer.alloc(5000), 422],
      ['application/x-ndjson', ' \n', 422],
      ['application/json', '{"contacts":[]}', 422],
      ['application/json', '{"contacts":[{}],"dry":true}', 422],
      ['application/json', '{"contacts":', 400],
      ['application/xml', '<a/>', 415],
    ]
    for (const [type, payload, status] of refusals)
      expect([type, payload, (await test.upload(campaign, type, payload)).status]).toEqual([type, payload, status])
    expect((await test.upload(campaign, 'text/csv', 'phone\n1', '?default_country=UK')).body['errors']).toMatchObject([
      { pointer: '?default_country', suggestion: 'GB' },
    ])
    expect((await test.upload(campaign, 'text/csv', 'phone\n1', '?dry_run=maybe')).status).toBe(422)
    expect((await test.upload(campaign, 'text/csv', 'phone\n1', '', { 'content-encoding': 'br' })).status).toBe(415)
    expect((await test.upload('nobody', 'text/csv', 'phone\n1')).status).toBe(404)
    expect(await importsOf(campaign)).toBe(0)
  })

  it('may be a workbook with its names near the beginning of its sheet', async () => {
    const campaign = await test.newCampaign()
    const send = (emptyRows: number): ReturnType<typeof test.upload> => {
      const sheet = `${'<row/>'.repeat(emptyRows)}${rowOf('phone')}${rowOf(numberOf(1))}`
      return test.upload(campaign, workbookType, rawWorkbook(sheet))
    }
    expect((await send(100_000)).status).toBe(202)
    expect(await send(1_500_000)).toMatchObject({ status: 422, body: { errors: [{ pointer: '#' }] } })
  })

  it('may arrive in small pieces, and is stored once for a key', async () => {
    const campaign = await test.newCampaign()
    const send = (): Promise<{ status: number | undefined; body: Record<string, unknown> }> => {
      const request = open(campaign, { 'idempotency-key': 'file-1' })
      request.write('pho')
      for (let i = 0; i < 2000; i++) request.write(i === 0 ? 'ne,note\n' : `${numberOf(i)},${'n'.repeat(300)}\n`)
      request.end()
      return answerOf(request)
    }
    const first = await send()
    expect(first.status).toBe(202)
    expect((await test.finished(String(first.body['id']))).counts).toMatchObject({ total: 1999, created: 1999 })
    expect((await send()).body).toEqual(first.body)
    expect(await importsOf(campaign)).toBe(1)
  })

  it.each(['keep-alive', 'close'])('gets its refusal while it is still being sent: %s', async (connection) => {
    const campaign = await test.newCampaign()
    const request = open(campaign, { connection })
    const answer = answerOf(request)
    const sent = once(request, 'finish')
    request.write('name,city\n')
    for (let i = 0; i < 200; i++) request.write(`${'x'.repeat(50_000)}\n`)
    request.end()
    // A client whose writes fail sees a broken connection, or a proxy's response to it.
    await sent
    expect(await answer).toMatchObject({ status: 422, body: { code: 'validation_failed' } })
    expect(await importsOf(campaign)).toBe(0)
  })

  it('gets a response if a gzip in a form is padded behind its end', async () => {
    const campaign = await test.newCampaign()
    const request = open(campaign, { 'content-type': 'multipart/form-data; boundary=b' })
    const answer = answerOf(request)
    request.write('--b\r\ncontent-disposition: form-data; name="file"; filename="list.csv.gz"\r\n\r\n')
    request.write(gzipSync(`phone\n${numberOf(1)}\n`))
    // Zeros, as in the blocks of a tape.
    request.write(Buffer.alloc(1 << 20))
    request.end('\r\n--b\r\ncontent-disposition: form-data; name="options"\r\n\r\n{}\r\n--b--\r\n')
    const { status, body } = await answer
    expect(status).toBe(202)
    expect((await test.finished(String(body['id']))).counts).toMatchObject({ total: 1, created: 1 })
  })

  it('leaves nothing behind if the client disconnects in the middle', async () => {
    const campaign = await test.newCampaign()
    const request = open(campaign, { 'content-length': '9000000' })
    request.on('error', () => {})
    request.write(`phone\n${'15551234567\n'.repeat(100_000)}`)
    await until(busyConnections, (busy) => busy === 1)
    request.destroy()
    await until(busyConnections, (busy) => busy === 0)
    expect(await importsOf(campaign)).toBe(0)
  })

  it('is refused if its key was revoked meanwhile, and leaves nothing', async () => {
    const { keyId, headers, accountId } = await createTestAccount(test.db)
    const { body: made } = await test.call('POST', '/v1/campaigns', { name: 'Late' }, { ...test.other, headers })
    const campaign = String(made['id'])
    const request = open(campaign, headers)
    const answer = answerOf(request)
    request.write(`phone\n${'15551234567\n'.repeat(chunkBytes / 12)}`)
    await until(busyConnections, (busy) => busy === 1)
    await test.sql`update api_keys set revoked_at = now() where account_id = ${accountId} and id = ${keyId}`
    test.authenticator.forget()
    request.end()
    expect(await answer).toMatchObject({ status: 401, body: { code: 'invalid_token' } })
    expect(await importsOf(campaign)).toBe(0)
  })

  it('leaves a place to other accounts, however many slow ones one account has', async () => {
    const campaign = await test.newCampaign()
    const slow = Array.from({ length: uploadsMax }, () => open(campaign))
    const answers = slow.map(answerOf)
    for (const [n, request] of slow.entries()) request.write(`phone\n${numberOf(n)}\n`)
    await until(busyConnections, (busy) => busy === uploadsMax - 1)
    const { body } = await test.call('POST', '/v1/campaigns', { name: 'Other' }, test.other)
    const other = open(String(body['id']), test.other.headers)
    other.end(`phone\n${numberOf(0)}\n`)
    expect((await answerOf(other)).status).toBe(202)
    for (const request of slow) request.end()
    const taken = (await Promise.all(answers)).filter(({ status }) => status === 202)
    // The waiting upload gets its turn now, unless it has waited too long.
    expect(taken.length).toBeGreaterThanOrEqual(uploadsMax - 1)
  })
})

const open = (campaign: string, headers: Record<string, string> = {}): ClientRequest =>
  openRequest({
    port,
    method: 'POST',
    path: `/v1/campaigns/${campaign}/contacts/import`,
    headers: { ...test.account.headers, 'content-type': 'text/csv', ...headers },
  })
const answerOf = async (
  request: ClientRequest,
): Promise<{ status: number | undefined; body: Record<string, unknown> }> => {
  const [response] = (await once(request, 'response')) as [IncomingMessage]
  const text = Buffer.concat(await response.toArray()).toString()
  return { status: response.statusCode, body: JSON.parse(text) as Record<string, unknown> }
}
const importsOf = async (campaign: string): Promise<number> => {
  const rows = await test.sql`select from imports where campaign_id = ${parseId('cmp', campaign)}`
  return rows.length
}
const busyConnections = (): number => test.imports.uploads.totalCount - test.imports.uploads.idleCount
