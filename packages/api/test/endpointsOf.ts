/** The endpoints of an API, flat. */
import { HttpApi, type HttpApiEndpoint, type HttpApiGroup } from "effect/http-api"

export interface Listed {
  readonly group: string
  readonly endpoint: HttpApiEndpoint.Top
}

export const endpointsOf = <Id extends string, Groups extends HttpApiGroup.Constraint>(
  api: HttpApi.HttpApi<Id, Groups>
): ReadonlyArray<Listed> => {
  const found: Array<Listed> = []
  HttpApi.reflect(api, {
    onGroup: () => {},
    onEndpoint: ({ endpoint, group }) => {
      found.push({ group: group.identifier, endpoint: endpoint as unknown as HttpApiEndpoint.Top })
    }
  })
  return found
}
