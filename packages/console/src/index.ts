/** The public surface of the console: re-exports, nothing else. */
export { layerConsole } from "./Console.ts"
export { type ConsoleConfig, callbackUrl, type SignInProvider } from "./ConsoleConfig.ts"
export { ConsoleListener, type ConsoleListenerOptions, layerConsoleServer } from "./ConsoleServer.ts"
export { Relays } from "./relay/Relays.ts"
