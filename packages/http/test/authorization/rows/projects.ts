/** Rows 17 to 20 of the matrix: projects and what is read of them. */
import { name, network, on, type Row } from "./cells.ts"

export const projects: ReadonlyArray<Row> = [
  {
    row: "17",
    says: "read a project (overview too), its allowlist (check, refusals, summary too), events, history",
    cells: "401 401 a n 2 2 2 2 2 2/i i 2 2",
    calls: [
      { call: "projects.get", kind: "project" },
      { call: "projects.overview", kind: "project", query: "?include=branches,endpoints,operations,ip_allow" },
      { call: "ipAllow.list", kind: "project" },
      { call: "ipAllow.check", kind: "project", query: "?address=192.0.2.1" },
      { call: "ipAllow.refusals", kind: "project" },
      { call: "ipAllow.summary", kind: "project" },
      { call: "events.projectStream", kind: "project" },
      { call: "events.projectHistory", kind: "project" }
    ]
  },
  {
    row: "17b",
    says: "list operations, read one",
    cells: "401 401 a n 2 2 2 2 2 2/i 2/i 2 2",
    calls: [
      {
        call: "operations.list",
        kind: "project",
        except: { KB: "f/i" },
        filtered: ["operations", "branch_id=branch_id"]
      },
      { call: "operations.get", kind: "operation" }
    ]
  },
  {
    row: "17c",
    says: "cancel an operation",
    cells: "401 401 a n 2 2 2 r 2 2/i 2/i c c",
    calls: [{ call: "operations.cancel", kind: "operation" }]
  },
  {
    row: "18",
    says: "change a project, its allowlist",
    cells: "401 401 a n 2 2 2 r 2 2/i i c c",
    calls: [
      { call: "projects.rename", kind: "project", body: name },
      { call: "ipAllow.add", kind: "project", body: () => ({ cidr: network() }), success: 201 },
      { call: "ipAllow.remove", kind: "project", success: 204 },
      { call: "ipAllow.removeSplit", kind: "project", success: 204 },
      { call: "ipAllow.reset", kind: "project", success: 204 }
    ]
  },
  {
    row: "19",
    says: "delete a project",
    cells: "401 401 a n 2 2 r r 2 2/i i c c",
    calls: [{ call: "projects.delete", kind: "project", success: 202 }]
  },
  {
    row: "20",
    says: "read a branch, its endpoints; list them",
    cells: "401 401 a n 2 2 2 2 2 2/i 2/i 2 2",
    calls: [
      { call: "branches.list", kind: "project", except: { KB: "f/i" }, filtered: ["branches", "id=branch_id"] },
      {
        call: "endpoints.list",
        kind: "project",
        except: { KB: "f/i" },
        filtered: ["endpoints", "branch_id=branch_id"]
      },
      ...on(["child", "main", "agent", "protected"], (it) => ({ call: "branches.get", kind: "branch", on: it })),
      ...on(["child", "main"], (it) => ({ call: "endpoints.get", kind: "endpoint", on: it }))
    ]
  }
]
