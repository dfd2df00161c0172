/**
 * The user that Postgres runs as.
 *
 * Postgres refuses to run as root. For a supervisor that is root it runs as the system's user `postgres`, else as a
 * fixed uid that needs no entry in /etc/passwd. Existing data keep their owner: see `ownerOf`.
 *
 * Pitfall: running `initdb` as a uid without an entry in /etc/passwd. It looks up its own name, whatever `--username`
 * is; the server does not. So initdb runs as any named user, and its output changes owner.
 */
import { statSync } from "node:fs"
import { readFile } from "node:fs/promises"
import { userInfo } from "node:os"
import { Effect } from "effect"
import { attempt, DataDirectoryUnusable, LocalPostgresError } from "./LocalPostgresError.ts"

export interface Identity {
  readonly uid: number
  readonly gid: number
}

export interface PostgresUser {
  /** Whether this process is root, so that files must change owner and child processes their uid. */
  readonly drops: boolean
  /** The owner of new clusters. */
  readonly owner: Identity
  /** The user that runs `initdb`. */
  readonly initdb: Identity
}

/** Used where the system has no `postgres` user. */
const unnamed: Identity = { uid: 65532, gid: 65532 }

/** `chosen` applies when this process is root; any other user runs Postgres as itself. */
export const findPostgresUser = Effect.fn("findPostgresUser")(function* (chosen?: Identity) {
  const self = yield* Effect.try({
    try: () => userInfo(),
    catch: () =>
      new LocalPostgresError({
        operation: "Finding the user to run Postgres as",
        reason:
          "the uid of this process has no name, and Postgres requires one: add it to /etc/passwd or run as another user"
      })
  })
  const itself = { uid: self.uid, gid: self.gid }
  if (self.uid !== 0) {
    return { drops: false, owner: itself, initdb: itself } satisfies PostgresUser
  }
  const accounts = parseAccounts(yield* attempt("Reading /etc/passwd", () => readFile("/etc/passwd", "utf8")))
  const owner = chosen ?? accounts.find((it) => it.name === "postgres") ?? unnamed
  const named =
    accounts.find((it) => it.uid === owner.uid) ??
    accounts.find((it) => it.name === "nobody") ??
    accounts.find((it) => it.uid !== 0)
  if (owner.uid === 0 || named === undefined) {
    return yield* new LocalPostgresError({
      operation: "Finding the user to run Postgres as",
      reason: "Postgres refuses to run as root, and /etc/passwd has no other user: add a user postgres"
    })
  }
  return {
    drops: true,
    owner: { uid: owner.uid, gid: owner.gid },
    initdb: { uid: named.uid, gid: named.gid }
  } satisfies PostgresUser
})

const parseAccounts = (passwd: string) =>
  passwd.split("\n").flatMap((line) => {
    const [name, , uid, gid] = line.split(":")
    return name && /^\d+$/.test(uid ?? "") && /^\d+$/.test(gid ?? "")
      ? [{ name, uid: Number(uid), gid: Number(gid) }]
      : []
  })

/** The owner of existing data: Postgres must run as this user. */
export const ownerOf = Effect.fnUntraced(function* (data: string, user: PostgresUser) {
  const { uid, gid } = yield* attempt(`Looking at ${data}`, async () => statSync(data))
  if (user.drops ? uid === 0 : uid !== user.owner.uid) {
    const reason = user.drops
      ? "it belongs to root, and Postgres refuses to run as root: change its owner to the user that runs Postgres"
      : `it belongs to uid ${uid}: run as that user or as root`
    return yield* new DataDirectoryUnusable({ directory: data, reason })
  }
  return { uid, gid } satisfies Identity
})
