import type { Command } from 'commander';
import type { CommandContext } from '../context.ts';

interface Word {
  path: string;
  words: string[];
}

/** Prints a static completion script: commands and flags, straight from the program's own definition. */
export async function completion(program: Command, { stdout }: CommandContext, shell: string): Promise<number> {
  const table = collect(program, '');
  switch (shell) {
    case 'bash':
      stdout(bash(table));
      break;
    case 'zsh':
      stdout(`#compdef capstan\nautoload -U +X bashcompinit && bashcompinit\n${bash(table)}`);
      break;
    case 'fish':
      stdout(fish(table));
      break;
    case 'powershell':
      stdout(powershell(table));
      break;
  }
  return 0;
}

function collect(command: Command, path: string): Word[] {
  const flags = command.options.filter((option) => !option.hidden).map((option) => option.long ?? option.short ?? '');
  const choices = command.registeredArguments[0]?.argChoices ?? [];
  const words = [...command.commands.map((child) => child.name()), ...choices, ...flags, '--help'];
  return [
    { path, words },
    // Flags go on after an argument; the argument itself does not come twice.
    ...choices.map((choice) => ({ path: `${path} ${choice}`.trim(), words: [...flags, '--help'] })),
    ...command.commands.flatMap((child) => collect(child, `${path} ${child.name()}`.trim())),
  ];
}

function bash(table: readonly Word[]): string {
  const cases = table.map(({ path, words }) => `    "${path}") words="${words.join(' ')}" ;;`).join('\n');
  return `_capstan() {
  local path="" word words i
  for ((i = 1; i < COMP_CWORD; i++)); do
    word="\${COMP_WORDS[i]}"
    case "$word" in -*) ;; *) path="\${path:+$path }$word" ;; esac
  done
  case "$path" in
${cases}
    *) words="" ;;
  esac
  COMPREPLY=($(compgen -W "$words" -- "\${COMP_WORDS[COMP_CWORD]}"))
  [ \${#COMPREPLY[@]} -eq 0 ] && COMPREPLY=($(compgen -f -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _capstan capstan
`;
}

function fish(table: readonly Word[]): string {
  return table
    .flatMap(({ path, words }) => {
      const condition =
        path === ''
          ? '__fish_use_subcommand'
          : path
              .split(' ')
              .map((part) => `__fish_seen_subcommand_from ${part}`)
              .join('; and ');
      return words.map((word) =>
        word.startsWith('--')
          ? `complete -c capstan -n '${condition}' -l ${word.slice(2)}`
          : `complete -c capstan -n '${condition}' -f -a ${word}`,
      );
    })
    .join('\n')
    .concat('\n');
}

function powershell(table: readonly Word[]): string {
  const entries = table
    .map(({ path, words }) => `  '${path}' = @(${words.map((word) => `'${word}'`).join(', ')})`)
    .join('\n');
  return `$capstanWords = @{
${entries}
}
Register-ArgumentCompleter -Native -CommandName capstan -ScriptBlock {
  param($wordToComplete, $commandAst, $cursorPosition)
  $path = ($commandAst.CommandElements | Select-Object -Skip 1 | ForEach-Object { $_.ToString() } | Where-Object { $_ -notlike '-*' -and $_ -ne $wordToComplete }) -join ' '
  $capstanWords[$path] | Where-Object { $_ -like "$wordToComplete*" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
}
`;
}
