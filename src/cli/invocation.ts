type Environment = Readonly<Record<string, string | undefined>>;

/** Returns how the program was called: by name, or through `npx` if it is not on the PATH. */
export function commandName(env: Environment): string {
  return env['npm_command'] === 'exec' && env['npm_lifecycle_event'] === 'npx' ? 'npx capstan' : 'capstan';
}

/** Rewrites commands in backquotes and on example lines, so that they can be copied. */
export function asInvoked(text: string, env: Environment): string {
  const name = commandName(env);
  return name === 'capstan' ? text : text.replace(/(`|^ {2,}(?:[A-Z_]+=\S+ )*)capstan (?=[a-z-])/gm, `$1${name} `);
}
