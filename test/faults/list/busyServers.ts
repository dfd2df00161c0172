/** Faults of the decision which servers yield the CPU. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const busyServers: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/busyServers.ts",
    tests: ["packages/local-postgres/test/busyServers.test.ts"],
    faults: [
      {
        id: "busy-person",
        find: "  weighPeople(groups, ofPeople, at)\n",
        put: "",
        why: "A person whose servers together take more than their part yields."
      },
      {
        id: "busy-person-all",
        find: "(ofPeople.get(home) ?? 0) + demand.ran",
        put: "demand.ran",
        why: "What all servers of a person take counts."
      },
      {
        id: "busy-person-starved",
        find: "=== true ? demand.waited : 0",
        put: "=== true ? 0 : 0",
        why: "One who yields and gets nothing goes on yielding."
      },
      {
        id: "busy-person-attended",
        find: "endBusy(groups, cluster)\n      divideAmongPeople(groups)\n    })\n    const end",
        put: "endBusy(groups, cluster)\n    })\n    const end",
        tests: ["packages/local-postgres/test/personGroups.test.ts"],
        why: "A revocation does not wait until others want no CPU."
      },
      {
        id: "busy-ended-twice",
        find: "if (!after.processes.has(pid)) ran -= then.ran",
        put: "if (!after.processes.has(pid)) ran -= 0",
        why: "What a session ran before counts once."
      },
      {
        id: "busy-negative",
        find: "ran = Math.max(0, ran)",
        put: "ran = ran + 0",
        why: "A session that has just ended is no negative demand."
      },
      {
        id: "busy-starved",
        find: "const waiting = hasHadNothing ? elapsed : Math.min",
        put: "const waiting = Math.min",
        why: "The kernel adds a wait at its end, so a process that gets nothing has waited for nothing."
      },
      {
        id: "busy-earlier-wait",
        find: "Math.min(now.waited - then.waited, Math.max(0, elapsed - running))",
        put: "now.waited - then.waited",
        why: "A wait that has just ended may have begun before."
      },
      {
        id: "busy-waiting",
        find: "return demand.ran + demand.waited > 0.25",
        put: "return demand.ran > 0.25",
        why: "A busy server that gets nothing is busy."
      },
      {
        id: "busy-start",
        find: "demand.ran > 0.5 ||",
        put: "demand.ran + demand.waited > 0.5 ||",
        why: "Processes that wait shortly, as at a start, do not make a server busy."
      },
      {
        id: "busy-steady",
        find: "demand.steady > 0 || ",
        put: "",
        why: "One session that computes makes its server busy, whatever it gets."
      },
      {
        id: "busy-attended",
        find: "demand === undefined || groups.attended.has(cluster)",
        put: "demand === undefined",
        why: "A revocation does not wait for the CPU with the sessions that it ends."
      },
      {
        id: "busy-starting",
        find: "      known.delete(cluster)\n      continue\n",
        put: "",
        why: "The recovery of a server that starts does not make it busy."
      },
      {
        id: "busy-turns",
        find: "(wantMore(demand) && former !== undefined && wantMore(former))",
        put: "false",
        why: "Sessions that take turns to want the CPU make their server busy."
      },
      {
        id: "busy-strangers",
        find: "ran > 0.25 && ran + waited > 1",
        put: "ran + waited > 1",
        why: "Connections that strangers open do not make the server of another tenant yield."
      },
      {
        id: "busy-turns-once",
        find: "(wantMore(demand) && former !== undefined && wantMore(former))",
        put: "wantMore(demand)",
        why: "Many processes that wait shortly, as at a start, do not make a server busy."
      },
      {
        id: "busy-waits-only",
        find: "if (running > some * elapsed || wanted.has(pid)) steady++",
        put: "steady++",
        why: "A server that waits for the little that it needs is not made to wait longer."
      },
      {
        id: "busy-wanted-before",
        find: "demandBetween(former.taken, taken, former.demand?.wanting)",
        put: "demandBetween(former.taken, taken)",
        why: "One session that computes makes its server busy, also where so many do that each gets almost nothing."
      },
      {
        id: "busy-attended-once",
        find: "if (others > 0) attended.set(cluster, others)",
        put: "if (others > 9) attended.set(cluster, others)",
        why: "Several changes of roles may run at once."
      },
      {
        id: "busy-forgotten",
        find: "if (!running.has(cluster)) known.delete(cluster)",
        put: "if (!running.has(cluster)) known.has(cluster)",
        why: "What is known of a server ends with it."
      }
    ]
  }
]
