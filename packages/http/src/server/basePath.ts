/** Where the API is mounted: an absolute path without a slash at the end; empty at the root. */

/** `undefined`: the text is not a path to mount at. */
export const readBasePath = (text: string): string | undefined => {
  const path = text.replace(/\/+$/, "")
  return path === "" || /^(\/(?!\.{1,2}(\/|$))[\w.~-]+)+$/.test(path) ? path : undefined
}

/** The part of a target below the base path, beginning with a slash; `undefined`: it is not below it. */
export const belowBasePath = (basePath: string, target: string): string | undefined => {
  if (basePath === "") return target
  const rest = target.startsWith(basePath) ? target.slice(basePath.length) : undefined
  return rest?.startsWith("/") ? rest : undefined
}

/** The path and query of a URL as it is written, without its fragment. */
export const targetOfUrl = (url: string): string => {
  const target = /^[a-z][a-z0-9+.-]*:\/\/[^/?#]*([^#]*)/i.exec(url)?.[1] ?? url
  return target.startsWith("/") ? target : `/${target}`
}
