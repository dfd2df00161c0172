/** Attributes of sessions as libpq asks for them: docs/design/proxy.md P34. */
import { execFile } from "node:child_process"
import { promisify } from "node:util"
import { assert, describe, layer } from "@effect/vitest"
import { Effect } from "effect"
import { BranchCluster, runningBranch } from "./runningBranch.ts"
import { kinds } from "./support.ts"

const run = promisify(execFile)

/** The value of `transaction_read_only` in a session that psql accepts; `refused`: it has other attributes. */
const accepted = (role: string, target_session_attrs: string) =>
  Effect.flatMap(BranchCluster, (cluster) =>
    Effect.promise(() =>
      run("psql", ["--no-psqlrc", "--tuples-only", "--no-align", "--command", "show transaction_read_only"], {
        env: {
          PATH: process.env["PATH"],
          PGHOST: cluster.run,
          PGDATABASE: "postgres",
          PGUSER: role,
          PGPASSWORD: role,
          PGTARGETSESSIONATTRS: target_session_attrs
        }
      }).then(
        ({ stdout }) => stdout.trim(),
        ({ stderr }: { readonly stderr: string }) => (/session is (not )?read-only/.test(stderr) ? "refused" : stderr)
      )
    )
  )

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe(`sessions on the ${choice} Postgres`, { tags: [tag, "psql"] }, () =>
    layer(runningBranch(kind), { excludeTestServices: true })((it) => {
      for (const [role, attributes, outcome] of [
        ["reader", "read-only", "on"],
        ["reader", "read-write", "refused"],
        ["reader", "any", "on"],
        ["writer", "read-only", "refused"],
        ["writer", "read-write", "off"],
        ["writer", "any", "off"]
      ] as const)
        it.effect(`libpq with target_session_attrs=${attributes} as a ${role}: ${outcome}`, () =>
          Effect.gen(function* () {
            assert.strictEqual(yield* accepted(role, attributes), outcome)
          })
        )
    })
  )
}
