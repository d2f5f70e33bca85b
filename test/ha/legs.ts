/** The fault of each leg of `npm run test:ha`, and its repair. */
import { signalProcess, type Program } from '../harness.ts'
import { until } from '../until.ts'
import type { Cluster, Member } from './cluster.ts'

export interface Stage {
  cluster: Cluster
  programs: Program[]
  random: () => number
  /** Waits until messages are accepted again, under any leader. */
  untilAccepting(): Promise<void>
}

interface Leg {
  what: string
  run(stage: Stage): Promise<void>
}

export const legs: Record<string, Leg> = {
  kill: {
    what: 'kill -9 of Patroni and PostgreSQL of the leader',
    async run(stage) {
      const old = await takeLeader(stage)
      await killMember(stage, old)
      await untilOther(stage, old)
      stage.cluster.startPatroni(old)
    },
  },
  switchover: {
    what: 'patronictl switchover',
    async run(stage) {
      const old = await takeLeader(stage)
      await stage.cluster.patronictl('switchover', '--master', old.name, '--force')
      await untilOther(stage, old)
    },
  },
  freeze: {
    what: 'the leader stands still (SIGSTOP) and wakes when another leads',
    async run(stage) {
      const old = await takeLeader(stage)
      const postgres = await stage.cluster.postgresPids(old)
      const patroni = old.patroni?.pid ?? 0
      for (const pid of [patroni, ...postgres]) signalProcess(pid, 'SIGSTOP')
      try {
        await untilOther(stage, old)
        await pause(2000 + stage.random() * 3000)
      } finally {
        // PostgreSQL first: for a while it is a second primary without knowing it.
        for (const pid of postgres) signalProcess(pid, 'SIGCONT')
        await pause(500 + stage.random() * 2000)
        signalProcess(patroni, 'SIGCONT')
      }
    },
  },
  postmaster: {
    what: "kill -9 of the leader's postmaster alone",
    async run(stage) {
      const [pid = 0] = await stage.cluster.postgresPids(await takeLeader(stage))
      signalProcess(pid, 'SIGKILL')
      await until('the postmaster is gone', () => !signalProcess(pid, 0))
      await stage.untilAccepting()
    },
  },
  process: {
    what: 'kill -9 of the leader, and of one of our own processes',
    async run(stage) {
      const old = await takeLeader(stage)
      const program = stage.programs[stage.random() < 0.5 ? 0 : 1]
      await killMember(stage, old)
      await pause(stage.random() * 3000)
      await program?.kill9()
      const other = untilOther(stage, old)
      // As a service manager does: without a primary each start fails with a message.
      await until(
        'the process runs again',
        async () => {
          await program?.restart()
          return true
        },
        120_000,
      )
      await other
      stage.cluster.startPatroni(old)
    },
  },
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

async function takeLeader({ cluster }: Stage): Promise<Member> {
  await cluster.untilWhole()
  const leader = await cluster.leader()
  if (!leader) throw new Error('nobody leads')
  return leader
}

async function killMember({ cluster }: Stage, member: Member): Promise<void> {
  const postgres = await cluster.postgresPids(member)
  for (const pid of [member.patroni?.pid ?? 0, ...postgres]) signalProcess(pid, 'SIGKILL')
  await until('it is gone', () => !postgres.some((pid) => signalProcess(pid, 0)))
}

async function untilOther(stage: Stage, old: Member): Promise<void> {
  const isOther = async (): Promise<boolean> => {
    const leader = await stage.cluster.leader()
    return leader !== undefined && leader !== old
  }
  await until(`another than ${old.name} leads`, isOther, 120_000)
  await stage.untilAccepting()
}
