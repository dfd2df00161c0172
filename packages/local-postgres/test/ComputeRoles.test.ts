import { describe } from "@effect/vitest"
import { computeRolesContract, RoleServer } from "@narthex/compute-roles/testing"
import { ComputeDriver } from "@narthex/core"
import { runContract } from "@narthex/core/testing"
import { Effect, Layer } from "effect"
import * as vitest from "vitest"
import { Address, branch, runningBranch } from "./runningBranch.ts"
import { kinds, session } from "./support.ts"

const server = Layer.effect(
  RoleServer,
  Effect.gen(function* () {
    const { applyRoles, needsRoles } = yield* ComputeDriver
    const address = yield* Address
    return RoleServer.of({
      apply: (roles) => applyRoles(branch, roles),
      needs: (roles) => needsRoles(branch, roles),
      open: (role, password) =>
        Effect.map(session(address, role, password), (sql) => (text) => sql.unsafe<object>(text))
    })
  })
)

for (const kind of [0, 1] as const) {
  const { choice, tag } = kinds[kind]
  describe("roles of local computes", { tags: [tag] }, () =>
    runContract(vitest, computeRolesContract, `${choice} Postgres`, Layer.provide(server, runningBranch(kind)))
  )
}
