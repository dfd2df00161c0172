/** The public surface of the package: re-exports only. */
export { type HttpOptions, layerHttp } from "./server/http.ts"
export { layerStdio, type StdioOptions } from "./server/stdio.ts"
export { type Dial, network } from "./sql/dial.ts"
