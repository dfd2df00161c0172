/**
 * `narthex-server doctor`: examines what a start depends on, all of it, and changes nothing. It makes the checks of the
 * start, which ends with the first that fails.
 */
import { makeIssuerKeys } from "@narthex/http"
import { Console, Effect, References, Schema } from "effect"
import { hostPort, settleAddresses } from "../addresses.ts"
import { checkListeners, listenersOf } from "../listeners.ts"
import type { Settings } from "../settings/Settings.ts"
import { examineComputes } from "./examineComputes.ts"
import { examineCertificate, examineDisks, examineSecrets } from "./examineFiles.ts"
import { examineStore } from "./examineStore.ts"
import { type Examination, type Finding, fine, warning, wrong } from "./Finding.ts"

/** A port that an instance of Narthex has, this one for example, is as it should be. */
const serves = (url: string) =>
  Effect.promise(() =>
    fetch(`${url}/livez`, { signal: AbortSignal.timeout(2000) }).then(
      ({ ok }) => ok,
      () => false
    )
  )

const examinePorts = (settings: Settings): Examination =>
  Effect.gen(function* () {
    const addresses = yield* settleAddresses(settings)
    if (yield* serves(`http://${hostPort(addresses.api)}`))
      return [fine("ports", "An instance serves here, so its ports are not examined.")]
    const wanted = listenersOf(addresses, settings, ["api", "console", "proxy", "admin"])
    return yield* Effect.forEach(wanted, (one) =>
      Effect.match(checkListeners([one]), {
        onFailure: ({ reason }) => wrong("ports", reason),
        onSuccess: () => fine("ports", `${one.name} can listen on ${hostPort(one)}.`)
      })
    )
  })

const examineIssuers = ({ dev_providers, providers }: Settings): Examination =>
  providers.length === 0 && dev_providers === null
    ? Effect.succeed([warning("issuers", "No identity provider is set, so nobody can sign in. Set NARTHEX_PROVIDERS.")])
    : Effect.forEach(providers, ({ issuer }) =>
        Effect.flatMap(makeIssuerKeys(issuer), ({ current }) => current).pipe(
          Effect.provideService(References.MinimumLogLevel, "None"),
          Effect.match({
            onFailure: ({ reason }) =>
              wrong(
                "issuers",
                `The keys of ${issuer} cannot be fetched: ${reason}. Correct NARTHEX_PROVIDERS, or let this machine reach it.`
              ),
            onSuccess: () => fine("issuers", `${issuer} answers with its keys.`)
          })
        )
      )

/** All findings, in a fixed order. */
export const examine = (settings: Settings): Examination =>
  Effect.map(
    Effect.all(
      [
        examineStore(settings),
        examineSecrets(settings),
        examinePorts(settings),
        examineCertificate(settings),
        examineIssuers(settings),
        examineDisks(settings),
        examineComputes(settings)
      ],
      { concurrency: "unbounded" }
    ),
    (found) => found.flat()
  )

/** Something is wrong. The findings are printed. */
export class Unfit extends Schema.TaggedError<Unfit>()("Unfit", { count: Schema.Int }) {
  override get message() {
    return this.count === 1 ? "One thing has to be corrected." : `${this.count} things have to be corrected.`
  }
}

const line = ({ part, state, text }: Finding) => `${state.padEnd(7)}  ${part.padEnd(13)}  ${text}`

/** Prints a line for each finding, and fails if one is a mistake. */
export const doctor = Effect.fn("doctor")(function* (settings: Settings) {
  const found = yield* examine(settings)
  yield* Effect.forEach(found, (finding) => Console.log(line(finding)), { discard: true })
  const count = found.filter(({ state }) => state === "wrong").length
  if (count > 0) return yield* new Unfit({ count })
})
