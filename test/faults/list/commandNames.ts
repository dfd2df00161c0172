/** What the command line's names mean, what it waits for, and how it runs psql. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const commandNames: ReadonlyArray<FaultsOfFile> = [
  {
    area: "command-line",
    file: "packages/cli/src/names/resolve.ts",
    tests: ["packages/cli/test/names.test.ts"],
    faults: [
      {
        id: "names-bound",
        find: "if (!complete)\n",
        put: 'if (!complete && picked._tag !== "Found")\n',
        why: "A name that a bounded search has found may belong to another object, too."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/names/pick.ts",
    tests: ["packages/cli/test/pick.test.ts"],
    faults: [
      {
        id: "names-ambiguous",
        find: 'return others.length === 0 ? { _tag: "Found", found } : { _tag: "Ambiguous", candidates }',
        put: 'return { _tag: "Found", found }',
        why: "A name that several objects have is refused."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/names/ProjectFile.ts",
    tests: ["packages/cli/test/ProjectFile.test.ts"],
    faults: [
      {
        id: "project-file-folder",
        find: 'if (found === undefined || !found.isFile()) return { _tag: "Absent" }',
        put: 'if (found === undefined) return { _tag: "Absent" }',
        why: "The data directory .narthex is not the project file."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/following/followDeletion.ts",
    tests: ["packages/cli/test/projects.test.ts"],
    faults: [
      {
        id: "deletion-unfollowed",
        find: "  yield* Effect.timeoutOrElse(Deferred.await(open), { duration: bound, orElse: () => Effect.fail(notFollowed) })\n",
        put: "",
        why: "`project delete --wait` deletes nothing where the key may not follow the deletion."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/following/follow.ts",
    tests: ["packages/cli/test/follow.test.ts"],
    faults: [
      {
        id: "failed-operation-succeeds",
        find: "const failed = ended.find(({ status }) => !wanted.includes(status))",
        put: "const failed = ended.find(() => false)",
        why: "`--wait` fails when the operation fails."
      }
    ]
  },
  {
    area: "command-line",
    file: "packages/cli/src/commands/psql.ts",
    tests: ["packages/cli/test/psql.test.ts"],
    faults: [
      {
        id: "psql-password-in-arguments",
        find: '  address.password = ""\n',
        put: "",
        why: "The password is not in psql's arguments."
      },
      {
        id: "psql-unrevoked",
        find: "revoke(api, { ...params, role: minted.credential.role })",
        put: "Effect.void",
        why: "The credential of psql is revoked when psql ends."
      },
      {
        id: "psql-exit-code",
        find: "if (code !== 0) return yield* new Exited({ code })",
        put: "if (code !== 0) return yield* new Exited({ code: 1 })",
        why: "The exit code of psql is that of narthex."
      }
    ]
  }
]
