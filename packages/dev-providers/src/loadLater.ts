/**
 * The library, loaded with the first request that needs it, or a moment after the start: it would take a fifth of the time
 * of a platform's start.
 *
 * Pitfall: finding out at the first sign-in that the library is not installed. Then this module cannot be loaded.
 */
import type { Library, LibraryOptions } from "./library.ts"

import.meta.resolve("oidc-provider")

/** Loads it, so that the first sign-in does not wait for it. */
export const loadLibrary = () => import("./library.ts")

/** The library for one issuer, made once. A load that fails is repeated by the next request. */
export const loadLater = (options: LibraryOptions, issuer: string): (() => Promise<Library>) => {
  let loading: Promise<Library> | undefined
  const load = async () => (await loadLibrary()).makeLibrary(options, issuer)
  return () => {
    loading ??= load().catch((cause: unknown) => {
      loading = undefined
      throw cause
    })
    return loading
  }
}
