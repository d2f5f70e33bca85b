import { existsSync, readFileSync } from 'node:fs'
import { Command, CommanderError, Option } from 'commander'
import { openCli, type Cli, type GlobalOptions } from './cli.ts'
import { exits } from './exit.ts'
import { tell } from './terminal/failure.ts'
import { mcpWord, ownWords, words } from './words.ts'

const { version } = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')) as { version: string }

// The reader has enough: `heliogram messages list | head`.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error
  process.exit(exits.ok)
})
process.stderr.on('error', () => {})

/** Loads only the command in `typed`; the others are names. */
async function buildProgram(root: Command, cli: Cli, typed: string | undefined): Promise<void> {
  for (const [name, { group, summary, load }] of Object.entries(words)) {
    const command = name === typed ? (await load()).build(cli) : new Command(name)
    root.addCommand(
      command
        .summary(summary)
        .description(command.description() || sentence(summary))
        .helpGroup(group),
    )
  }
  const own = 'The installation itself:'
  for (const [name, summary] of Object.entries(ownWords))
    root.addCommand(new Command(name).summary(summary).helpGroup(own))
  if (existsSync(new URL('../mcp/main.ts', import.meta.url)))
    root.addCommand(new Command(mcpWord.name).summary(mcpWord.summary).helpGroup('For developers:'))
}

const sentence = (summary: string): string => `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`

/** The first word that is not an option or the value of a global option. */
function findWord(typed: readonly string[]): string | undefined {
  for (let i = 0; i < typed.length; i++) {
    const word = typed[i] ?? ''
    if (['--profile', '--url'].includes(word)) i++
    else if (!word.startsWith('-')) return word
  }
  return undefined
}

/** Common settings, also of nested commands. */
function settle(command: Command): void {
  command.exitOverride().showSuggestionAfterError().helpCommand(false)
  command.configureHelp({ showGlobalOptions: command.parent !== null, sortSubcommands: false })
  command.configureOutput({ outputError: (text, write) => write(reword(text)) })
  const path = pathOf(command)
  if (command.parent) command.showHelpAfterError(`See "heliogram ${path} --help".`)
  for (const inner of command.commands) settle(inner)
}

const pathOf = (command: Command): string =>
  command.parent?.parent ? `${pathOf(command.parent)} ${command.name()}` : command.name()

/** Rewords commander's message as a sentence. */
function reword(text: string): string {
  const plain = text.replace(/^error: /, '').replace(/^unknown command '(.*)'/, 'There is no command "$1".')
  return plain.charAt(0).toUpperCase() + plain.slice(1)
}

async function run(typed: string[]): Promise<void> {
  // `help send` is `send --help`.
  const asked = typed[0] === 'help' ? [...typed.slice(1), '--help'] : typed
  const root = new Command('heliogram')
  const cli = openCli(() => root.opts<GlobalOptions>())
  root
    .usage('<command> [options]')
    .description(`Heliogram ${version}: the SMS platform that you run yourself.`)
    .version(version, '-v, --version', 'print the version')
    .helpOption('-h, --help', 'print this help; after a command: its own help')
    .addOption(new Option('--profile <name>', 'one of your logins (or HELIOGRAM_PROFILE)'))
    .addOption(new Option('--url <url>', 'the installation (or HELIOGRAM_URL)'))
    .addOption(new Option('--json', 'results as JSON: one document, or one object a line for lists'))
    .addHelpText('after', '\nThe manual: docs/cli.md, or /docs/cli of your installation.')
  const word = findWord(asked)
  await buildProgram(root, cli, word)
  settle(root)
  if (word === undefined && asked.length === 0) asked.push('--help')
  try {
    await root.parseAsync(asked, { from: 'user' })
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode === 0 ? exits.ok : exits.usage
      if (error.code === 'commander.unknownCommand' && words[word ?? ''] === undefined)
        process.stderr.write('"heliogram --help" lists all commands.\n')
      return
    }
    process.exitCode = tell(error, cli.url, cli.isJson)
    if (process.exitCode === exits.unreachable) await cli.sayHowToGoOn()
  }
}

await run(process.argv.slice(2))
