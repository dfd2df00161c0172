// Loads the bundle with the code that V8 made of it in an earlier run.
//
// Node's own compile cache has what V8 makes when a file is loaded, and not the functions that are called later: to compile
// those took a quarter of a command's time. So the code is taken at the end of a run, and again when a later run loads
// a file of the bundle for the first time. A run that failed has not called what a command needs.
//
// Pitfall: a name without the content of the file. V8 compares lengths, so the code of another version would be executed.
// The files of the bundle have a digest of their content in their names.
// Pitfall: trusting V8 with damaged code. It compares a header and crashes, each time. So the code is there twice, and compared:
// the module with checksums takes longer to load than that.
"use strict"
const { mkdirSync, readFileSync, renameSync, writeFileSync } = require("node:fs")
const { basename, dirname, join } = require("node:path")
const { Script } = require("node:vm")

// Undefined where there is none, or a damaged one. V8 itself rejects that of another version or with other options.
const keptCode = (path) => {
  try {
    const bytes = readFileSync(path)
    const half = bytes.length / 2
    const code = bytes.subarray(0, half)
    return half > 0 && code.equals(bytes.subarray(half)) ? code : undefined
  } catch {
    return undefined
  }
}

// Flushed and renamed, so that no file is ever partial.
const keep = (folder, scripts) => {
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    for (const [path, script] of scripts) {
      const code = script.createCachedData()
      const draft = `${path}.${process.pid}`
      writeFileSync(draft, Buffer.concat([code, code]), { flush: true, mode: 0o600 })
      renameSync(draft, path)
    }
  } catch {
    // Nothing can be kept here, for example on a read-only disk: the next run compiles again.
  }
}

// `folder`: where code is kept; undefined: nowhere.
exports.loadBundle = (entry, folder) => {
  const modules = new Map()
  const scripts = new Map()
  let isComplete = true

  const load = (file) => {
    const known = modules.get(file)
    if (known !== undefined) return known.exports
    const loaded = { exports: {} }
    modules.set(file, loaded)
    // The entry only loads another file, and its name has no digest.
    const path = folder === undefined || file === entry ? undefined : join(folder, `${basename(file)}.code`)
    const cachedData = path === undefined ? undefined : keptCode(path)
    const source = `(function (exports, require, module) {${readFileSync(file, "utf8")}\n})`
    const script = new Script(source, { filename: file, cachedData })
    if (path !== undefined) {
      scripts.set(path, script)
      if (cachedData === undefined || script.cachedDataRejected) isComplete = false
    }
    const here = dirname(file)
    const required = (name) => (name.startsWith(".") ? load(join(here, name)) : process.getBuiltinModule(name))
    script.runInThisContext().call(loaded.exports, loaded.exports, required, loaded)
    return loaded.exports
  }

  process.on("exit", (code) => {
    if (code === 0 && !isComplete) keep(folder, scripts)
  })
  load(entry)
}
