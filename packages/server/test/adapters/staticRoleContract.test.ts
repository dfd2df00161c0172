import * as PgConnection from "@effect/sql-pg/PgConnection"
import { computeRolesContract, RoleServer } from "@narthex/compute-roles/testing"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId, runContract } from "@narthex/core/testing"
import { Effect, Layer, Redacted } from "effect"
import * as vitest from "vitest"
import { driver, machines, Servers } from "./support/staticServers.ts"

const server = Layer.effect(
  RoleServer,
  Effect.gen(function* () {
    const { applyRoles, needsRoles, start } = yield* ComputeDriver
    const [admin = Redacted.make("")] = yield* Servers
    const branch = aBranchId()
    yield* start({ branch_id: branch, endpoint_id: anEndpointId(), generation: 1, roles: [] })
    return RoleServer.of({
      apply: (roles) => applyRoles(branch, roles),
      needs: (roles) => needsRoles(branch, roles),
      open: (role, password) => {
        const url = new URL(Redacted.value(admin))
        url.searchParams.set("user", role)
        url.searchParams.set("password", password)
        const connection = PgConnection.make({ url: Redacted.make(url.toString()) })
        return Effect.map(
          connection,
          ({ query }) =>
            (text) =>
              Effect.map(query(text), ({ rows }) => rows)
        )
      }
    })
  })
)

runContract(
  vitest,
  computeRolesContract,
  "a static server",
  server.pipe(Layer.provide(driver), Layer.provide(machines(1)))
)
