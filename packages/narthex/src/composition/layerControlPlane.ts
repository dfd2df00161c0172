/**
 * The services of the core over what the options choose: the one composition, with and without Effect.
 *
 * Parts end in the reverse order of their dependencies: the runner gives its operations back first, storage ends last.
 */
import { EventFeed, layerMemoryComputes, layerRunner, layerServices, RegionCatalog, RegionId } from "@narthex/core"
import { Draining, layerWebhookSender } from "@narthex/http/web"
import { Effect, Layer } from "effect"
import { invalidOptions } from "../failures/failures.ts"
import type { CoreOptions } from "../options/ControlPlaneOptions.ts"
import { problemOfOptions } from "../options/checkOptions.ts"
import { memory } from "../options/Storage.ts"
import { layerIdentity } from "./identity.ts"
import { layerReferences } from "./references.ts"
import { layerSecrets } from "./secrets.ts"

const seeded = (regions: ReadonlyArray<string>) =>
  Layer.effectDiscard(RegionCatalog.use(({ seed }) => seed(regions.map((region) => RegionId.make(region)))))

/** A call of the first moment would find a feed that has not reached the log, and be refused. */
const fed = Layer.effectDiscard(EventFeed.use(({ ready }) => ready))

/** Every service, without the background work. The options are valid. */
export const layerCore = (options: CoreOptions) =>
  Layer.merge(seeded(options.regions ?? ["local"]), fed).pipe(
    Layer.provideMerge(layerServices),
    Layer.provideMerge(Draining.layer),
    Layer.provideMerge(Layer.merge(layerSecrets(options), layerWebhookSender())),
    Layer.provideMerge(Layer.merge(layerIdentity(options), Layer.orDie(options.computes ?? layerMemoryComputes))),
    Layer.provideMerge((options.storage ?? memory()).layer),
    Layer.provideMerge(layerReferences(options))
  )

/** The services of the core that a host uses. */
export type Services = Layer.Success<ReturnType<typeof layerCore>>

/** The background work, unless another process does it. */
export const layerWork = ({ runner = true }: CoreOptions): typeof layerRunner | Layer.Layer<never> =>
  runner ? layerRunner : Layer.empty

const layerChecked = (options: CoreOptions) => Layer.provideMerge(layerWork(options), layerCore(options))

/** Every service, and the background work. It fails with `invalid_options` before anything is started. */
export const layerControlPlane = (options: CoreOptions): ReturnType<typeof layerChecked> => {
  const problem = problemOfOptions(options)
  return problem === undefined ? layerChecked(options) : Layer.unwrap(Effect.fail(invalidOptions(problem)))
}
