/** Holds the house to its plan: who may import whom, how long a file may be, where re-exports may stand. */
import { globSync, readFileSync } from "node:fs"
import { dirname, relative, resolve, sep } from "node:path"
import { assert, describe, it } from "@effect/vitest"

const root = resolve(import.meta.dirname, "..")

/** package → what its `src` may import; a prefix ending in `/` allows the modules below it. */
const allowed: Record<string, ReadonlyArray<string>> = {
  core: ["effect", "effect/encoding", "ulid", "ipaddr.js"],
  api: ["effect", "effect/", "@narthex/core"],
  postgres: ["effect", "effect/", "@narthex/core", "@effect/sql-pg", "@effect/sql-pg/"],
  "local-postgres": ["effect", "effect/", "@narthex/core", "@effect/sql-pg", "@effect/sql-pg/", "node:"],
  http: [
    "effect",
    "effect/",
    "@narthex/core",
    "@narthex/api",
    "@effect/platform-node",
    "@effect/platform-node/",
    "jose",
    "node:"
  ],
  proxy: ["effect", "effect/", "@narthex/core", "@narthex/api", "node:"],
  cli: ["effect", "effect/", "@narthex/api", "@effect/platform-node/", "node:"],
  console: [
    "effect",
    "effect/",
    "@narthex/api",
    "@effect/platform-node/",
    "jose",
    "openid-client",
    "preact",
    "preact/",
    "preact-render-to-string",
    "node:"
  ],
  server: ["effect", "effect/", "@narthex/", "@effect/platform-node/", "oidc-provider", "node:"]
}

const statement =
  /^(?:import|export)\s(?:type\s)?[\w*{}\s,$]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm

const specifiers = (source: string) =>
  [...source.matchAll(statement)].map((found) => found[1] ?? found[2] ?? found[3] ?? "")

const files = (pattern: string) =>
  globSync(pattern, { cwd: root }).filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))

const packageOf = (file: string) => file.split(sep)[1] ?? ""

describe("structure", () => {
  it("every source file imports only what its package may", () => {
    const wrong = files("packages/*/src/**/*.{ts,tsx}").flatMap((file) => {
      const name = packageOf(file)
      return specifiers(readFileSync(resolve(root, file), "utf8")).flatMap((specifier) => {
        if (specifier.startsWith(".")) {
          const target = relative(resolve(root, "packages", name, "src"), resolve(root, dirname(file), specifier))
          return target.startsWith("..") ? [`${file} reaches out of its package: ${specifier}`] : []
        }
        const fine = (allowed[name] ?? []).some((rule) =>
          rule.endsWith("/") || rule === "node:" ? specifier.startsWith(rule) : specifier === rule
        )
        return fine ? [] : [`${file} imports ${specifier}`]
      })
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("the core uses stable Effect modules and no platform", () => {
    const wrong = files("packages/core/src/**/*.ts").filter((file) =>
      /\bprocess\.|\bBuffer\b|Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(/.test(
        readFileSync(resolve(root, file), "utf8")
      )
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("no file is longer than 300 lines", () => {
    const long = files("{packages,test,examples,bench,scripts}/**/*.{ts,tsx,css}").filter(
      (file) => readFileSync(resolve(root, file), "utf8").split("\n").length > 301
    )
    assert.deepStrictEqual(long, [])
  })

  it("only package roots re-export", () => {
    const barrels = files("packages/*/{src,testing}/**/*.ts").filter(
      (file) =>
        !/^packages\/[^/]+\/(src|testing)\/index\.ts$/.test(file) &&
        /^export (\*|\{[^}]*\}) from/m.test(readFileSync(resolve(root, file), "utf8"))
    )
    assert.deepStrictEqual(barrels, [])
  })

  it("runs on the pinned Node", () => {
    assert.match(process.version, /^v2[46]\./)
  })
})
