/**
 * Bundles the core, the contract and the client for a worker: a runtime with the interfaces of the web and none of
 * Node. Each bundle runs in a context that has no others. Its size is a note of the report, and in the READMEs of the
 * packages, which is compared.
 */
import { readFileSync } from "node:fs"
import { isBuiltin } from "node:module"
import { join } from "node:path"
import { createContext, runInContext } from "node:vm"
import { gzipSync } from "node:zlib"
import { assert, describe, it } from "@effect/vitest"
import { build } from "rolldown"
import { note } from "../harness/note.ts"

/** Modules that are loaded on demand: storage on Postgres, and the pages under `/docs`. Bundlers make files of them. */
const onDemand = /^@narthex\/postgres$|docs\/makePages\.ts$|^\.\/makePages\.ts$/

const root = join(import.meta.dirname, "../..")
const folder = join(import.meta.dirname, "worker")

/** Bundles a program of `worker/` to one script, minified, as bundlers for workers do. */
const bundle = async (name: string): Promise<string> => {
  const { output } = await build({
    input: join(folder, `${name}.ts`),
    platform: "browser",
    tsconfig: false,
    resolve: { conditionNames: ["source", "worker", "browser", "import", "default"] },
    external: (id) => isBuiltin(id) || onDemand.test(id),
    output: { format: "iife", name: "worker", codeSplitting: false, minify: true },
    write: false,
    logLevel: "silent"
  })
  const [script, ...others] = output
  assert.strictEqual(others.length, 0)
  assert.deepStrictEqual(
    [...script.imports, ...script.dynamicImports].filter(isBuiltin),
    [],
    `${name} imports modules of Node`
  )
  return script.code
}

/** An API that lists one region for a bearer of a credential. */
const api: typeof fetch = async (input, init) => {
  const { headers, method, url } = new Request(input, init)
  assert.strictEqual(`${method} ${url}`, "GET https://api.example.com/v1/regions")
  assert.strictEqual(headers.get("authorization"), "Bearer nsk_secret")
  return Response.json({ regions: [{ region_id: "eu-1", name: "Europe", default: true, geo_lat: 50, geo_long: 8 }] })
}

/** The globals of every worker. Buffers come from the same realm as the interfaces that return them, as in a worker. */
const web = {
  AbortController,
  AbortSignal,
  ArrayBuffer,
  atob,
  Blob,
  btoa,
  ByteLengthQueuingStrategy,
  console,
  crypto,
  DOMException,
  Event,
  EventTarget,
  fetch: api,
  FormData,
  Headers,
  performance,
  queueMicrotask,
  ReadableStream,
  Request,
  Response,
  setInterval,
  clearInterval,
  setTimeout,
  structuredClone,
  clearTimeout,
  TextDecoder,
  TextEncoder,
  TransformStream,
  Uint8Array,
  URL,
  URLSearchParams,
  WritableStream
}

const result = async (script: string): Promise<unknown> => {
  const context = createContext({ ...web })
  // Values of another context have other prototypes: they are compared as JSON.
  return JSON.parse(await runInContext(`${script};worker.run().then(JSON.stringify)`, context))
}

const kilobytes = (bytes: number) => `${(bytes / 1_000).toFixed(0)} kB`

/** Notes the size of a bundle, and compares it with what a page says, which may be off by a twentieth. */
const compareSize = (name: string, script: string, page: string, sentence: RegExp) => {
  const sizes = [Buffer.byteLength(script), gzipSync(script).length]
  note(`${name} for a worker: ${sizes.map(kilobytes).join(", ")} compressed`)
  const [, ...stated] = sentence.exec(readFileSync(join(root, page), "utf8").replaceAll(/\s+/g, " ")) ?? []
  const off = sizes.filter(
    (size, at) => Math.abs(size / 1_000 / Number(stated[at]) - 1) > 0.05 || stated[at] === undefined
  )
  assert.deepStrictEqual(off, [], `${page} says ${stated.join(" and ")} kB`)
}

describe("bundles for workers", () => {
  it("the core with all state in memory runs in a worker, without Node", async () => {
    const script = await bundle("memoryPlatform")
    compareSize("the core in memory", script, "packages/core/README.md", /is (\d+) kB minified, (\d+) kB compressed/)
    assert.deepStrictEqual(await result(script), { email: "ada@example.com", project: "shop", key: "api_key" })
  })

  it("the control plane in memory serves calls and a stream in a worker, without Node", async () => {
    const script = await bundle("controlPlane")
    compareSize("the control plane in memory", script, "packages/narthex/README.md", /is (\d+) kB, (\d+) kB compressed/)
    assert.deepStrictEqual(await result(script), {
      providers: 200,
      whoami: [401, "unauthenticated"],
      caller: "api_key",
      project: "shop",
      event: "operation.updated.v1",
      end: "draining",
      afterwards: 503
    })
  })

  it("the contract of the API runs in a worker, without Node", async () => {
    const script = await bundle("contract")
    compareSize("the contract", script, "packages/api/README.md", /contract is (\d+) kB \((\d+) kB compressed\)/)
    assert.include(await result(script), { problem: 422 })
  })

  it("the typed client runs in a worker, without Node", async () => {
    const script = await bundle("client")
    compareSize("the typed client", script, "packages/api/README.md", /client (\d+) kB \((\d+) kB compressed\)/)
    assert.deepStrictEqual(await result(script), { regions: ["eu-1"] })
  })
})
