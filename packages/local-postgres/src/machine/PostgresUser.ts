/**
 * Whom Postgres runs as, and who we are on our end of its socket.
 *
 * Postgres refuses root. When we are root it runs as the system's `postgres` user, else as a fixed uid that needs no
 * entry in /etc/passwd.
 *
 * Pitfall: running `initdb` as a user without an entry. It looks its own name up, whatever `--username` says; the
 * server does not. So initdb runs as any ordinary user, and what it made changes owner.
 *
 * Existing data keeps its owner: see `ownerOf`.
 */
import { readFile, stat } from "node:fs/promises"
import { userInfo } from "node:os"
import { Effect } from "effect"
import { attempt, DataDirectoryUnusable, LocalPostgresError } from "./LocalPostgresError.ts"

export interface Identity {
  readonly uid: number
  readonly gid: number
}

export interface PostgresUser {
  /** The name that Postgres sees when we connect; `pg_ident.conf` maps it to the superuser role. */
  readonly supervisor: string
  /** Are we root, so that files must change owner and children their uid? */
  readonly drops: boolean
  /** Whom new clusters belong to. */
  readonly owner: Identity
  /** Whom `initdb` runs as. */
  readonly initdb: Identity
}

/** Used where the system has no `postgres` user. */
const unnamed: Identity = { uid: 65532, gid: 65532 }

/** `chosen` only matters to root: anybody else can only be himself. */
export const findPostgresUser = Effect.fn("findPostgresUser")(function* (chosen?: Identity) {
  const self = yield* Effect.try({
    try: () => userInfo(),
    catch: () =>
      new LocalPostgresError({
        operation: "Finding the user to run Postgres as",
        reason:
          "this process's uid has no name, and Postgres insists on one: add it to /etc/passwd or run as another user"
      })
  })
  const itself = { uid: self.uid, gid: self.gid }
  if (self.uid !== 0) {
    return { supervisor: self.username, drops: false, owner: itself, initdb: itself } satisfies PostgresUser
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
      reason: "Postgres refuses to run as root, and /etc/passwd names nobody else: add a user postgres"
    })
  }
  return {
    supervisor: self.username,
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

/** Whom existing data belongs to: Postgres runs on it as that user and no other. */
export const ownerOf = Effect.fnUntraced(function* (data: string, user: PostgresUser) {
  const { uid, gid } = yield* attempt(`Looking at ${data}`, () => stat(data))
  if (user.drops ? uid === 0 : uid !== user.owner.uid) {
    const reason = user.drops
      ? "it belongs to root, and Postgres refuses root: give it to the user that Postgres runs as"
      : `it belongs to uid ${uid}: run as that user or as root`
    return yield* new DataDirectoryUnusable({ directory: data, reason })
  }
  return { uid, gid } satisfies Identity
})
