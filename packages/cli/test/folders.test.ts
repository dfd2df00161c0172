import { assert, describe, it } from "@effect/vitest"
import { cacheFolder, configFolder } from "../src/environment/folders.ts"
import { openers } from "../src/login/openers.ts"

const folders = (platform: string, home: string, variables: Readonly<Record<string, string>> = {}) => {
  const lookup = (name: string) => variables[name]
  return [configFolder(lookup, { home, platform }), cacheFolder(lookup, { home, platform })]
}

describe("folders", () => {
  it("each system has its own folders for configuration and cache", () => {
    assert.deepStrictEqual(folders("linux", "/home/ada"), ["/home/ada/.config/narthex", "/home/ada/.cache/narthex"])
    assert.deepStrictEqual(folders("darwin", "/Users/ada"), [
      "/Users/ada/.config/narthex",
      "/Users/ada/Library/Caches/narthex"
    ])
    assert.deepStrictEqual(folders("win32", "C:\\Users\\ada"), [
      "C:\\Users\\ada\\AppData\\Roaming\\narthex",
      "C:\\Users\\ada\\AppData\\Local\\narthex"
    ])
  })

  it("variables move the folders: those of Windows on Windows, those of XDG everywhere", () => {
    const roaming = { APPDATA: "D:\\Roaming", LOCALAPPDATA: "D:\\Local" }
    assert.deepStrictEqual(folders("win32", "C:\\Users\\ada", roaming), ["D:\\Roaming\\narthex", "D:\\Local\\narthex"])
    assert.deepStrictEqual(folders("linux", "/home/ada", roaming)[0], "/home/ada/.config/narthex")
    for (const platform of ["linux", "darwin"])
      assert.deepStrictEqual(folders(platform, "/home/ada", { XDG_CONFIG_HOME: "/c", XDG_CACHE_HOME: "/k" }), [
        "/c/narthex",
        "/k/narthex"
      ])
    assert.deepStrictEqual(folders("win32", "C:\\", { ...roaming, XDG_CONFIG_HOME: "E:\\c" })[0], "E:\\c\\narthex")
  })
})

describe("the commands that open a page", () => {
  const url = "http://127.0.0.1:4400/cli/authorize?state=a&name=b%20c"

  it("each system has its own opener, and none of them is a shell, because a URL contains &", () => {
    assert.deepStrictEqual(openers(undefined, "linux", url), [["xdg-open", url]])
    assert.deepStrictEqual(openers(undefined, "darwin", url), [["open", url]])
    assert.deepStrictEqual(openers(undefined, "win32", url), [["rundll32", "url.dll,FileProtocolHandler", url]])
  })

  it("$BROWSER comes first: a list with the separator of the system, and %s stands for the URL", () => {
    assert.deepStrictEqual(openers("lynx -x %s:w3m", "linux", url), [
      ["lynx", "-x", url],
      ["w3m", url],
      ["xdg-open", url]
    ])
    assert.deepStrictEqual(openers("C:\\ie.exe; ", "win32", url)[0], ["C:\\ie.exe", url])
    assert.strictEqual(openers("C:\\ie.exe; ", "win32", url).length, 2)
  })
})
