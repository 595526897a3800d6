type Environment = Readonly<Record<string, string | undefined>>;

/** How people call this program where it was called now: by its name, or through `npx` when it is not on the PATH. */
export function commandName(env: Environment): string {
  return env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx' ? 'npx capstan' : 'capstan';
}

/** Commands quoted in a text, or set off as an example on a line of its own, so that they can be copied as they are. */
export function asInvoked(text: string, env: Environment): string {
  const name = commandName(env);
  return name === 'capstan' ? text : text.replace(/(`|^ {2,}(?:[A-Z_]+=\S+ )*)capstan (?=[a-z-])/gm, `$1${name} `);
}
