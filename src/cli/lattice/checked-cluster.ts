import {
  builtinDefinitions,
  builtinSchema,
  type LatticeCluster,
  LatticeClusters,
  ownDefinitions,
  protobufRegistry,
} from '../../api/index.ts';
import { controllerBackedPlugins, createApiServer, openObjectStore } from '../../apiserver/index.ts';
import { systemRandom } from '../../machinery/index.ts';
import { memoryEngine } from '../../store/index.ts';
import type { CommandContext } from '../context.ts';

/** Returns the object as an API would store it, or throws its refusal. Nothing is stored. */
export async function checkedCluster(
  cluster: LatticeCluster,
  { clock, signal }: Pick<CommandContext, 'clock' | 'signal'>,
): Promise<LatticeCluster> {
  const store = await openObjectStore({ engine: memoryEngine(), clock });
  const server = await createApiServer({
    store,
    clock,
    random: systemRandom,
    definitions: [...builtinDefinitions, ...ownDefinitions],
    admissionPlugins: { disable: controllerBackedPlugins },
    metaSchema: builtinSchema,
    protobuf: protobufRegistry,
    access: { mode: 'RBAC' },
  });
  try {
    const by = { fieldManager: 'capstan', dryRun: true, signal };
    const { apiVersion, kind, metadata, spec } = await server.localClient().create(LatticeClusters, cluster, by);
    const { name = '', labels, annotations } = metadata;
    return {
      apiVersion,
      kind,
      metadata: { name, ...(labels && { labels }), ...(annotations && { annotations }) },
      spec,
    };
  } finally {
    await server.stop(0);
    await store.close();
  }
}
