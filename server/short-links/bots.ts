import type { IncomingHttpHeaders } from 'node:http'

/**
 * Names of programs: previews of messengers and mail, crawlers, link scanners, libraries, as they document them. Those that pose as
 * browsers cannot be recognized. `cubot` makes phones.
 */
const program = new RegExp(
  [
    '(?<!cu)bot(\\b|[/_-])|crawl|spider|slurp|archiver',
    'facebookexternalhit|facebookcatalog|facebot|meta-external|whatsapp/|slackbot|slack-imgproxy|skypeuripreview|telegrambot|viber',
    'google-pagerenderer|googlemessages|googleimageproxy|google-read-aloud|google-inspectiontool|google-safety|developers\\.google\\.com/\\+/web/snippet',
    'applebot|twitterbot|discordbot|linkedinbot|pinterest/|redditbot|vkshare|embedly|iframely|snap url preview|mastodon|preview',
    'bingpreview|microsoft office|ms-office|outlook-|safelinks|mimecast|proofpoint|barracuda|symantec|trendmicro|urlscan|virustotal|scan(ner|ning)\\b',
    'headless|phantomjs|puppeteer|playwright|selenium|lighthouse|uptime|pingdom|statuscake|monitor',
    '^(curl|wget|httpie|python|go-http-client|java|okhttp|apache-http|axios|node|undici|got|ruby|php|perl|libwww|dart|postman|insomnia|guzzle)',
  ].join('|'),
  'i',
)

/** Whether a request names a program, prefetches, or has no user agent. */
export function isBot(headers: IncomingHttpHeaders): boolean {
  const purposes = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']]
  if (purposes.some((purpose) => /prefetch|prerender|preview/i.test(String(purpose ?? '')))) return true
  const agent = headers['user-agent'] ?? ''
  return agent === '' || program.test(agent)
}
