/**
 * Shows the proposal of an agent, which is in the fragment of the address (docs/design/console.md W58). Browsers send a
 * fragment to no server.
 */

const mostCharacters = { project: 64, branch: 64, name: 64, sql: 6000, reason: 1000 }

/** Characters that hide or reorder others, and those that a terminal would take for commands. */
const misleading = /(?![\n\t])[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u

/** The members of a proposal, or `undefined` if the fragment has none. The ids are part of a command that people copy. */
const proposalIn = (fragment) => {
  try {
    const base64 = fragment.replaceAll("-", "+").replaceAll("_", "/")
    const bytes = Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
    const shown = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes))
    for (const [member, most] of Object.entries(mostCharacters)) {
      const text = shown[member]
      if (typeof text !== "string" || text === "" || text.length > most || misleading.test(text)) return undefined
    }
    const ids = /^prj-[0-9a-z]+$/.test(shown.project) && /^br-[0-9a-z]+$/.test(shown.branch)
    return ids ? shown : undefined
  } catch {
    return undefined
  }
}

class AgentProposal extends HTMLElement {
  connectedCallback() {
    this.show()
    addEventListener("hashchange", () => this.show())
  }

  show() {
    const shown = proposalIn(location.hash.slice(1))
    const [unreadable, readable] = this.children
    unreadable.hidden = shown !== undefined
    readable.hidden = shown === undefined
    if (shown === undefined) return
    const { branch, name, project, reason, sql } = shown
    const texts = { branch: `${name} (${branch})`, reason, sql, command: `narthex psql ${project} --branch ${branch}` }
    for (const [id, text] of Object.entries(texts)) document.getElementById(`proposal-${id}`).textContent = text
  }
}

customElements.define("agent-proposal", AgentProposal)
