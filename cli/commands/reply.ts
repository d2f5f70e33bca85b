import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readText } from '../input/given.ts'
import { note, say } from '../terminal/output.ts'
import { paintStatus } from '../terminal/status.ts'
import { safeJson } from '../terminal/text.ts'

export function build(cli: Cli): Command {
  return new Command('reply')
    .argument('<conversation>', 'id of a conversation, from "heliogram conversations list"')
    .argument('<text>', 'the text; "-" reads it from standard input')
    .description('Reply in a conversation, from its number to its person.')
    .action(async (conversation: string, word: string) => {
      const message = await readText(word)
      const sent = await cli.call('replyInConversation', { path: { conversation }, body: { message } })
      if (cli.isJson) return say(safeJson(sent))
      await say(`${sent.id}  ${paintStatus(sent.status)}`)
      note(`To follow it: heliogram trace ${sent.id}`)
    })
}
