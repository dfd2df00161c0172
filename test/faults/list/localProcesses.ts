/** The processes of local computes: their priority, and what starts them. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const groups = ["packages/local-postgres/test/sessionGroups.test.ts"]
const priority = ["packages/local-postgres/test/computePriority.test.ts"]

export const localProcesses: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/PostgresProcess.ts",
    tests: priority,
    faults: [
      {
        id: "compute-priority",
        find: 'cluster.purpose === "compute" ? yieldingCpu',
        put: 'cluster.purpose !== "compute" ? yieldingCpu',
        why: "Computes yield the CPU to the supervisor."
      },
      {
        id: "compute-leftovers",
        find: "while: meetsLeftovers",
        put: "while: () => false",
        why: "A start waits for processes of the server before.",
        tests: ["packages/local-postgres/test/Failures.test.ts"]
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/sessionGroups.ts",
    tests: groups,
    faults: [
      {
        id: "groups-of-postmasters",
        find: "present.set(pid, nice)",
        put: "present.delete(pid)",
        why: "The group of a tenant's session yields the CPU to the supervisor."
      },
      {
        id: "groups-of-supervisor",
        find: "isOf(pid, supervisor, proc) === false",
        put: "isOf(pid, supervisor, proc) !== undefined",
        why: "Sessions that end rights keep the share of the platform."
      },
      {
        id: "groups-untitled",
        find: "isOf(pid, supervisor, proc) === false",
        put: "isOf(pid, supervisor, proc) !== true",
        why: "A session is judged once it shows whose it is."
      },
      {
        id: "groups-of-many",
        find: "Math.log(Math.max(1, wanting))",
        put: "Math.log(1)",
        why: "The sessions of a server have the share of one, however many want the CPU."
      },
      {
        id: "groups-of-idle",
        find: "filter((child) => wantsCpu(child, proc))",
        put: "filter(() => true)",
        why: "Sessions that wait for their client do not lower the share of one that works."
      },
      {
        id: "sessions-priority",
        find: "const yields = yieldProcess(pid, by)",
        put: "const yields = true",
        why: "Where groups do not count, as in a control group, a server with many busy sessions has the share of one, too."
      },
      {
        id: "sessions-priority-raised",
        find: "if (getPriority(pid) < wanted) setPriority(pid, wanted)",
        put: "setPriority(pid, wanted)",
        why: "A priority is only lowered: without privileges raising it fails."
      },
      {
        id: "sessions-of-busy",
        find: "(!busy.has(server) && isOf(pid, supervisor, proc) === false)",
        put: "isOf(pid, supervisor, proc) === false",
        why: "The command line of a session that gets no CPU is not read."
      },
      {
        id: "groups-of-ended",
        find: "if (!present.has(pid)) yielding.delete(pid)",
        put: "if (present.has(pid)) yielding.delete(pid)",
        why: "A process that gets the pid of an ended one is not taken for it."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/LocalComputeDriver.ts",
    tests: groups,
    faults: [
      {
        id: "groups-unwatched",
        find: "yield* Effect.forkScoped(grouped(yieldGroups(servers, superuser)))",
        put: "",
        why: "Sessions that begin while the machine is busy yield the CPU.",
        needs: "autogroup"
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterCopy.ts",
    tests: priority,
    faults: [
      {
        id: "compute-priority-copying",
        find: 'runProgram("cp", [...attributes, "-R", data, copy], { background: true })',
        put: 'runProgram("cp", [...attributes, "-R", data, copy])',
        why: "Copies for tenants yield the CPU to the supervisor."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/clusterOfProcess.ts",
    tests: ["packages/local-postgres/test/clusterOfProcess.test.ts"],
    faults: [
      {
        id: "process-read-again",
        find: "if (alive !== undefined && former !== undefined && isSame(former, alive)) return former.cluster",
        put: "",
        why: "A command line is read once, because its process may hold a lock and get no CPU."
      },
      {
        id: "process-started-read",
        find: "if (alive !== undefined) known.set(pid, { began: alive.began, name: alive.name, cluster })",
        put: "",
        why: "The command line of a server that was started here is not read: its group may yield."
      },
      {
        id: "process-child-read",
        find: "const cluster = childOfKnown(parent, proc, read)",
        put: "const cluster = childOfKnown(-1, proc, read)",
        why: "The command lines of sessions are not read where their postmaster is known."
      },
      {
        id: "process-other-program",
        find: "former.began === began && (former.cluster !== undefined || former.name === name)",
        put: "former.began === began",
        why: "A process that becomes a postmaster belongs to its cluster."
      },
      {
        id: "process-between-programs",
        find: 'if (command === "") return undefined',
        put: "",
        why: "A process that has no command line yet is looked at again."
      },
      {
        id: "process-pid-again",
        find: "former.began === began && (",
        put: "(",
        why: "A process that gets the pid of an ended one is not taken for it."
      },
      {
        id: "process-parent-again",
        find: "processOf(parent, proc, read)?.began === former.began ?",
        put: "former.began !== undefined ?",
        why: "The children of a process that got the pid of a postmaster are not taken for its sessions."
      },
      {
        id: "process-without-memory",
        find: 'memory === "0" ? undefined :',
        put: "memory === undefined ? undefined :",
        why: "A process that is about to be a zombie has ended."
      },
      {
        id: "process-kept",
        find: "if (!running.has(pid)) known.delete(pid)",
        put: "if (!running.has(pid)) known.has(pid)",
        why: "What is known of ended processes does not stay."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/Processes.ts",
    tests: ["packages/local-postgres/test/Processes.test.ts"],
    faults: [
      {
        id: "processes-never-waited-for",
        find: "[ZX] /s",
        put: "[X] /s",
        why: "A process that has ended counts as ended even if nothing ever waits for it."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/startingProcess.ts",
    tests: ["packages/local-postgres/test/programStarter.test.ts"],
    faults: [
      {
        id: "starter-of-terminal",
        find: 'for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => undefined)',
        put: "",
        why: "Ctrl-C does not end it while the platform stops its servers."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/programStarter.ts",
    tests: ["packages/local-postgres/test/programStarter.test.ts"],
    faults: [
      {
        id: "starter-once",
        find: "if (starter === made) starter = undefined",
        put: "",
        why: "If it ends by itself, the next program starts another one."
      },
      {
        id: "starter-late-programs",
        find: "if (!kept.has(pid)) killNow(pid)",
        put: "if (kept.has(pid)) killNow(pid)",
        why: "One that answers nothing is killed with what it runs, and servers go on."
      },
      {
        id: "starter-late-start",
        find: "if (!isOver && !begun.hasStarted) abandon()",
        put: "",
        why: "What was interrupted before its start does not start later."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/yieldingCpu.ts",
    tests: priority,
    faults: [
      {
        id: "compute-niceness",
        find: "const niceness = 10",
        put: "const niceness = 1",
        why: "A process of the supervisor counts as several of a tenant."
      },
      {
        id: "compute-niceness-preparing",
        find: "const preparingNiceness = 5",
        put: "const preparingNiceness = 10",
        why: "The busy sessions of a tenant do not keep the servers of others from starting."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/yieldFully.ts",
    tests: priority,
    faults: [
      {
        id: "compute-niceness-children",
        find: "[postmaster, ...childrenOf(postmaster)]",
        put: "[postmaster]",
        why: "Every process of a server that serves yields the CPU."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/LocalComputeDriver.ts",
    tests: priority,
    faults: [
      {
        id: "compute-niceness-serving",
        find: "      yield* yieldFully(postmaster, cluster.name)\n",
        put: "",
        why: "A server that serves yields the CPU fully."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/enforceRoles.ts",
    tests: priority,
    faults: [
      {
        id: "compute-niceness-restarted",
        find: "    yield* yieldFully(postmaster, cluster.name)\n",
        put: "",
        why: "A server that was restarted to end a right yields the CPU as any other."
      }
    ]
  }
]
