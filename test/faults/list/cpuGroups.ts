/** Faults of the CPU control groups of local computes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const controlGroups = [
  "packages/local-postgres/test/CpuGroups.test.ts",
  "packages/local-postgres/test/CpuGroupFiles.test.ts"
]

const ofPeople = ["packages/local-postgres/test/personGroups.test.ts"]

export const cpuGroups: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/cpuGroupFiles.ts",
    tests: controlGroups,
    faults: [
      {
        id: "cpu-group-delegation",
        find: "if (version === 2) writeFileSync",
        put: "if (version !== 2) writeFileSync",
        why: "Version 2 needs the controller for the groups within."
      },
      {
        id: "cpu-group-share",
        find: 'if (share === "idle") return',
        put: "return",
        tests: ["packages/local-postgres/test/busyServers.test.ts"],
        why: "A server that is busy no longer has its share again."
      },
      {
        id: "cpu-group-version-1",
        find: "Math.round((share * 1024) / 100)",
        put: "share",
        why: "Version 1 counts shares otherwise than version 2."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/serverGroups.ts",
    tests: controlGroups,
    faults: [
      {
        id: "cpu-group-stranger",
        find: "if (![...pidsIn(directory), ...pidsIn(platform)].includes(process.pid)) {",
        put: "if (false) {",
        why: "A control group of other processes is not divided."
      },
      {
        id: "cpu-group-controller",
        find: 'if (!existsSync(join(copies, "cpu.idle"))) throw',
        put: "if (false) throw",
        why: "A control group without the CPU's controller is refused with what is missing."
      },
      {
        id: "cpu-group-sweep",
        find: "if (removeGroup(group)) return",
        put: "",
        why: "Groups of servers that have ended do not stay."
      },
      {
        id: "cpu-group-foreign-sweep",
        find: 'basename(group).startsWith("narthex-")',
        put: "basename(group) !== group",
        why: "Groups that the platform has not made stay."
      },
      {
        id: "cpu-group-person-sweep",
        find: "if (!removeGroup(home)) enterPerson(groups, home)",
        put: "enterPerson(groups, home)",
        why: "Groups of people whose servers have ended do not stay."
      },
      {
        id: "cpu-group-person-kept",
        find: "if (home !== groups.directory) groups.homes.set(cluster, home)",
        put: "",
        why: "A server that runs stays in the group of its person when another process takes over."
      },
      {
        id: "cpu-group-person-left-yielding",
        find: "adopt(groups, directory, group)\n  divideAmongPeople(groups)",
        put: "adopt(groups, directory, group)",
        why: "A person who yielded to an earlier process does not yield until they take more again."
      },
      {
        id: "cpu-group-left-yielding",
        find: "groups.homes.set(cluster, home)\n  endBusy(groups, cluster)",
        put: "groups.homes.set(cluster, home)",
        why: "A process that takes over does not wait for servers that yielded to the one before."
      },
      {
        id: "cpu-group-of-person",
        find: "if (person !== null) groups.homes.set(cluster, groupOfPerson(groups, person))",
        put: "",
        tests: ofPeople,
        why: "The servers of a person have one share together."
      },
      {
        id: "cpu-group-person-yields",
        find: "busy.has(cluster) || people",
        put: "busy.has(cluster) || new Map<string, { share: string }>()",
        tests: ofPeople,
        why: "The command lines of the processes of a person who yields are not read."
      },
      {
        id: "cpu-group-left",
        find: "    groups.left.add(groups.of(cluster))\n",
        put: "",
        why: "The group of a server that was stopped is removed."
      },
      {
        id: "cpu-group-left-again",
        find: "  groups.left.delete(group)\n  removeLeft",
        put: "  removeLeft",
        why: "The group of a server that starts again stays."
      },
      {
        id: "cpu-group-left-kept",
        find: "if (removeGroup(group) || !existsSync(group)) groups.left.delete(group)",
        put: "if (removeGroup(group) || existsSync(group)) groups.left.delete(group)",
        why: "A group that the kernel does not let go is tried again."
      },
      {
        id: "cpu-group-starting",
        find: "groups.starting.add(cluster)",
        put: "",
        why: "A server that starts has more than one that serves."
      },
      {
        id: "cpu-group-attended",
        find: "groups.starting.has(cluster) || groups.attended.has(cluster)",
        put: "groups.starting.has(cluster)",
        tests: ofPeople,
        why: "A revocation does not wait for the starts and copies of the same person."
      },
      {
        id: "cpu-group-further-start",
        find: "if (!groups.starting.delete(cluster)) return",
        put: "groups.starting.delete(cluster)",
        why: "A busy server yields on when a further endpoint of it starts."
      },
      {
        id: "cpu-group-failed-start",
        find: "if (groups !== undefined) serves(groups, cluster)",
        put: "",
        why: "The end of a start ends its share, also where the server could not be stopped."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/yieldFully.ts",
    tests: controlGroups,
    faults: [
      {
        id: "cpu-group-adopted",
        find: "for (const pid of children) if (!inside.has(pid)) joinGroup(group, pid)",
        put: "",
        why: "A server that an earlier process has started gets its group.",
        needs: "cpu-groups"
      },
      {
        id: "cpu-group-start-ends",
        find: "serves(groups, cluster)\n",
        put: "",
        why: "A server that serves does not keep the share of a start."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/startingProcess.ts",
    tests: controlGroups,
    faults: [
      {
        id: "cpu-group-entered",
        find: "echo 0 2>/dev/null >&4; ",
        put: "",
        why: "A program that works for a tenant has the share of those.",
        needs: "cpu-groups"
      },
      {
        id: "cpu-group-removed",
        find: "if (entrance !== undefined) opened.push(entrance)",
        put: "if (entrance === undefined && group !== undefined) throw new Error(group)",
        why: "A program runs also if its group has been removed.",
        needs: "cpu-groups"
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/placesPerPerson.ts",
    tests: ["packages/local-postgres/test/placesPerPerson.test.ts"],
    faults: [
      {
        id: "places-per-person-least",
        find: "branches: { per_org: between(2,",
        put: "branches: { per_org: between(1,",
        why: "One large copy does not keep every other branch of its person waiting."
      },
      {
        id: "places-per-person-most",
        find: "computes: { per_org: between(2, 8,",
        put: "computes: { per_org: between(2, 80,",
        why: "A large machine has no more places for one person than there are by default."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/server/src/references.ts",
    tests: ["packages/server/test/settings/sharedCores.test.ts"],
    faults: [
      {
        id: "places-per-person-elsewhere",
        find: 'settings.compute === "local" ? placesPerPerson(cores) : classes',
        put: "placesPerPerson(cores)",
        why: "Computes that run elsewhere do not share the cores of this machine."
      },
      {
        id: "places-per-person-given",
        find: "operations.branches_per_org ?? shared.branches.per_org",
        put: "shared.branches.per_org",
        why: "A setting decides how many copies one person has at once."
      }
    ]
  }
]
