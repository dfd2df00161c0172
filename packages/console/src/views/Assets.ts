/**
 * The static files, read once at start. Their paths contain a digest of their content, so browsers may cache them
 * forever and still get the next version.
 */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"

/** Found by the package's name, because a bundle is in another folder. */
const directory = pathToFileURL(createRequire(import.meta.url).resolve("@narthex/console/assets/base.css"))

/** Removes comments and joins white space, which CSS reads as one space. */
const compact = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ")

export interface Asset {
  readonly path: `/assets/${string}`
  /** The media type. */
  readonly type: string
  readonly content: Uint8Array
}

const read = async (name: string, type: string, parts: ReadonlyArray<string> = [name]): Promise<Asset> => {
  const texts = await Promise.all(parts.map((part) => readFile(new URL(part, directory), "utf8")))
  const content = new TextEncoder().encode(type.startsWith("text/css") ? compact(texts.join("\n")) : texts.join("\n"))
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 12)
  return { content, type, path: `/assets/${digest}/${name}` }
}

/** Every page needs them, so a missing file stops the process at its start. */
const [style, script, icon] = await Promise.all([
  read("style.css", "text/css; charset=utf-8", ["base.css", "frame.css", "parts.css"]),
  read("console.js", "text/javascript; charset=utf-8"),
  read("icon.svg", "image/svg+xml")
])

/** Their paths, for the head of a page. */
export const assetPaths = { style: style.path, script: script.path, icon: icon.path }

/** What is served at those paths. */
export const assets: ReadonlyArray<Asset> = [style, script, icon]
