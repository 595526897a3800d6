/** Where a database is, and what of it is meant. */
export interface DataSource {
  readonly kind: 'postgres' | 'mysql' | 'nats' | 'sqlite';
  readonly host: string;
  readonly port: number;
  readonly schema: string;
}

const ports = { postgres: 5432, mysql: 3306, nats: 4222, sqlite: 0 } as const;

/** Reads the address of a database as kine takes it; undefined when it cannot be one. */
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
