/** A consumer imports every entry of every library. `tarballs.test.ts` checks its types and does not run it. */
import * as api from "@narthex/api"
import * as computeRoles from "@narthex/compute-roles"
import * as roleContracts from "@narthex/compute-roles/testing"
import * as console from "@narthex/console"
import * as core from "@narthex/core"
import * as contracts from "@narthex/core/testing"
import * as providers from "@narthex/dev-providers"
import * as http from "@narthex/http"
import * as web from "@narthex/http/web"
import * as kubernetes from "@narthex/kubernetes"
import * as kubernetesOptions from "@narthex/kubernetes/options"
import * as localPostgres from "@narthex/local-postgres"
import * as postgres from "@narthex/postgres"
import * as proxy from "@narthex/proxy"
import * as narthex from "narthex"
import * as testing from "narthex/testing"

export const entries: ReadonlyArray<object> = [
  api,
  computeRoles,
  roleContracts,
  console,
  core,
  contracts,
  providers,
  http,
  web,
  kubernetes,
  kubernetesOptions,
  localPostgres,
  postgres,
  proxy,
  narthex,
  testing
]

/** The names that a newcomer meets first have the types that the pages show. */
export const firstSteps = async () => {
  await using cp = await narthex.createControlPlane({ log: "off" })
  const ada = await cp.people.ensure({ subject: "user_42" })
  const remote: api.Client = api.createClient({ baseUrl: "https://api.example.com", credential: "nsk_…" })
  const { project } = await cp.client(await cp.sessions.start(ada)).projects.create({ name: "shop" })
  await using world = await testing.simulate({ seed: 7 })
  return [project.id, remote, world]
}
