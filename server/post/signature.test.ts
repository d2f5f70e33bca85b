import { Webhook } from 'standardwebhooks'
import { expect, test } from 'vitest'
import { keyOf, newSecret, sign } from './signature.ts'

test('signs the known vector of Standard Webhooks', () => {
  const key = keyOf('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw')
  const signature = sign([key], 'msg_p5jXN8AQM9LWM0D4loKWxJek', 1_614_265_330, '{"test": 2432232314}')
  expect(signature).toBe('v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=')
})

test('signs text beyond ASCII so that the published verifier accepts it, with the new and the previous secret', () => {
  const secrets = [newSecret(), newSecret()]
  const body = JSON.stringify({ message: 'Grüße 👋' })
  const timestamp = Math.floor(Date.now() / 1000)
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(timestamp),
    'webhook-signature': sign(secrets.map(keyOf), 'evt_1', timestamp, body),
  }
  for (const secret of secrets) expect(new Webhook(secret).verify(body, headers)).toEqual(JSON.parse(body))
  expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow(/signature/i)
  expect(() => new Webhook(secrets[0] ?? '').verify(`${body} `, headers)).toThrow(/signature/i)
})

test('generates secrets of 32 random bytes', () => {
  const secrets = Array.from({ length: 100 }, newSecret)
  expect(new Set(secrets).size).toBe(100)
  for (const secret of secrets) expect(Buffer.from(secret.slice('whsec_'.length), 'base64').length).toBe(32)
})
