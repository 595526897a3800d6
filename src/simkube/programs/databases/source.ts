/** Address of a database and schema. */
export interface DataSource {
  readonly kind: 'postgres' | 'mysql' | 'nats' | 'sqlite';
  readonly host: string;
  readonly port: number;
  readonly schema: string;
}

const ports = { postgres: 5432, mysql: 3306, nats: 4222, sqlite: 0 } as const;

/** Parses a database address in kine's format; undefined if invalid. */
export function parseDataSource(text: string): DataSource | undefined {
  if (text === '' || text.startsWith('sqlite')) return { kind: 'sqlite', host: '', port: 0, schema: 'kine' };
  const match =
    /^(postgres(?:ql)?|mysql|nats):\/\/(?:[^@/]*@)?(?:tcp\()?(\[[^\]]+\]|[^:/)?]+)(?::(\d+))?\)?(?:\/([^?]*))?(?:\?(.*))?$/.exec(
      text,
    );
  if (!match) return undefined;
  const [, scheme = '', host = '', port, schema, query] = match;
  const kind = scheme.startsWith('postgres') ? 'postgres' : (scheme as 'mysql' | 'nats');
  const bucket = new URLSearchParams(query).get('bucket');
  return {
    kind,
    host: host.replace(/^\[|\]$/g, ''),
    port: Number(port) || ports[kind],
    schema: schema || bucket || 'kubernetes',
  };
}
