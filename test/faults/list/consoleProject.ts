/** The console's pages inside a project. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const area = "console-project"
const branches = ["packages/console/test/project/branches.test.ts"]
const allowlist = ["packages/console/test/project/allowlist.test.ts"]
const endpoints = ["packages/console/test/project/endpoints.test.ts"]
const pure = ["packages/console/test/project/connection.test.ts"]

export const consoleProject: ReadonlyArray<FaultsOfFile> = [
  {
    area,
    file: "packages/console/src/routes/branchRoutes.tsx",
    tests: branches,
    faults: [
      {
        id: "console-branch-typed",
        find: 'if (form.text("typed") !== branch.name)',
        put: 'if (form.text("typed") === "")',
        why: "A branch is deleted only after its own name was typed."
      },
      {
        id: "console-branch-differs",
        find: "...(draft.protected === branch.protected ? {} : { protected: draft.protected }),",
        put: "protected: draft.protected,",
        why: "Only what the person changed is sent, because protection needs more rights."
      }
    ]
  },
  {
    area,
    file: "packages/console/src/routes/projectSettingsRoutes.tsx",
    tests: ["packages/console/test/project/settings.test.ts"],
    faults: [
      {
        id: "console-project-typed",
        find: 'if (form.text("typed") !== visit.project.name)',
        put: 'if (form.text("typed") === "")',
        why: "A project is deleted only after its own name was typed."
      }
    ]
  },
  {
    area,
    file: "packages/console/src/routes/allowlistRoutes.tsx",
    tests: allowlist,
    faults: [
      {
        id: "console-lockout",
        find: "return !restricted && own !== null && !contains(parsed.success, own)",
        put: "return restricted && own !== null && !contains(parsed.success, own)",
        why: "The first rule asks before it locks its author out, and later rules do not ask."
      }
    ]
  },
  {
    area,
    file: "packages/console/src/requests/inProject.ts",
    tests: endpoints,
    faults: [
      {
        id: "console-return-to",
        find: "return path === visit.here || below ? path : otherwise",
        put: 'return path === "" ? otherwise : path',
        why: "A form returns only to a page of its project."
      }
    ]
  },
  {
    area,
    file: "packages/console/src/views/project/Operations.tsx",
    tests: endpoints,
    faults: [
      {
        id: "console-operations-live",
        find: "page={at(null)} regions",
        put: "page={here} regions",
        why: "Live updates of a filtered page keep the filter."
      },
      {
        id: "console-cancel",
        find: '(status === "scheduling" || status === "running") && !kept.has(action)',
        put: 'status === "scheduling" || status === "running"',
        why: "Promises of the platform have no button to cancel them."
      }
    ]
  },
  {
    area,
    file: "packages/console/src/views/project/connection.ts",
    tests: pure,
    faults: [
      {
        id: "console-shell-quotes",
        find: 'text.replaceAll("\'",',
        put: 'text.replaceAll("never",',
        why: "A shell reads nothing in the line for psql."
      },
      {
        id: "console-masked-by-host",
        find: "return read ?? {",
        put: "return {",
        why: "Before a password exists, the string is shown that will work."
      }
    ]
  }
]
