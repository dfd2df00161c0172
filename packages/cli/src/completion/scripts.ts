/**
 * The scripts of `narthex completion <shell>`. They ask the hidden command `narthex __complete <shell> <words…>`, whose last
 * word is at the cursor. It prints a line for each candidate: the word, a tab, and a description.
 *
 * Pitfall: showing what the hidden command says on standard error. It would appear in the line that is being typed.
 */
import type { Candidate } from "./planCompletion.ts"

export const shells = ["bash", "zsh", "fish", "powershell"] as const
export type Shell = (typeof shells)[number]

export const scripts: Readonly<Record<Shell, string>> = {
  bash: `# narthex completion bash: source <(narthex completion bash) in ~/.bashrc
_narthex() {
  # bash splits words at COMP_WORDBREAKS too, and replaces only the last part: the others stand before it.
  local rest="$COMP_LINE" part before="" i last=-1
  local -a words=()
  for ((i = 0; i <= COMP_CWORD; i++)); do
    part="\${COMP_WORDS[i]}"
    if ((last < 0)) || [[ -z $part || $rest == [[:space:]]* ]]; then
      before=""
      words[++last]="$part"
    else
      before="\${words[last]}"
      words[last]+="$part"
    fi
    rest="\${rest#*"$part"}"
  done
  case "$part" in
    [\\"\\']*) ;;
    ?*) [[ $COMP_WORDBREAKS == *"\${part:0:1}"* ]] && before="\${words[last]}" ;;
  esac
  COMPREPLY=()
  while IFS= read -r part; do
    [[ $part == "$before"* ]] && COMPREPLY+=("\${part#"$before"}")
  done < <(narthex __complete bash "\${words[@]:1}" 2>/dev/null | cut -f 1)
}
complete -o default -F _narthex narthex`,
  zsh: `#compdef narthex
# narthex completion zsh: source <(narthex completion zsh) in ~/.zshrc, after compinit
_narthex() {
  local line
  local -a candidates
  for line in "\${(@f)$(narthex __complete zsh "\${(@)words[2,CURRENT]}" 2>/dev/null)}"; do
    [[ -n $line ]] && candidates+=("\${\${line%%$'\\t'*}//:/\\\\:}:\${line#*$'\\t'}")
  done
  _describe narthex candidates
}
compdef _narthex narthex`,
  fish: `# narthex completion fish > ~/.config/fish/completions/narthex.fish
function __narthex_complete
  set -l before (commandline -opc)
  set -l last (commandline -ct)
  narthex __complete fish $before[2..-1] "$last" 2>/dev/null
end
complete -c narthex -f -a '(__narthex_complete)'`,
  powershell: `# narthex completion powershell | Out-String | Invoke-Expression
Register-ArgumentCompleter -Native -CommandName narthex -ScriptBlock {
  param($word, $ast, $cursor)
  $before = @($ast.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursor } |
    ForEach-Object { $_.ToString() })
  narthex __complete powershell @before "=$word" 2>$null | ForEach-Object {
    $value, $text = $_ -split "\`t", 2
    $tip = if ($text) { $text } else { $value }
    [System.Management.Automation.CompletionResult]::new($value, $value, "ParameterValue", $tip)
  }
}`
}

/**
 * The words of `__complete`. bash's are as they are typed, with quotes and backslashes. PowerShell drops empty arguments,
 * so its script puts `=` before the last word.
 */
export const wordsFrom = (shell: Shell, args: ReadonlyArray<string>): ReadonlyArray<string> => {
  if (shell === "bash") return args.map((word) => unquoted(word).text)
  if (shell !== "powershell") return args
  return args.map((word, index) => (index === args.length - 1 ? word.replace(/^=/, "") : word))
}

/** A word of a command line without what quotes it, and the quote that is open at its end. */
const unquoted = (word: string): { readonly text: string; readonly open: string } => {
  let [text, open] = ["", ""]
  for (let at = 0; at < word.length; at++) {
    const [character = "", next = ""] = [word[at], word[at + 1]]
    if (character === open) open = ""
    else if (open === "" && (character === "'" || character === '"')) open = character
    else if (character === "\\" && (open === "" || (open === '"' && '"\\$`'.includes(next)))) {
      text += next
      at += 1
    } else text += character
  }
  return { text, open }
}

/**
 * A line for each candidate. Names with characters that mean something to a shell are quoted where it does not do so.
 * `typed` is the last word as the shell has it.
 */
export const candidateLines = (shell: Shell, candidates: ReadonlyArray<Candidate>, typed = ""): string => {
  const { open } = unquoted(typed)
  return candidates.map(({ description, value }) => `${quoted(shell, value, open)}\t${oneLine(description)}`).join("\n")
}

const quoted = (shell: Shell, value: string, open: string): string => {
  const text = value.replace(/\p{Cc}/gu, "")
  if (shell === "bash" && open === "'") return text.replaceAll("'", "'\\''")
  if (shell === "bash" && open === '"') return text.replace(/["\\$`]/g, (character) => `\\${character}`)
  if (shell === "bash") return text.replace(/[^\p{L}\p{N}_@%+=:,./-]/gu, (character) => `\\${character}`)
  if (shell === "powershell" && !/^[\p{L}\p{N}_./=-]*$/u.test(text)) return `'${text.replaceAll("'", "''")}'`
  return text
}

const oneLine = (text: string) => text.replace(/[\p{Cc}\s]+/gu, " ").trim()
