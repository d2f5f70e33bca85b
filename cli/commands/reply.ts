/** `heliogram reply`. */
import { Command } from 'commander'
import type { Cli } from '../cli.ts'
import { readText } from '../input/given.ts'
import { note, say } from '../terminal/output.ts'
import { paintStatus } from '../terminal/status.ts'
import { safeJson } from '../terminal/text.ts'

/** The command. */
export function build(cli: Cli): Command {
  return new Command('reply')
    .argument('<conversation>', 'id of a conversation, as "heliogram conversations list" has it')
    .argument('<text>', 'the text; "-" reads it from standard input')
    .description('Answer in a conversation: from its number, to its person.')
    .action(async (conversation: string, word: string) => {
      const message = await readText(word)
      const client = await cli.client()
      const sent = await client.call('replyInConversation', { path: { conversation }, body: { message } })
      if (cli.isJson) return say(safeJson(sent))
      await say(`${sent.id}  ${paintStatus(sent.status)}`)
      note(`What becomes of it: heliogram trace ${sent.id}`)
    })
}
