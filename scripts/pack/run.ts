/** Other programs, whose output is shown if they fail. */
import { execFile } from 'node:child_process'

export function run(command: string, words: string[], cwd: string, env = process.env): Promise<string> {
  return new Promise((resolve, reject) => {
    execFile(command, words, { cwd, env, maxBuffer: 64 * 1024 * 1024 }, (error, stdout, stderr) => {
      if (error) reject(new Error(`"${[command, ...words].join(' ')}" failed:\n${stdout}${stderr || error.message}`))
      else resolve(stdout)
    })
  })
}

export function runNpm(words: string[], cwd: string): Promise<string> {
  const script = process.env['npm_execpath']
  if (script === undefined || !/npm-cli\.c?js$/.test(script)) return run('npm', words, cwd)
  return run(process.env['npm_node_execpath'] ?? process.execPath, [script, ...words], cwd)
}
