/** Completion scripts, which call the program for candidates and so stay up to date. */
export const completionScripts: Readonly<Record<string, string>> = {
  bash: bash(),
  zsh: `#compdef capstan\nautoload -U +X bashcompinit && bashcompinit\n${bash()}`,
  fish: `function __capstan_complete
  set -l words (commandline -opc)
  set -e words[1]
  set -l current (commandline -ct)
  set -l found (capstan __complete -- $words "$current" 2>/dev/null)
  if test "$found" = ":files"
    __fish_complete_path "$current"
  else
    printf '%s\\n' $found
  end
end
complete -c capstan -f -a '(__capstan_complete)'
`,
  powershell: `Register-ArgumentCompleter -Native -CommandName capstan -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $words = @($commandAst.CommandElements | Select-Object -Skip 1 | Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.ToString() })
  & capstan __complete -- @words "$wordToComplete" 2>$null | Where-Object { $_ -ne ':files' } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`,
};

function bash(): string {
  return `_capstan() {
  local current="\${COMP_WORDS[COMP_CWORD]}" found
  found="$(capstan __complete -- "\${COMP_WORDS[@]:1:COMP_CWORD}" 2>/dev/null)"
  COMPREPLY=()
  if [ "$found" = ":files" ]; then
    COMPREPLY=($(compgen -f -- "$current"))
    type compopt >/dev/null 2>&1 && compopt -o filenames
    return
  fi
  # behind the = of an option, which bash takes for a word of its own, only the value is written
  [ "$current" = "=" ] && current=""
  local IFS=$'\\n'
  COMPREPLY=($(compgen -W "$found" -- "$current"))
}
complete -F _capstan capstan
`;
}
