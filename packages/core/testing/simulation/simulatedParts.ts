/** The ports of a simulated platform: memory layers with seeded faults, people who need no provider, seeded secrets. */
import { Clock, DateTime, Effect, Layer, Random, Redacted } from "effect"
import { Entropy } from "../../src/Entropy.ts"
import { layerMemoryPorts } from "../../src/memoryPorts.ts"
import { KeyDigester } from "../../src/records/keys/KeyDigester.ts"
import { IdentityProvider, InvalidIdToken } from "../../src/services/sign-in/IdentityProvider.ts"
import { Chance } from "./Chance.ts"
import { defaultFaults, type Faults, layerFaultyComputes, layerFaultyTransactions } from "./faults.ts"

/** People identify themselves by their address: it stands for an id token, which is fresh at each use. */
const layerPeople = Layer.effect(
  IdentityProvider,
  Effect.map(Clock.Clock, (clock) => {
    let tokens = 0
    return IdentityProvider.of({
      providers: [],
      verify: ({ id_token }) => {
        const email = Redacted.value(id_token)
        if (!email.includes("@")) return Effect.fail(new InvalidIdToken({ cause: "not an address" }))
        return Effect.succeed({
          provider: "simulation",
          issuer: "https://simulation.invalid",
          subject: email,
          email,
          email_verified: true,
          name: null,
          token_digest: `id token ${++tokens}`,
          expires_at: DateTime.makeUnsafe(clock.currentTimeMillisUnsafe() + 3_600_000)
        })
      }
    })
  })
)

/** For one platform: a second one on the same parts would draw from the same choices. */
export const simulatedParts = (seed: number, faults: Partial<Faults> = {}) => {
  const chance = new Chance(seed)
  const entropy = new Chance(seed + 1)
  const wrong = { ...defaultFaults, ...faults }
  const bytes = (count: number) => Uint8Array.from({ length: count }, () => entropy.below(256))
  return {
    /** Where random choices, ids and secrets come from. */
    references: Layer.merge(
      Layer.succeed(Entropy, { bytes: (count) => Effect.sync(() => bytes(count)) }),
      Layer.succeed(Random.Random, {
        nextDoubleUnsafe: () => chance.next(),
        nextIntUnsafe: () => chance.below(2 ** 31)
      })
    ),
    storage: layerFaultyTransactions(chance, wrong).pipe(Layer.provideMerge(layerMemoryPorts)),
    computes: layerFaultyComputes(chance, wrong),
    identity: layerPeople,
    digester: KeyDigester.layer({ id: "1", key: Redacted.make(bytes(32)) })
  }
}
