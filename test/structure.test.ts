/** Checks the structure of the sources: imports between packages and folders, length of files, re-exports. */
import { globSync, readFileSync } from "node:fs"
import { dirname, relative, resolve, sep } from "node:path"
import { assert, describe, it } from "@effect/vitest"
import { allowed, order } from "./support/houseOrder.ts"

const root = resolve(import.meta.dirname, "..")

/** Folders whose files do not import each other: what they share is in a lower folder. */
const independent = ["console/routes"]

const statement =
  /^(?:import|export)\s(?:type\s)?[\w*{}\s,$]*?from\s*"([^"]+)"|^import\s*"([^"]+)"|\bimport\(\s*"([^"]+)"\s*\)/gm

const specifiers = (source: string) =>
  [...source.matchAll(statement)].map((found) => found[1] ?? found[2] ?? found[3] ?? "")

const files = (pattern: string) =>
  globSync(pattern, { cwd: root }).filter((file) => !/(^|\/)(node_modules|dist)\//.test(file))

const packageOf = (file: string) => file.split(sep)[1] ?? ""

/** The modules of a package and what each imports of the same package, as paths below its `src`. */
const modulesOf = (name: string) => {
  const source = resolve(root, "packages", name, "src")
  return new Map(
    files(`packages/${name}/src/**/*.{ts,tsx}`).map((file) => [
      relative(source, resolve(root, file)),
      specifiers(readFileSync(resolve(root, file), "utf8"))
        .filter((specifier) => specifier.startsWith("."))
        .map((specifier) => relative(source, resolve(root, dirname(file), specifier)))
    ])
  )
}

/** Circles of imports, as groups of files that reach each other. */
const circlesOf = (modules: ReadonlyMap<string, ReadonlyArray<string>>) => {
  const reach = (from: string) => {
    const reached = new Set<string>()
    const open = [from]
    for (let next = open.pop(); next !== undefined; next = open.pop())
      for (const target of modules.get(next) ?? [])
        if (!reached.has(target)) {
          reached.add(target)
          open.push(target)
        }
    return reached
  }
  const reaches = new Map([...modules.keys()].map((file) => [file, reach(file)]))
  const groups = [...modules.keys()]
    .filter((file) => reaches.get(file)?.has(file))
    .map((file) =>
      [...modules.keys()].filter((other) => reaches.get(file)?.has(other) && reaches.get(other)?.has(file))
    )
    .map((group) => group.sort().join(", "))
  return [...new Set(groups)]
}

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

  it("a folder imports only from folders below it", () => {
    const wrong = Object.entries(order).flatMap(([name, floors]) => {
      const floorOf = (path: string): number => {
        const floor = floors.indexOf(path.split(sep).join("/"))
        return floor >= 0 || path === "." ? floor : floorOf(dirname(path))
      }
      return [...modulesOf(name)].flatMap(([file, imports]) => {
        if (floorOf(file) < 0) return [`${name}/src/${file} has no place in the order`]
        return imports
          .filter((target) => floorOf(target) > floorOf(file))
          .map((target) => `${name}/src/${file} imports ${target}, which stands above it`)
      })
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("files of an independent folder do not import each other", () => {
    const wrong = independent.flatMap((path) => {
      const [name = "", folder = ""] = path.split("/")
      const inside = (file: string) => file.split(sep)[0] === folder
      return [...modulesOf(name)]
        .filter(([file]) => inside(file))
        .flatMap(([file, imports]) => imports.filter(inside).map((target) => `${name}/src/${file} imports ${target}`))
    })
    assert.deepStrictEqual(wrong, [])
  })

  it("no imports lead in a circle", () => {
    const found = Object.keys(allowed).flatMap((name) =>
      circlesOf(modulesOf(name)).map((circle) => `${name}: ${circle}`)
    )
    assert.deepStrictEqual(found, [])
  })

  it("the server needs the development providers and the driver for Kubernetes only where they are used", () => {
    const needed = files("packages/server/src/**/*.ts").filter((file) =>
      /^import (?!type )[^;]*?from "@narthex\/(dev-providers|kubernetes)"/m.test(
        readFileSync(resolve(root, file), "utf8")
      )
    )
    assert.deepStrictEqual(needed, [])
  })

  it("contract suites and fixtures import the core and Effect, and no test runner", () => {
    const wrong = files("packages/core/testing/**/*.ts").flatMap((file) =>
      specifiers(readFileSync(resolve(root, file), "utf8"))
        .filter((specifier) => !/^(\.|effect$|effect\/testing$)/.test(specifier))
        .map((specifier) => `${file} imports ${specifier}`)
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("the core uses stable Effect modules, no platform, and no HTTP, which is the transport's", () => {
    const platform = /\bprocess\.|\bBuffer\b|Date\.now\(|new Date\(\)|Math\.random\(|setTimeout\(/
    const http = /HTTP\/\d|\b[Cc]hunked|\bchunk|\\r\\n|"[a-z]+-(?:type|encoding|control|length)"|\bstatusCode\b/
    const wrong = files("packages/core/{src,testing}/**/*.ts").filter((file) =>
      [platform, http].some((words) => words.test(readFileSync(resolve(root, file), "utf8")))
    )
    assert.deepStrictEqual(wrong, [])
  })

  it("the proxy takes the contract of its calls from the API", () => {
    const copies = files("packages/proxy/src/**/*.ts").filter((file) =>
      /\bSchema\.(Struct|Class|TaggedClass|TaggedError)\b|\bHttpClientRequest\b|["`]\/v1\//.test(
        readFileSync(resolve(root, file), "utf8")
      )
    )
    assert.deepStrictEqual(copies, [])
  })

  it("no file is longer than 300 lines, unless a program wrote it", () => {
    const long = files("{packages,test,examples,bench,scripts}/**/*.{ts,tsx,css}").filter((file) => {
      const text = readFileSync(resolve(root, file), "utf8")
      return text.split("\n").length > 301 && !text.startsWith("// Generated from ")
    })
    assert.deepStrictEqual(long, [])
  })

  it("only package roots re-export", () => {
    const barrels = files("packages/*/{src,testing}/**/*.ts").filter(
      (file) =>
        !/^packages\/[^/]+\/(src|testing)\/index\.ts$/.test(file) &&
        !["packages/http/src/web.ts", "packages/cli/src/manner.ts"].includes(file) &&
        /^export (\*|\{[^}]*\}) from/m.test(readFileSync(resolve(root, file), "utf8"))
    )
    assert.deepStrictEqual(barrels, [])
  })

  it("handlers import no store: services read and write for them", () => {
    const stores = files("packages/http/src/handlers/**/*.ts").flatMap((file) =>
      [...readFileSync(resolve(root, file), "utf8").matchAll(/^import\s[^;]*?from\s*"@narthex\/core"/gm)].flatMap(
        ([statement]) => (statement.match(/\b(?:\w+Store|EventLog)\b/g) ?? []).map((name) => `${file} imports ${name}`)
      )
    )
    assert.deepStrictEqual(stores, [])
  })

  it("middleware and authorization compare no paths: what an endpoint needs is annotated in the contract", () => {
    const comparison =
      /["'`^]\\?\/v1\b|\bpath\s*[!=]==|\bpath\.(endsWith|startsWith|includes|match)|\.(has|test)\([\w.]*path\)/
    const guards = files("packages/{http/src/middleware,core/src/{authorization,guard}}/**/*.ts")
    assert.isAbove(guards.length, 5)
    const paths = guards.flatMap((file) =>
      readFileSync(resolve(root, file), "utf8")
        .split("\n")
        .filter((line) => !/^\s*(\*|\/\*|\/\/)/.test(line) && comparison.test(line))
        .map((line) => `${file}: ${line.trim()}`)
    )
    assert.deepStrictEqual(paths, [])
  })

  it("runs on the pinned Node", () => {
    assert.match(process.version, /^v2[46]\./)
  })
})
