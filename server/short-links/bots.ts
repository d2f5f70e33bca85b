/** Who follows a link: a person, or a program that looks what is behind it. */
import type { IncomingHttpHeaders } from 'node:http'

/**
 * Programs by what they call themselves: previews of messengers and mail, crawlers, scanners of links, libraries. After the names that they
 * document; what calls itself a browser cannot be told from one. `cubot` makes phones.
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

/** Whether a request comes from a program: one that says so, one that fetches ahead of a click, or one without a name. */
export function isBot(headers: IncomingHttpHeaders): boolean {
  const purposes = [headers['sec-purpose'], headers['purpose'], headers['x-purpose'], headers['x-moz']]
  if (purposes.some((purpose) => /prefetch|prerender|preview/i.test(String(purpose ?? '')))) return true
  const agent = headers['user-agent'] ?? ''
  return agent === '' || program.test(agent)
}
