/** What is published of a package. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const packages: ReadonlyArray<FaultsOfFile> = [
  {
    area: "packages",
    file: "scripts/packages/publishedManifest.ts",
    tests: ["test/packages/manifests.test.ts"],
    faults: [
      {
        id: "published-source",
        find: "condition !== sourceCondition",
        put: 'condition !== ""',
        why: "The condition that leads to sources is not published."
      },
      {
        id: "published-empty",
        find: "conditions.length === 0 ? undefined",
        put: "conditions.length < 0 ? undefined",
        why: "An entry that leads to sources alone is not published."
      },
      {
        id: "published-development",
        find: "const { devDependencies, exports, publishConfig, scripts, ...rest } = manifest",
        put: "const { exports, publishConfig, scripts, ...rest } = manifest",
        why: "Development dependencies are not published."
      },
      {
        id: "published-provenance",
        find: "repository === undefined ? unproven",
        put: "repository === undefined ? publishConfig",
        why: "A tarball asks for provenance only where its repository is known."
      }
    ]
  },
  {
    area: "packages",
    file: "scripts/packages/stage.ts",
    tests: ["test/packages/manifests.test.ts"],
    faults: [
      {
        id: "stage-folder",
        find: "...(folders.length > 1 ? [folder] : [])",
        put: "...(folders.length > 2 ? [folder] : [])",
        why: "Every entry of exports leads to a file of the tarball."
      }
    ]
  },
  {
    area: "packages",
    file: "scripts/reference/declarations.ts",
    tests: ["test/packages/reference.test.ts"],
    faults: [
      {
        id: "reference-header",
        find: "doc === undefined || doc === opening",
        put: "doc === undefined",
        why: "The header of a module is not the docstring of its first declaration."
      },
      {
        id: "reference-private",
        find: 'exported: node.type === "ExportNamedDeclaration"',
        put: "exported: true",
        why: "Declarations that are not exported are not public."
      }
    ]
  }
]
