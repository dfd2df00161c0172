/** Faults of how the CPU is divided among people. */
import type { FaultsOfFile } from "../runner/Fault.ts"

const controlGroups = ["packages/local-postgres/test/CpuGroups.test.ts"]
const ofPeople = ["packages/local-postgres/test/personGroups.test.ts"]

export const personGroups: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/personGroups.ts",
    tests: ofPeople,
    faults: [
      {
        id: "cpu-person-part",
        find: "cores / (2 * Math.max(2, people))",
        put: "cores / Math.max(2, people)",
        why: "Those who do not yield leave half of the cores to the platform."
      },
      {
        id: "cpu-person-at-once",
        find: "wanted > 2 * part ||",
        put: "",
        why: "One who takes twice their part yields from the first look on."
      },
      {
        id: "cpu-person-lasts",
        find: "inBoth > part",
        put: "wanted > part",
        why: "A start and a copy want more than the part for a moment: one who makes one now and then does not yield."
      },
      {
        id: "cpu-person-row",
        find: "seconds <= 1 ? Math.min(wanted, before.wanted) : 0",
        put: "Math.min(wanted, before.wanted)",
        why: "What a person wanted in the look before counts only if that look was at most a second ago."
      },
      {
        id: "cpu-person-pause",
        find: "if (several < 0) person.looksAtWork = 0",
        put: "",
        why: "Copies with pauses between them are not one that goes on."
      },
      {
        id: "cpu-person-until",
        find: "before.isHeavy ? part / 2 : part",
        put: "part",
        why: "One who takes about their part does not change with each look."
      },
      {
        id: "cpu-person-least",
        find: "Math.max(50, 800",
        put: "Math.max(1, 800",
        why: "A person among many who want the CPU has a share that counts beside the platform's."
      },
      {
        id: "cpu-person-age",
        find: "kept ** (2 * seconds)",
        put: "kept",
        why: "What a person took an hour ago does not make them yield now."
      },
      {
        id: "cpu-person-busy",
        find: "person.demand.isHeavy || computing?.has(home) === true",
        put: "person.demand.isHeavy",
        why: "A server that computes yields to the platform and to others' servers, and not only to those of its person."
      },
      {
        id: "cpu-person-long",
        find: "person.looksAtWork < longWork ? Math.max(0, work - 1) : work",
        put: "Math.max(0, work - 1)",
        why: "One long copy after another counts."
      },
      {
        id: "cpu-person-stopped",
        find: "person.copies > 0 || person.demand.isHeavy ||",
        put: "person.copies > 0 ||",
        why: "Stopping what computes, and starting it again, does not end that a person yields."
      },
      {
        id: "cpu-person-store",
        find: 'const answersWithin = "1 second"',
        put: 'const answersWithin = "1 hour"',
        why: "A store that does not answer keeps no start waiting."
      },
      {
        id: "cpu-person-several",
        find: "if (several > part)",
        put: "if (several < -9)",
        why: "One who starts and copies several things at once yields before the first look."
      },
      {
        id: "cpu-person-attended",
        find: 'supervised?.has(home) ? attendedShare : "idle"',
        put: '"idle"',
        why: "A revocation does not wait until others want no CPU."
      },
      {
        id: "cpu-person-written",
        find: "person.share = undefined\n  groups.people.set",
        put: "groups.people.set",
        why: "A group that is made again gets the share of its person."
      },
      {
        id: "cpu-person-forgotten",
        find: "if (removeGroup(home) || !existsSync(home)) people.delete(home)",
        put: "",
        tests: controlGroups,
        needs: "cpu-groups",
        why: "The group of a person who has nothing here any more is removed."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/machine/copyGroups.ts",
    tests: ofPeople,
    faults: [
      {
        id: "cpu-copy-counted",
        find: "person.copies++",
        put: "person.copies += 0",
        why: "Two copies at once make a person yield."
      },
      {
        id: "cpu-copy-ended",
        find: "person.copies = Math.max(0, person.copies - 1)",
        put: "person.copies = Math.max(0, person.copies)",
        why: "A copy that has ended counts no more."
      }
    ]
  }
]
