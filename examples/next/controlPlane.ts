/**
 * The control plane of a Next.js application: one for the process, however often a module is loaded again during
 * development.
 */
import { type ControlPlane, createControlPlane, postgres } from "narthex"

// A member of this module would be lost when it is loaded again.
const kept = globalThis as { narthex?: Promise<ControlPlane> }

/** In memory without `DATABASE_URL`; on Postgres with it, and then with the secret in `NARTHEX_SECRET`. */
const make = () => {
  const { DATABASE_URL: url, NARTHEX_SECRET: secret } = process.env
  const stored = url === undefined ? {} : { storage: postgres(url) }
  return createControlPlane({ basePath: "/api", ...stored, ...(secret === undefined ? {} : { secret }) })
}

export const controlPlane = (): Promise<ControlPlane> => {
  kept.narthex ??= make()
  return kept.narthex
}
