/** Faults of the data of clusters: their copies, and what replaces or removes them. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const clusterCopies: ReadonlyArray<FaultsOfFile> = [
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterData.ts",
    tests: ["packages/local-postgres/test/ClusterData.test.ts"],
    faults: [
      {
        id: "data-unfinished",
        find: "yield* Effect.onError(install, () => clear)",
        put: "yield* install",
        why: "Creations that are cancelled again and again do not fill the disk."
      },
      {
        id: "data-former-name",
        find: "if (replaces) await rename(formerOf(cluster), cluster.data)",
        put: "",
        why: "A branch that could not be reset has its data."
      },
      {
        id: "data-unseen",
        find: "lstatSync(path, { throwIfNoEntry: false }) !== undefined",
        put: "[lstatSync].every((look) => { try { look(path); return true } catch { return false } })",
        why: "A disk that fails for a moment does not have data replaced by empty ones."
      },
      {
        id: "data-former-killed",
        find: "if (yield* hasData(cluster)) return yield* discard(cluster, former)",
        put: "return yield* discard(cluster, former)",
        why: "A branch whose reset was killed between two renames has its data."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/walSegments.ts",
    tests: ["packages/local-postgres/test/walSegments.test.ts"],
    faults: [
      {
        id: "wal-last-segment",
        find: "const [one, end] = [from / bytes, (to - 1n) / bytes]",
        put: "const [one, end] = [from / bytes, from / bytes + (to - 1n - from) / bytes]",
        why: "A copy has the segment in which its backup ends."
      },
      {
        id: "wal-boundary",
        find: "(to - 1n) / bytes]",
        put: "to / bytes]",
        why: "A backup that ends with a segment does not wait for the next."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterBackup.ts",
    tests: ["packages/local-postgres/test/ClusterBackup.test.ts"],
    faults: [
      {
        id: "backup-recycled",
        find: "if (segment !== undefined) return yield* new WalRecycled({ segment })",
        put: "",
        why: "A copy whose WAL was recycled meanwhile is not taken for complete."
      },
      {
        id: "backup-repeated",
        find: "yield* backUp({ ...backup, slot: true })",
        put: "yield* backUp(backup)",
        why: "A copy for which the WAL is not kept long enough is repeated with a slot."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/computes/LocalComputeDriver.ts",
    tests: ["packages/local-postgres/test/Failures.test.ts"],
    faults: [
      {
        id: "backup-large",
        find: "slot: size > limits.copied_without_slot",
        put: "slot: false",
        why: "A slot retains the WAL for the copy of a large branch from its beginning."
      }
    ]
  },
  {
    area: "computes",
    file: "packages/local-postgres/src/cluster/ClusterCopy.ts",
    tests: ["packages/local-postgres/test/ClusterCopy.test.ts"],
    faults: [
      {
        id: "copy-vanished",
        find: "if (lines.every((line) => vanished.test(line))) return Effect.void",
        put: "",
        why: "A file that Postgres removes while it is copied does not fail the copy."
      },
      {
        id: "copy-owner",
        find: '"--preserve=ownership", ',
        put: "",
        why: "The server of a copy can read its files.",
        needs: "root"
      },
      {
        id: "copy-failed",
        find: "lines.every((line) => vanished.test(line))",
        put: "lines.some((line) => vanished.test(line))",
        why: "A file that cannot be copied fails the copy."
      }
    ]
  }
]
