/** `heliogram owner-code`: a new code for the first owner, with or without a running service. */
import { createOwnerCode } from '../../accounts/login/owner-code.ts'
import type { Config } from '../config.ts'
import { openPool, type Db } from '../../ground/db/db.ts'
import type { Log } from '../../ground/db/log.ts'
import { tellOwner } from '../greeting.ts'
import { StartError } from '../start.ts'
import { openInstallation } from './installation.ts'

export async function makeOwnerCode(config: Config, log: Log): Promise<string> {
  const { connection, close } = await openInstallation(config, log)
  const db = openPool(connection, { name: 'owner code', max: 1 })
  try {
    return await printOwnerCode(db, config.publicUrl)
  } finally {
    await db.end()
    await close()
  }
}

export async function printOwnerCode(db: Db, publicUrl: string): Promise<string> {
  const made = await createOwnerCode(db)
  if (!made)
    throw new StartError(
      'There is no code to print: the owner already has a password, or the service has never been started.',
    )
  return ['', ...tellOwner(publicUrl, made), ''].join('\n')
}
