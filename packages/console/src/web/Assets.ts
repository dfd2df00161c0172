/**
 * The static files, read once at start. Their paths contain a digest of their content, so browsers may cache them
 * forever and still get the next version.
 */
import { createHash } from "node:crypto"
import { readFile } from "node:fs/promises"
import { createRequire } from "node:module"
import { pathToFileURL } from "node:url"
import { promisify } from "node:util"
import { brotliCompress, gzip } from "node:zlib"

/** Found by the package's name, because a bundle is in another folder. */
const directory = pathToFileURL(createRequire(import.meta.url).resolve("@narthex/console/assets/base.css"))

/** Removes comments and joins white space, which CSS reads as one space. */
const compact = (css: string) => css.replace(/\/\*[\s\S]*?\*\//g, "").replace(/\s+/g, " ")

/** The values of `Content-Encoding`, the smaller one first. */
export type AssetEncoding = "br" | "gzip"

const compress = { br: promisify(brotliCompress), gzip: promisify(gzip) }

export interface Asset {
  readonly path: `/assets/${string}`
  /** The media type. */
  readonly type: string
  readonly content: Uint8Array
  /** The encodings that it has: none for a font, which is compressed already. */
  readonly encodings: ReadonlyArray<AssetEncoding>
  /** The content in an encoding. It is compressed for the first request, which keeps the time out of the start. */
  readonly encoded: (encoding: AssetEncoding) => Promise<Uint8Array>
}

const asset = (name: string, type: string, content: Uint8Array): Asset => {
  const digest = createHash("sha256").update(content).digest("hex").slice(0, 12)
  const made = new Map<AssetEncoding, Promise<Uint8Array>>()
  return {
    content,
    type,
    path: `/assets/${digest}/${name}`,
    encodings: type.startsWith("font/") ? [] : ["br", "gzip"],
    encoded: (encoding) => {
      const encoded = made.get(encoding) ?? compress[encoding](content)
      made.set(encoding, encoded)
      return encoded
    }
  }
}

const bytes = (name: string) => readFile(new URL(name, directory))
const text = (name: string) => readFile(new URL(name, directory), "utf8")

/** In the order of the layers. */
const stylesheets = [
  "tokens",
  "base",
  "components",
  "parts",
  "table",
  "forms",
  "shell",
  "plain",
  "pages",
  "project",
  "people"
]

/**
 * One module of seven files. The later ones may use the names of the earlier ones, and `live` reads the markup before
 * those after it change it.
 */
const scripts = ["focus", "live", "choices", "times", "palette", "proposal", "console"]

/** Every page needs them, so a missing file stops the process at its start. */
const [font, icon, script, ...styles] = await Promise.all([
  bytes("inter.woff2").then((content) => asset("inter.woff2", "font/woff2", content)),
  bytes("icon.svg").then((content) => asset("icon.svg", "image/svg+xml", content)),
  Promise.all(scripts.map((name) => text(`${name}.js`))).then((parts) =>
    asset("console.js", "text/javascript; charset=utf-8", new TextEncoder().encode(parts.join("\n")))
  ),
  ...stylesheets.map((name) => text(`${name}.css`))
])
const css = compact(styles.join("\n").replace('url("inter.woff2")', `url("${font.path}")`))
const style = asset("style.css", "text/css; charset=utf-8", new TextEncoder().encode(css))

/** The paths of the assets, for the head of a page. */
export const assetPaths = { style: style.path, script: script.path, icon: icon.path, font: font.path }

export const assets: ReadonlyArray<Asset> = [style, script, icon, font]
