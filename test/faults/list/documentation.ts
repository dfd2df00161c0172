// biome-ignore-all lint/suspicious/noTemplateCurlyInString: pieces of source text are no templates
/** The OpenAPI document and the pages under `/docs`. */
import type { FaultsOfFile } from "../runner/Fault.ts"

export const documentation: ReadonlyArray<FaultsOfFile> = [
  {
    area: "documentation",
    file: "scripts/pages/blocks.ts",
    tests: ["test/blocks.test.ts"],
    faults: [
      {
        id: "blocks-of-packages",
        find: '"packages/*/*.md", ',
        put: "",
        why: "The blocks of every README are run."
      }
    ]
  },
  {
    area: "documentation",
    file: "scripts/pages/typedPrograms.ts",
    tests: ["test/blocks.test.ts"],
    faults: [
      {
        id: "examples-of-docstrings",
        find: "...modules.flatMap",
        put: "...modules.slice(0, 10).flatMap",
        why: "The types of every example are checked."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/api/src/openapi/describeOperation.ts",
    tests: ["packages/api/test/openapi/generators.test.ts"],
    faults: [
      {
        id: "document-key-everywhere",
        find: "replayed: credential && changes && !Context.get(annotations, NotReplayed)",
        put: "replayed: credential && changes",
        why: "Idempotency-Key is documented where it is honoured, and nowhere else."
      },
      {
        id: "document-impossible-refusals",
        find: '(code.startsWith("idempotency_") && !facts.replayed) ||',
        put: "",
        why: "A refusal that a call cannot answer with is not listed."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/api/src/openapi/documentParts.ts",
    tests: ["packages/api/test/openapi/generators.test.ts"],
    faults: [
      {
        id: "document-scheme-spelling",
        find: 'scheme: "bearer",\n    description:\n',
        put: 'scheme: "Bearer",\n    description:\n',
        why: "Generators compare the scheme with its spelling in small letters."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/api/src/openapi/exampleOf.ts",
    tests: ["packages/api/test/openapi/examples.test.ts"],
    faults: [
      {
        id: "document-example-of-null",
        find: 'exampleOf(schemas, schema["anyOf"][0], owner)',
        put: 'exampleOf(schemas, schema["anyOf"].at(-1), owner)',
        why: "The example of a body decodes with the server's schema."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/http/src/docs/CachedPage.ts",
    tests: ["packages/http/test/docs/documentation.test.ts"],
    faults: [
      {
        id: "docs-revalidates-nothing",
        find: 'part.replace(/^W\\//, "") === tag.replace(/^W\\//, "")',
        put: "part === tag.slice(2)",
        why: "A page that the client has is answered with 304."
      },
      {
        id: "docs-gzip-refused",
        find: "(?!0(\\.0*)?\\s*$)",
        put: "",
        why: "A client that refuses gzip gets the page plain."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/http/src/docs/layout.ts",
    tests: ["packages/http/test/docs/documentation.test.ts"],
    faults: [
      {
        id: "docs-absolute-links",
        find: '"../".repeat(path.split("/").length - 1)',
        put: '"../".repeat(path.split("/").length - 2)',
        why: "Links between the pages are relative to each page."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/http/src/docs/pages.ts",
    tests: ["packages/http/test/docs/documentation.test.ts"],
    faults: [
      {
        id: "docs-links-to-sources",
        find: "return `${path.slice(0, -3)}${at}`",
        put: "return `${path}${at}`",
        why: "A link between guides leads to the page that is served."
      }
    ]
  },
  {
    area: "documentation",
    file: "packages/server/src/metricCatalog.ts",
    tests: ["packages/server/test/metricCatalog.test.ts"],
    faults: [
      {
        id: "metric-without-entry",
        find: '  events_ring_evictions_total: events("counter", "Rings given up for memory."),\n',
        put: "",
        why: "The catalog has every metric that the code defines."
      }
    ]
  }
]
