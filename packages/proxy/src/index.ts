/** The public surface of the proxy: re-exports only. */
export type { Admitted } from "./allowlist/checkAllowlist.ts"
export * from "./control-plane/ControlPlane.ts"
export * from "./control-plane/HttpControlPlane.ts"
export { type ConnectionLimits, defaultConnectionLimits } from "./limits/ConnectionLimiter.ts"
export { CannotListen } from "./listen.ts"
export { type TlsFiles, UnusableCertificate } from "./opening/Tls.ts"
export { Proxy, type ProxyError, runProxy } from "./Proxy.ts"
export { defaultProxySettings, type ProxyConfig, UnreadableNetwork } from "./ProxyConfig.ts"
