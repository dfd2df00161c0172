import { describe } from "@effect/vitest"
import { computeRolesContract, RoleServer } from "@narthex/compute-roles/testing"
import { ComputeDriver } from "@narthex/core"
import { aBranchId, anEndpointId, runContract } from "@narthex/core/testing"
import { Effect, Layer, Option } from "effect"
import * as vitest from "vitest"
import { doubledComputes, sessionAt } from "./support/doubledComputes.ts"

const server = Layer.effect(
  RoleServer,
  Effect.gen(function* () {
    const { applyRoles, createBranch, needsRoles, start } = yield* ComputeDriver
    const branch = aBranchId()
    yield* createBranch(branch, Option.none())
    const compute = yield* start({ branch_id: branch, endpoint_id: anEndpointId(), generation: 1, roles: [] })
    return RoleServer.of({
      apply: (roles) => applyRoles(branch, roles),
      needs: (roles) => needsRoles(branch, roles),
      open: (role, password) =>
        Effect.map(sessionAt(compute, role, password), (sql) => (text) => sql.unsafe<object>(text))
    })
  })
)

describe("roles of computes on Kubernetes", { tags: ["openssl", "pod-addresses"] }, () =>
  runContract(
    vitest,
    computeRolesContract,
    "a double of Kubernetes",
    Layer.provide(server, doubledComputes({ limits: { revoked_within: 40, compared_within: 120 } }))
  )
)
