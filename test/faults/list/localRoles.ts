// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** Minted roles of local computes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const revocation = ["packages/local-postgres/test/Revocation.test.ts"]
const minted = ["packages/local-postgres/test/MintedRoles.test.ts"]

export const localRoles: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/RoleSeal.ts",
    tests: ["packages/local-postgres/test/RoleSeal.test.ts"],
    faults: [
      {
        id: "seal-unexamined",
        find: "!differs(found, roles)",
        put: "found.settled",
        why: "A role that changed its password before the suspend does not keep it."
      },
      {
        id: "seal-unsettled",
        find: "differs(found, roles)",
        put: "differs({ ...found, settled: true }, roles)",
        why: "A grant that a session made before the suspend is revoked by the next start."
      },
      {
        id: "seal-open-transaction",
        find: "&& found.oldest === found.next",
        put: "",
        why: "A transaction that is open during the examination may still change roles."
      },
      {
        id: "seal-later-change",
        find: "if (nextIdOf(control) !== next) return",
        put: "",
        why: "A change between the examination and the end of the server leaves no seal."
      },
      {
        id: "seal-crash",
        find: "control.readUInt32LE(16) === shutDown",
        put: "control.length > 0",
        why: "After a crash pg_control does not have the last transaction id."
      },
      {
        id: "seal-other-data",
        find: "    .update(control)\n",
        put: "",
        why: "The seal of an earlier stop says nothing about later data."
      },
      {
        id: "seal-other-roles",
        find: "roles.map(wantedState).toSorted()",
        put: "0",
        why: "A start with other roles than those of the seal applies them."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/LocalComputeDriver.ts",
    tests: ["packages/local-postgres/test/RoleSeal.test.ts"],
    faults: [
      {
        id: "seal-believed-always",
        find: "if (matches && !runs) applied",
        put: "if (!runs) applied",
        why: "Only a sealed cluster needs no roles applied."
      },
      {
        id: "seal-never",
        find: "if (Option.isSome(next)) yield* seal(cluster, last.roles, next.value)",
        put: "",
        why: "A start with the roles of the suspend applies nothing."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/SocketLinks.ts",
    tests: ["packages/local-postgres/test/SocketLinks.test.ts"],
    faults: [
      {
        id: "links-removed-meanwhile",
        find: 'cause.code === "ENOENT") return undefined',
        put: 'cause.code === "EEXIST") return undefined',
        why: "A stop of one branch never fails the start of another."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/enforceRoles.ts",
    tests: revocation,
    faults: [
      {
        id: "roles-restart",
        find: "if (!first.failure.revokes) return",
        put: "if (first.failure.revokes) return",
        why: "A revocation that is not done in time restarts the server."
      },
      {
        id: "roles-same-addresses",
        find: "links.put(name, cluster)",
        put: "links.remove([{ name }])",
        why: "After a restart the computes have the addresses that they had."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/applyRoles.ts",
    tests: minted,
    faults: [
      {
        id: "roles-blockers",
        find: "pid = ANY (pg_blocking_pids(${pid}::int))",
        put: "false AND pid = ANY (pg_blocking_pids(${pid}::int))",
        why: "A session that holds up a revocation ends."
      },
      {
        id: "roles-former-sessions",
        find: "[...changes.retired, ...former]",
        put: "changes.retired",
        why: "The sessions of roles that an earlier call retired end."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/MintedRoles.ts",
    tests: minted,
    faults: [
      {
        id: "roles-kept-password",
        find: "states.has(role.role) && states.get(role.role) !== stateOf(role)",
        put: "states.has(role.role) && states.get(role.role) === undefined",
        why: "A password that a role set for itself is replaced."
      },
      {
        id: "roles-reserved",
        find: "/^(pg_|narthex)/.test(role) || ",
        put: "",
        why: "A role of the platform cannot be minted."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/BranchFences.ts",
    tests: ["packages/local-postgres/test/BranchFences.test.ts"],
    faults: [
      {
        id: "fences-lower",
        find: "fence !== null && fence < (seen.get(branch) ?? fence)",
        put: "fence !== null && fence < 0",
        why: "A call with a lower fence is refused."
      },
      {
        id: "fences-interrupt",
        find: "fiber.interruptUnsafe()",
        put: "fiber.pollUnsafe()",
        why: "A later call interrupts an earlier one."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/copyRoom.ts",
    tests: ["packages/local-postgres/test/BranchFences.test.ts", "packages/local-postgres/test/Failures.test.ts"],
    faults: [
      {
        id: "copies-places",
        find: "if (count(parent) >= most) {",
        put: "if (count(parent) > most) {",
        why: "The copies of one running parent are limited."
      },
      {
        id: "copies-disk",
        find: "const left = free - bytes - reserve",
        put: "const left = free - bytes",
        why: "A copy leaves the reserve of the disk free."
      },
      {
        id: "copies-share",
        find: "|| taken <= disk.share * left",
        put: "|| true",
        why: "Copies of one person leave some of the disk for others."
      },
      {
        id: "copies-share-unknown",
        find: "Effect.mapError(() => new NoRoomNow({ reason }))",
        put: "Effect.orElseSucceed(() => 0)",
        why: "A person whose disk is not known gets no more of it meanwhile."
      },
      {
        id: "copies-under-way",
        find: "mayTake(taken, left - underWay, disk)",
        put: "true",
        why: "Copies that begin together do not count the same free bytes."
      }
    ]
  }
]
