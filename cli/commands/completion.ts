/** `heliogram completion`: a script for a shell, which calls `completion words` for the candidates. */
import { Argument, Command } from 'commander'
import type { Cli, Word } from '../cli.ts'
import { say } from '../terminal/output.ts'

const scripts = {
  bash: `_heliogram() {
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$(heliogram completion words -- "\${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _heliogram heliogram`,
  zsh: `#compdef heliogram
_heliogram() {
  local -a found
  found=(\${(f)"$(heliogram completion words -- "\${(@)words[2,CURRENT-1]}" 2>/dev/null)"})
  compadd -a found || _files
}
compdef _heliogram heliogram`,
  fish: `complete -c heliogram -f -a '(heliogram completion words -- (commandline -opc)[2..-1] 2>/dev/null)'`,
}

export function buildCompletion(cli: Cli, words: Record<string, Word>, others: readonly string[]): Command {
  return new Command('completion')
    .addArgument(new Argument('<shell>', 'yours').choices([...Object.keys(scripts), 'words']))
    .argument('[typed...]', 'for "words": the words before the cursor')
    .addHelpText(
      'after',
      `
  bash:  heliogram completion bash >> ~/.bashrc
  zsh:   heliogram completion zsh > "\${fpath[1]}/_heliogram"
  fish:  heliogram completion fish > ~/.config/fish/completions/heliogram.fish`,
    )
    .action(async (shell: keyof typeof scripts | 'words', typed: string[]) => {
      if (shell !== 'words') return say(scripts[shell])
      for (const word of await findNext(cli, typed, words, others)) await say(word)
    })
}

/** Completions of the typed words: commands, then options. */
async function findNext(
  cli: Cli,
  typed: readonly string[],
  words: Record<string, Word>,
  others: readonly string[],
): Promise<string[]> {
  const [first, second] = typed.filter((word) => !word.startsWith('-'))
  if (first === undefined) return [...Object.keys(words), ...others]
  const word = words[first]
  if (word === undefined) return []
  const command = (await word.load()).build(cli)
  if (first === 'api' && second === undefined) return Object.keys((await import('@heliogram/sdk')).routes)
  const inner = command.commands.find((one) => one.name() === second)
  if (command.commands.length > 0 && inner === undefined) return command.commands.map((one) => one.name())
  const options = (inner ?? command).options.map(({ long }) => long ?? '')
  return [...options, '--json', '--profile', '--url', '--help']
}
