/** The console's pages of people and organizations, and the history that activity reads. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const people: ReadonlyArray<FaultsOfFile> = [
  {
    area: "console",
    file: "packages/console/src/routes/memberRoutes.tsx",
    tests: ["packages/console/test/members.test.ts"],
    faults: [
      {
        id: "console-self-demotion-unasked",
        find: 'if (isSelf && form.text("confirm") !== "true")',
        put: 'if (isSelf && form.text("confirm") === "never")',
        why: "A change of the own role needs a check mark (W36)."
      },
      {
        id: "console-credentials-not-handed-over",
        find: 'const query = form.text("hand_over") === "true" ?',
        put: 'const query = form.text("hand_over") === "on" ?',
        why: "The removal hands credentials over when the box is checked (W36)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/routes/organizationSettingsRoutes.tsx",
    tests: ["packages/console/test/teams.test.ts"],
    faults: [
      {
        id: "console-deletes-without-name",
        find: 'if (form.text("typed") !== visit.frame.organization.name.trim())',
        put: 'if (form.text("typed") === "")',
        why: "The deletion of an organization compares the typed name on the server (W38)."
      },
      {
        id: "console-new-organization-twice",
        find: "yield* callOnce(form)(calling((api) => api.orgs.create({ payload: body })))",
        put: "yield* calling((api) => api.orgs.create({ payload: body }))",
        why: "A form that is sent twice makes one organization."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/routes/accountRoutes.tsx",
    tests: ["packages/console/test/account.test.ts"],
    faults: [
      {
        id: "console-ends-own-session",
        find: "sessions.filter(({ current }) => !current),",
        put: "sessions.filter(({ current }) => !current || current),",
        why: "Ending all other sessions keeps the current one (W39)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/views/activityRows.ts",
    tests: ["packages/console/test/activity.test.ts"],
    faults: [
      {
        id: "console-unfinished-on-old-pages",
        find: "if (work !== null && !newest && unfinished.has(work.status)) continue",
        put: "if (work !== null && newest && unfinished.has(work.status)) continue",
        why: "Older pages leave out what ended on a newer one (W41)."
      }
    ]
  },
  {
    area: "console",
    file: "packages/console/src/views/roles.ts",
    tests: ["packages/console/test/roles.test.ts"],
    faults: [
      {
        id: "console-offers-owner",
        find: 'it !== "owner" || owners',
        put: "true",
        why: "A role above the own one is not offered (W34)."
      }
    ]
  },
  {
    area: "events",
    file: "packages/core/src/events/EventLog.ts",
    tests: ["packages/core/test/events/EventLog.test.ts"],
    faults: [
      {
        id: "newest-history-from-the-start",
        find: "Chunk.reverse(Chunk.takeRight(found, count))",
        put: "Chunk.reverse(Chunk.take(found, count))",
        why: "A history that is read newest first begins with the newest events."
      }
    ]
  }
]
