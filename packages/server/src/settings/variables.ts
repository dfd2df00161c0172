/**
 * Every variable of the server (docs/design/settings.md S1, S3): its name, form, default and meaning. Nothing else of the
 * environment is read. `Settings`, `narthex-server settings` and docs/settings.md derive from this table; a default
 * that an embedder has without any variable is taken from the package that defines it.
 *
 * The names are a contract. The command line has variables of its own (`narthex help environment`).
 */
import { identity } from "./variables/identity.ts"
import { limits } from "./variables/limits.ts"
import { platform } from "./variables/platform.ts"
import { quotas } from "./variables/quotas.ts"
import { listeners, output, store } from "./variables/serving.ts"

export const variables = { ...store, ...listeners, ...identity, ...platform, ...quotas, ...limits, ...output }
