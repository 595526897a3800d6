import type { SimulatedProgram } from '../../process.ts';
import { openOwnStore } from '../etcd/own-store.ts';
import { markEtcd } from '../etcd/way.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { between, program, untilStopped } from '../running.ts';

interface DatabaseKind {
  readonly port: number;
  readonly directory: string;
  readonly directoryVariable?: string;
  readonly ready: string;
}

const kinds: Readonly<Record<'postgres' | 'mysqld', DatabaseKind>> = {
  postgres: {
    port: 5432,
    directory: '/var/lib/postgresql/data',
    directoryVariable: 'PGDATA',
    ready: 'LOG:  database system is ready to accept connections',
  },
  mysqld: { port: 3306, directory: '/var/lib/mysql', ready: '[System] [MY-010931] mysqld: ready for connections.' },
};

/** A database as kine needs it: keeps the data in its directory, separately by schema. */
export function databaseProgram(kind: keyof typeof kinds): (kubernetes: SimulatedKubernetes) => SimulatedProgram {
  const { port, directory, directoryVariable, ready } = kinds[kind];
  return (kubernetes) =>
    program(async (process, closing) => {
      await process.pass(between(process, 200, 500));
      const place = (directoryVariable && process.env[directoryVariable]) || directory;
      const way = await openOwnStore(kubernetes, process, closing, { directory: place });
      closing.add(process.listen(port, markEtcd(localOnly(), way)));
      process.log(ready);
      await untilStopped(process);
      return 0;
    });
}
