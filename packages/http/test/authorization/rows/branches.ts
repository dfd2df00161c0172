/** Rows 21 to 25 of the matrix: what is done to branches and endpoints. */
import { name, on, type Row } from "./cells.ts"

export const branches: ReadonlyArray<Row> = [
  {
    row: "21",
    says: "create a child branch, POST …/sandboxes; create an endpoint on a branch that is not main",
    cells: "401 401 a n 2 2 2 r 2 2/i i c 2",
    calls: [
      { call: "branches.create", kind: "project", body: name, success: 201 },
      { call: "sandboxes.create", kind: "project", success: 201 },
      {
        call: "endpoints.create",
        kind: "project",
        body: ({ branch_id }) => ({ branch_id, type: "read_only" }),
        success: 201
      }
    ]
  },
  {
    row: "21b",
    says: "not main: start, suspend its endpoints",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c 2",
    calls: on(["child", "agent"], (it) => [
      { call: "endpoints.start", kind: "endpoint", on: it },
      { call: "endpoints.suspend", kind: "endpoint", on: it }
    ])
  },
  {
    row: "21c",
    says: "not main: reset, rename, set its TTL; change an endpoint (made by an agent key: 200, else c)",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c c*",
    calls: on(["child", "agent"], (it) => {
      const except = it === "agent" ? { KA: "2" } : {}
      return [
        { call: "branches.reset", kind: "branch", on: it, except },
        { call: "branches.change", as: "rename", kind: "branch", on: it, body: name, except },
        { call: "branches.change", as: "TTL", kind: "branch", on: it, body: () => ({ ttl_seconds: 60 }), except },
        {
          call: "endpoints.change",
          kind: "endpoint",
          on: it,
          body: () => ({ suspend_timeout_seconds: 60 }),
          except
        }
      ]
    })
  },
  {
    row: "21d",
    says: "not main: delete it, or an endpoint of it (made by an agent key: 202, else c)",
    cells: "401 401 a n 2 2 2 r 2 2/i i c c*",
    calls: on(["child", "agent"], (it) => {
      const except = it === "agent" ? { KA: "2" } : {}
      return [
        { call: "branches.delete", kind: "branch", on: it, success: 202, except },
        { call: "endpoints.delete", kind: "endpoint", on: it, success: 202, except }
      ]
    })
  },
  {
    row: "22",
    says: "main: rename; start, suspend, change its endpoints",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c c*",
    calls: on(["main", "protected"], (it) => [
      { call: "branches.change", as: "rename", kind: "branch", on: it, body: name },
      { call: "endpoints.start", kind: "endpoint", on: it, except: { KA: "2" } },
      { call: "endpoints.suspend", kind: "endpoint", on: it },
      { call: "endpoints.change", kind: "endpoint", on: it, body: () => ({ suspend_timeout_seconds: 60 }) }
    ])
  },
  {
    row: "22b",
    says: "set-default, protect, unprotect; create or delete an endpoint of main",
    cells: "401 401 a n 2 2 2 r 2 2/i i c c",
    calls: [
      ...on(["child", "agent", "main", "protected"], (it) => ({ call: "branches.setDefault", kind: "branch", on: it })),
      ...on(["child", "agent"], (it) => ({
        call: "branches.change",
        as: "protect",
        kind: "branch",
        on: it,
        body: () => ({ protected: true })
      })),
      {
        call: "branches.change",
        as: "unprotect",
        kind: "branch",
        on: "protected",
        body: () => ({ protected: false })
      },
      {
        call: "branches.create",
        as: "a protected one",
        kind: "project",
        body: () => ({ ...name(), protected: true }),
        success: 201
      },
      ...on(["main", "protected"], (it) => ({
        call: "endpoints.create",
        kind: "project",
        on: it,
        body: ({ branch_id }) => ({ branch_id, type: "read_only" }),
        success: 201,
        except: { KA: "c*" }
      })),
      ...on(["main", "protected"], (it) => ({
        call: "endpoints.delete",
        kind: "endpoint",
        on: it,
        success: 202,
        except: { KA: "c*" }
      }))
    ]
  },
  {
    row: "22c",
    says: "delete or reset main",
    cells: "401 401 a n 409 409 409 r 409 409/i i c c*",
    calls: on(["main", "protected"], (it) => [
      { call: "branches.delete", kind: "branch", on: it },
      { call: "branches.reset", kind: "branch", on: it }
    ])
  },
  {
    row: "23",
    says: "mint read-only credential",
    cells: "401 401 a n 2 2 2 2 2 2/i 2/i c 2",
    calls: on(["child", "agent", "main", "protected"], (it) => ({
      call: "branches.mint",
      as: "read-only",
      kind: "branch",
      on: it,
      body: () => ({ access: "read_only" }),
      success: 201
    }))
  },
  {
    row: "24",
    says: "mint read-write credential, not main",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c 2",
    calls: on(["child", "agent"], (it) => ({
      call: "branches.mint",
      as: "read-write",
      kind: "branch",
      on: it,
      body: () => ({ access: "read_write" }),
      success: 201
    }))
  },
  {
    row: "25",
    says: "mint read-write credential, main",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c c*",
    calls: on(["main", "protected"], (it) => ({
      call: "branches.mint",
      as: "read-write",
      kind: "branch",
      on: it,
      body: () => ({ access: "read_write" }),
      success: 201
    }))
  },
  {
    row: "25b",
    says: "list the database credentials of a branch",
    cells: "401 401 a n 2 2 f f 2 2/i 2/i 2 f",
    calls: on(["child", "main"], (it) => ({
      call: "branches.credentials",
      kind: "branch",
      on: it,
      filtered: ["credentials", "minted"]
    }))
  },
  {
    row: "25c",
    says: "revoke a database credential (another person's: as owner or admin, else 404)",
    cells: "401 401 a n 2 2 2 2 2 2/i 2/i c 2",
    calls: on(["child", "main"], (it) => [
      { call: "branches.revokeCredential", as: "own", kind: "credential", on: it, success: 204 },
      {
        call: "branches.revokeCredential",
        as: "another's",
        kind: "others_credential",
        on: it,
        success: 204,
        except: { M: "404", V: "404", KA: "404" }
      }
    ])
  }
]
