/** The supported part of a unit file. */
export interface Unit {
  readonly description: string | undefined;
  readonly type: string;
  readonly conditions: readonly { readonly path: string; readonly isNegated: boolean; readonly kind: string }[];
  readonly after: readonly string[];
  readonly before: readonly string[];
  readonly start: readonly string[];
  readonly startPre: readonly string[];
  readonly startPost: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
  readonly environmentFiles: readonly string[];
  readonly workingDirectory: string | undefined;
  readonly restart: string;
  readonly restartMs: number;
  readonly wantedBy: readonly string[];
}

/** Parses unit files. Later ones extend and override earlier ones. Unknown lines are ignored. */
export function parseUnit(...texts: readonly string[]): Unit {
  const values = new Map<string, string[]>();
  for (const text of texts) {
    let section = '';
    for (const raw of text.replaceAll('\\\n', ' ').split('\n')) {
      const line = raw.trim();
      if (line === '' || line.startsWith('#') || line.startsWith(';')) continue;
      if (line.startsWith('[')) {
        section = line.slice(1, -1);
        continue;
      }
      const equals = line.indexOf('=');
      if (equals < 0) continue;
      const key = `${section}.${line.slice(0, equals).trim()}`;
      const value = line.slice(equals + 1).trim();
      // In systemd an empty value resets the list.
      if (value === '') values.delete(key);
      else values.set(key, [...(values.get(key) ?? []), value]);
    }
  }
  const all = (key: string): readonly string[] => values.get(key) ?? [];
  const last = (key: string): string | undefined => all(key).at(-1);
  const words = (key: string): string[] => all(key).flatMap((value) => value.split(/\s+/));
  const environment: Record<string, string> = {};
  for (const value of all('Service.Environment')) {
    for (const [, quoted, bare = ''] of value.matchAll(/"([^"]*)"|([^\s"]+)/g)) {
      const assignment = quoted ?? bare;
      const equals = assignment.indexOf('=');
      if (equals > 0) environment[assignment.slice(0, equals)] = assignment.slice(equals + 1);
    }
  }
  return {
    description: last('Unit.Description'),
    type: last('Service.Type') ?? 'simple',
    conditions: ['ConditionPathExists', 'ConditionFileNotEmpty', 'ConditionPathIsDirectory'].flatMap((kind) =>
      all(`Unit.${kind}`).map((value) => ({
        kind,
        path: value.replace(/^!/, ''),
        isNegated: value.startsWith('!'),
      })),
    ),
    after: [...words('Unit.After'), ...words('Unit.Requires'), ...words('Unit.Wants')],
    before: words('Unit.Before'),
    start: all('Service.ExecStart'),
    startPre: all('Service.ExecStartPre'),
    startPost: all('Service.ExecStartPost'),
    environment,
    environmentFiles: all('Service.EnvironmentFile'),
    workingDirectory: last('Service.WorkingDirectory'),
    restart: last('Service.Restart') ?? 'no',
    restartMs: seconds(last('Service.RestartSec') ?? '100ms'),
    wantedBy: words('Install.WantedBy'),
  };
}

function seconds(text: string): number {
  const match = /^(\d+(?:\.\d+)?)\s*(ms|s|sec|min|m)?$/.exec(text);
  if (!match) return 100;
  const unit = { ms: 1, s: 1000, sec: 1000, min: 60_000, m: 60_000 }[match[2] ?? 's'] ?? 1000;
  return Number(match[1]) * unit;
}
