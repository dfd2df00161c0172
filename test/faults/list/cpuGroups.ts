/** Faults of the CPU control groups of local computes. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const controlGroups = [
  "packages/local-postgres/test/CpuGroups.test.ts",
  "packages/local-postgres/test/CpuGroupFiles.test.ts"
]

export const cpuGroups: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/CpuGroups.ts",
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
        find: 'if (!existsSync(join(groups.copies, "cpu.idle"))) throw',
        put: "if (false) throw",
        why: "A control group without the CPU's controller is refused with what is missing."
      },
      {
        id: "cpu-group-delegation",
        find: "if (groups.version === 2) writeFileSync",
        put: "if (groups.version !== 2) writeFileSync",
        why: "Version 2 needs the controller for the groups within."
      },
      {
        id: "cpu-group-sweep",
        find: "&& !removeGroup(join(directory, entry.name))",
        put: "",
        why: "Groups of servers that have ended do not stay."
      },
      {
        id: "cpu-group-foreign-sweep",
        find: 'entry.isDirectory() && entry.name.startsWith("narthex-")',
        put: "entry.isDirectory()",
        why: "Groups that the platform has not made stay."
      },
      {
        id: "cpu-group-left",
        find: "    groups.left.add(cluster)\n",
        put: "",
        why: "The group of a server that was stopped is removed."
      },
      {
        id: "cpu-group-left-again",
        find: "  groups.left.delete(cluster)\n  removeLeft",
        put: "  removeLeft",
        why: "The group of a server that starts again stays."
      },
      {
        id: "cpu-group-left-kept",
        find: "if (removeGroup(group) || !existsSync(group)) groups.left.delete(cluster)",
        put: "if (removeGroup(group) || existsSync(group)) groups.left.delete(cluster)",
        why: "A group that the kernel does not let go is tried again."
      },
      {
        id: "cpu-group-share",
        find: "if (!isBusy) setWeight(groups, group, shareIn(groups, cluster))",
        put: "",
        tests: ["packages/local-postgres/test/busyServers.test.ts"],
        why: "A server that is busy no longer has its share again."
      },
      {
        id: "cpu-group-starting",
        find: "groups.starting.add(cluster)",
        put: "",
        why: "A server that starts has more than one that serves."
      },
      {
        id: "cpu-group-further-start",
        find: "if (!groups.starting.delete(cluster)) return",
        put: "groups.starting.delete(cluster)",
        why: "A busy server yields on when a further endpoint of it starts."
      },
      {
        id: "cpu-group-starts-together",
        find: "setBusy(groups, cluster, false)\n    divideAmongStarts(groups)",
        put: "setBusy(groups, cluster, false)",
        why: "Sixteen servers that recover at once leave the platform a third of what they take with it."
      },
      {
        id: "cpu-group-start-left",
        find: "if (groups.starting.delete(cluster)) divideAmongStarts(groups)",
        put: "groups.starting.delete(cluster)",
        why: "A start that has failed takes nothing from the others."
      },
      {
        id: "cpu-group-start-served",
        find: "endBusy(groups, cluster)\n  divideAmongStarts(groups)",
        put: "endBusy(groups, cluster)",
        why: "A start that has ended takes nothing from the others."
      },
      {
        id: "cpu-group-start-least",
        find: "Math.max(weights.serving, Math.min(",
        put: "Math.max(1, Math.min(",
        why: "A server that starts has no less than one that serves."
      },
      {
        id: "cpu-group-left-yielding",
        find: "endBusy(groups, entry.name)",
        put: "removeGroup(entry.name)",
        why: "A process that takes over does not wait for servers that yielded to the one before."
      },
      {
        id: "cpu-group-failed-start",
        find: "if (groups !== undefined) serves(groups, cluster)",
        put: "",
        why: "The end of a start ends its share, also where the server could not be stopped."
      },
      {
        id: "cpu-group-version-1",
        find: "Math.round((weight * 1024) / 100)",
        put: "weight",
        why: "Version 1 counts shares otherwise than version 2."
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
    file: "packages/local-postgres/src/machine/programStarter.ts",
    tests: controlGroups,
    faults: [
      {
        id: "cpu-group-entered",
        find: "if (group !== undefined && child.pid !== undefined) enter(group, child.pid)",
        put: "",
        why: "A program that works for a tenant has the share of those.",
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
