/** The driver of computes: programs, accounts and the control group, or the servers of the operator. */
import { findMachine, whyUndividable } from "@narthex/local-postgres"
import { Database, whyUnusable } from "@narthex/postgres"
import { Effect, Redacted, References } from "effect"
import { checkAccount, sharesAccount } from "../computes.ts"
import { checkKubernetes } from "../kubernetes.ts"
import type { Settings } from "../settings/Settings.ts"
import { type Examination, type Finding, fine, warning, wrong } from "./Finding.ts"

const programs = ({ data_dir, postgres_bin }: Settings): Effect.Effect<Finding> =>
  findMachine({ dataDir: data_dir, binaries: postgres_bin ?? undefined }).pipe(
    Effect.match({
      onFailure: ({ message }) => wrong("driver", `${message} Install Postgres, or correct NARTHEX_POSTGRES_BIN.`),
      onSuccess: ({ binaries }) => fine("driver", `Postgres ${binaries.major} of ${binaries.directory}.`)
    })
  )

const accounts = (settings: Settings): Effect.Effect<Finding> =>
  checkAccount(settings).pipe(
    Effect.provideService(References.MinimumLogLevel, "None"),
    Effect.match({
      onFailure: ({ message }) => wrong("accounts", message),
      onSuccess: () =>
        sharesAccount(settings)
          ? warning(
              "accounts",
              "All databases share the account of the platform. Start it as root to give each its own."
            )
          : fine("accounts", "Each database has an account of its own.")
    })
  )

const group = (directory: string | null): Finding => {
  if (directory === null) return fine("control group", "None is set: computes have a lower priority.")
  const why = whyUndividable(directory)
  return why === undefined
    ? fine("control group", `${directory} can be divided.`)
    : wrong(
        "control group",
        `${directory} of NARTHEX_CPU_GROUP: ${why}. Name the group of the unit, with Delegate=yes.`
      )
}

const server = ({ address, admin_url }: Settings["static_computes"][number]): Effect.Effect<Finding> => {
  if (admin_url === null) return Effect.succeed(fine("driver", `${address} has roles of its own.`))
  const database = Database.layer({
    url: admin_url,
    maxConnections: 1,
    applicationName: "narthex-doctor",
    listenUrl: "off"
  })
  return Database.use(({ query }) => query("doctor", "select 1")).pipe(
    Effect.provide(database),
    Effect.match({
      onFailure: (error) =>
        wrong("driver", whyUnusable(Redacted.value(admin_url), `NARTHEX_STATIC_COMPUTES, ${address}`)(error).sentence),
      onSuccess: () => fine("driver", `${address} answers.`)
    })
  )
}

export const examineComputes = (settings: Settings): Examination => {
  switch (settings.compute) {
    case "local":
      return Effect.map(Effect.all([programs(settings), accounts(settings)]), (found) => [
        ...found,
        group(settings.cpu_group)
      ])
    case "static":
      return Effect.forEach(settings.static_computes, server)
    case "kubernetes":
      return settings.kubernetes === null
        ? Effect.succeed([fine("driver", "This process runs no computes: NARTHEX_KUBERNETES is not set.")])
        : checkKubernetes(settings.kubernetes).pipe(
            Effect.match({
              onFailure: ({ message }) => [wrong("driver", message)],
              onSuccess: () => [fine("driver", "The Kubernetes cluster has what the driver needs.")]
            })
          )
    case "memory":
      return Effect.succeed([fine("driver", "Computes are in memory.")])
  }
}
