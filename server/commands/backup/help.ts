/** What `heliogram backup --help` and `heliogram restore --help` print. */

export const backupHelp = `Usage: heliogram backup FILE            write a whole copy of the database to FILE
       heliogram backup -               write it to standard output, for another program
       heliogram backup --check FILE    read a backup, say what is in it, and whether it is whole

It runs with the settings of the service (DATABASE_URL or HELIOGRAM_DATA) and as its user, while the service runs or not, and shows all tables as
they were at one moment. The service goes on meanwhile. FILE is there when it is whole and on the disk; one of that name is replaced then.

The master key is not in it: keep a copy of the key file (HELIOGRAM_KEY_FILE, or "key" in the data folder) apart from it.

Exit code 0: there is a whole backup. 1: there is none, for the reason that is told. 2: it was asked in the wrong way.
`

export const restoreHelp = `Usage: heliogram restore FILE [--keep-carriers] [--without-key]

Puts a backup into an empty database: that of a new data folder (HELIOGRAM_DATA), or an empty one that DATABASE_URL names. Put the key file in its
place first (HELIOGRAM_KEY_FILE, or "key" in the data folder). FILE may be "-": standard input. It is read to its end and proved to be whole before
the service can be started on it; where that fails, or it is interrupted, run it again: it begins anew.

  --keep-carriers   leave carriers enabled that were. By default they come back disabled, so that somebody looks at what waits before it is sent,
                    a second time perhaps. For a move, from a backup that was made after the service had stopped.
  --without-key     give up all that the master key has sealed, where it is lost for good: texts and contacts that were encrypted, passwords of
                    carriers, secrets of webhooks, second factors, opt-outs of forgotten numbers.

Exit code 0: the database is whole. 1: it is not, for the reason that is told. 2: it was asked in the wrong way.
`
