/** A post of an event as a shell command. Signatures are not stored, so it signs with the secret in the environment. */

const quote = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`

export function curlOf(url: string, headers: Record<string, string>, event: { id: string }): string {
  // A masked header is the person's own; those of the signature are made by the command.
  const kept = Object.entries(headers).filter(([name]) => !/^(webhook-|host$|content-length$|connection$)/i.test(name))
  return [
    `id=${event.id} timestamp=$(date +%s)`,
    `body=${quote(JSON.stringify(event))}`,
    'key=$(printf %s "${WEBHOOK_SECRET#whsec_}" | base64 -d | od -An -tx1 | tr -d " \\n")',
    'signature=$(printf %s "$id.$timestamp.$body" | openssl dgst -sha256 -mac HMAC -macopt "hexkey:$key" -binary | base64)',
    [
      `curl -i ${quote(url)}`,
      ...kept.map(([name, value]) => `-H ${quote(`${name}: ${value}`)}`),
      '-H "webhook-id: $id" -H "webhook-timestamp: $timestamp" -H "webhook-signature: v1,$signature"',
      '--data-raw "$body"',
    ].join(' \\\n  '),
  ].join('\n')
}
