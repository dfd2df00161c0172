/**
 * `narthex psql`: opens psql on a branch, with a credential of its own that is revoked at the end.
 *
 * The password is in psql's environment, never in its arguments, which every user of the machine can read. A credential
 * that cannot be revoked, for example after `kill -9`, expires after eight hours.
 */
import { Effect, Option, Redacted } from "effect"
import { Argument, Command, Flag } from "effect/cli"
import { findProgram, runInForeground, withoutConnection } from "../connecting/foreground.ts"
import { branchPath, type Minted, mint } from "../connecting/mint.ts"
import { type AuthenticatedApi, Connection } from "../connection/Connection.ts"
import { Environment } from "../environment/Environment.ts"
import { Exited, Stopped } from "../failures/LocalFailure.ts"
import { accessFlag, branchFlag, pastedArgument, projectFlag, ttlFlag } from "../input/flags.ts"
import { reporting } from "../output/reporting.ts"

/** Seconds. Longer than a working session; a credential outlives it only if narthex was killed. */
const lifetime = 28_800

interface Given {
  readonly project: Option.Option<string>
  readonly branch: Option.Option<string>
  readonly access: "read_write" | "read_only"
  readonly ttl: Option.Option<number>
}

/** psql with the connection in its arguments, and the password in its environment. */
const invocation = (file: string, { connection_uri, password }: Minted, args: ReadonlyArray<string>) => {
  const address = new URL(Redacted.value(connection_uri))
  address.password = ""
  return { file, args: [address.href, ...args], variables: { PGPASSWORD: Redacted.value(password) } }
}

const connect = Effect.fn("psql")(function* ({ access, ttl, ...wanted }: Given, args: ReadonlyArray<string>) {
  const { inherited, platform } = yield* Environment
  const file = findProgram("psql", inherited["PATH"] ?? inherited["Path"], platform)
  if (file === undefined)
    return yield* new Stopped({
      message: "psql is not installed: no folder of PATH has it.",
      hint: "install it (Debian: apt install postgresql-client; macOS: brew install libpq), or use another client with narthex connection-string"
    })
  const api = yield* (yield* Connection).authenticated
  const params = yield* branchPath(api, wanted)
  const asked = mint(api, params, { access, ttl_seconds: Option.getOrElse(ttl, () => lifetime) })
  // The branch of an agent key may expire before: then the server chooses the lifetime.
  const minted = yield* Option.isSome(ttl)
    ? asked
    : Effect.catchTag(asked, "InvalidRequestProblem", () => mint(api, params, { access }))
  const { variables, ...started } = invocation(file, minted, args)
  return yield* Effect.ensuring(
    runInForeground(started.file, started.args, { ...withoutConnection(inherited), ...variables }),
    revoke(api, { ...params, role: minted.credential.role })
  )
})

type RolePath = Parameters<AuthenticatedApi["client"]["api"]["branches"]["revokeCredential"]>[0]["params"]

/** Best effort: the credential expires in any case, and the exit code is psql's. */
const revoke = ({ client }: AuthenticatedApi, params: RolePath) =>
  client.api.branches.revokeCredential({ params }).pipe(
    Effect.interruptible,
    Effect.timeoutOption("5 seconds"),
    Effect.catch((failure) => Effect.logDebug(failure._tag)),
    Effect.asVoid
  )

const operands = Argument.variadic(
  pastedArgument("project").pipe(Argument.withDescription("The name or id of the project; after --, options of psql"))
)

export const psql = Command.make(
  "psql",
  {
    operands,
    project: projectFlag,
    branch: branchFlag,
    command: Flag.String("command").pipe(
      Flag.withAlias("c"),
      Flag.withMetavar("sql"),
      Flag.withDescription("Run this and exit; can be repeated"),
      Flag.atLeast(0),
      Flag.withDefault<ReadonlyArray<string>>([])
    ),
    access: accessFlag,
    ttl: ttlFlag("Lifetime of the credential: 30m, 8h. Default: until psql ends, 8h at most")
  },
  ({ access, branch, command, operands, project, ttl }) =>
    Effect.gen(function* () {
      const [first, ...others] = operands
      const named = first !== undefined && !first.startsWith("-")
      const wanted = { project: named ? Option.some(first) : project, branch, access, ttl }
      const options = named ? others : operands
      const code = yield* reporting(connect(wanted, [...command.flatMap((sql) => ["-c", sql]), ...options]))
      if (code !== 0) return yield* new Exited({ code })
    })
).pipe(
  Command.withDescription("Open psql on a branch, with a credential that ends with it"),
  Command.withExamples([
    { command: "narthex psql shop" },
    { command: "narthex psql shop --branch preview -c 'select 1'" },
    { command: "narthex psql shop -- --csv -f report.sql", description: "Options of psql follow --" }
  ])
)
