import {
  type ExtensionConfig,
  ExtensionConfigs,
  injectCaAnnotation,
  Namespaces,
  type Secret,
  Secrets,
} from '../../../api/index.ts';
import { type ObjectKey, objectKey } from '../../../client/index.ts';
import { deepEqual, errorMessage, isNotFound } from '../../../machinery/index.ts';
import { splitCertificates } from '../../../pki/index.ts';
import {
  afterPatiently,
  type CacheReader,
  type ControllerDefinition,
  changedBesidesStatus,
  defineController,
  done,
  type ReconcileContext,
  type Result,
  watchMapped,
  watchObjects,
} from '../../../runtime/index.ts';
import {
  draftOf,
  HookError,
  isDeleting,
  isFilteredOut,
  legacyFalse,
  legacyTrue,
  pausedBy,
  setLegacy,
  setPausedCondition,
  setVerdict,
  watchFilter,
  writeObject,
} from '../../shared/index.ts';
import { isServedByBuiltIn } from './built-in-server.ts';
import { discoverHandlers } from './discovery.ts';
import type { ExtensionTransport } from './transport.ts';

export interface ExtensionConfigControllerOptions {
  /** used to map events to ExtensionConfigs */
  cache: CacheReader;
  transport: ExtensionTransport;
  watchFilter?: string;
}

/** Rediscovery interval, because an update of an extension causes no event. */
const rediscoverMs = 10 * 60_000;
const discovered = 'Discovered';
const caKey = 'ca.crt';
/** index of ExtensionConfigs by namespace/name of their CA Secret */
const byCaSecret = 'caSecret';

/** Builds the controller of ExtensionConfigs, which injects the CA from a Secret and discovers handlers. */
export function extensionConfigController(options: ExtensionConfigControllerOptions): ControllerDefinition {
  const { transport, cache } = options;
  const usersOf = ({ metadata }: Secret): ObjectKey[] =>
    cache.lister(ExtensionConfigs).byIndex(byCaSecret, `${metadata.namespace}/${metadata.name}`).map(objectKey);

  const reconcile = async (context: ReconcileContext, key: ObjectKey): Promise<Result> => {
    const config = context.cache.lister(ExtensionConfigs).get(key);
    if (!config || isDeleting(config)) {
      await transport.forget(key.name);
      return done();
    }
    if (isFilteredOut(config, options.watchFilter)) return done();
    const draft = draftOf(config);
    const now = context.clock.now();
    const pauses = pausedBy(config, undefined);
    setPausedCondition(draft, pauses, now);
    if (pauses.length > 0) {
      await write(context, config, draft);
      return done();
    }
    if (await isServedByBuiltIn(context.client, config, context.signal)) {
      const message = 'its server is built in: no hook of it is asked';
      draft.status = { ...draft.status, handlers: [] };
      setVerdict(draft, discovered, { status: 'True', reason: discovered, message }, now);
      setLegacy(draft, discovered, legacyTrue, now);
      await write(context, config, draft);
      return afterPatiently(rediscoverMs, 'another server may take its place');
    }
    try {
      const bundle = await injectedBundle(context, config);
      if (bundle !== undefined) draft.spec.clientConfig.caBundle = bundle;
      draft.status = { ...draft.status, handlers: await discoverHandlers(transport, draft, context.signal) };
      setVerdict(draft, discovered, { status: 'True', reason: discovered }, now);
      setLegacy(draft, discovered, legacyTrue, now);
    } catch (error) {
      if (!(error instanceof HookError)) throw error;
      // keep the handlers: callers must not proceed without an extension that is down
      const message = `Error in discovery: ${errorMessage(error)}`;
      setVerdict(draft, discovered, { status: 'False', reason: 'NotDiscovered', message }, now);
      setLegacy(draft, discovered, legacyFalse('DiscoveryFailed', 'Error', message), now);
      await write(context, config, draft);
      throw error;
    }
    await write(context, config, draft);
    return afterPatiently(rediscoverMs, 'the extension may answer other hooks');
  };

  return defineController({
    name: 'extensionconfig',
    for: ExtensionConfigs,
    continuesAfterOwnWrite: 'everything',
    concurrency: 4,
    setup(informers) {
      // namespace labels determine which extensions are called
      informers.informer(Namespaces);
      informers.informer(ExtensionConfigs).addIndexer(byCaSecret, ({ metadata }) => {
        const secret = metadata.annotations?.[injectCaAnnotation];
        return secret === undefined ? [] : [secret];
      });
    },
    watches: [
      watchObjects(ExtensionConfigs, { predicates: [...watchFilter(options.watchFilter), changedBesidesStatus] }),
      watchMapped(Secrets, usersOf),
    ],
    reconcile,
  });
}

/** Sets observedGeneration on conditions; Cluster API's controllers ignore conditions without it. */
async function write(context: ReconcileContext, config: ExtensionConfig, draft: ExtensionConfig): Promise<void> {
  const { generation } = config.metadata;
  // writing the CA bundle increments the generation, and the conditions refer to the new one
  const written = generation === undefined || deepEqual(config.spec, draft.spec) ? generation : generation + 1;
  const conditions = draft.status?.conditions?.map((condition) => ({
    ...condition,
    ...(written !== undefined && { observedGeneration: written }),
  }));
  draft.status = { ...draft.status, ...(conditions && { conditions }) };
  await writeObject(context, ExtensionConfigs, config, draft, { observed: false });
}

/**
 * Returns the CA bundle from the annotated Secret; undefined without the annotation. Security: only certificates are
 * copied, because more users can read the ExtensionConfig than the Secret.
 */
async function injectedBundle(context: ReconcileContext, { metadata }: ExtensionConfig): Promise<string | undefined> {
  const name = metadata.annotations?.[injectCaAnnotation];
  if (name === undefined) return undefined;
  const [, namespace, secretName] = /^([^/]+)\/([^/]+)$/.exec(name) ?? [];
  if (namespace === undefined || secretName === undefined) {
    throw new HookError(`annotation ${injectCaAnnotation} must be <namespace>/<name> of a Secret, not "${name}"`);
  }
  const secret = await readSecret(context, { namespace, name: secretName });
  if (!secret) throw new HookError(`Secret ${name}, which annotation ${injectCaAnnotation} names, does not exist`);
  const encoded = secret.data?.[caKey];
  if (encoded === undefined) throw new HookError(`Secret ${name} has no key ${caKey}`);
  const certificates = splitCertificates(Buffer.from(encoded, 'base64').toString('utf8'));
  if (certificates.length === 0) throw new HookError(`key ${caKey} of Secret ${name} has no certificate in PEM`);
  return Buffer.from(certificates.join('')).toString('base64');
}

async function readSecret({ client, signal }: ReconcileContext, key: ObjectKey): Promise<Secret | undefined> {
  try {
    return await client.get(Secrets, key, { signal });
  } catch (error) {
    if (isNotFound(error)) return undefined;
    throw error;
  }
}
