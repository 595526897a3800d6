import { Deployments, type Namespace } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { type ChildInstaller, createServedKinds } from '../../controllers/index.ts';
import { type Clock, formatApiVersion, ignoreNotFound } from '../../machinery/index.ts';
import { applyInstallation, type KindLookup } from '../install/apply-installation.ts';
import { type Installation, installation } from '../install/installation.ts';
import { refuseSecondInstallation } from '../install/second-installation.ts';
import { controllersKey } from '../install/workload.ts';
import { findRegistrySecret, registryCopies, registryKey } from './registry-secret.ts';

/** Installs the same as `capstan install` into a cluster, with the image of the parent if it runs from one. */
export function childInstaller(parent: Client, clock: Clock): ChildInstaller {
  return {
    deployment: controllersKey,
    async install(child, { image, signal }) {
      await refuseSecondInstallation(child, signal);
      const wanted = await wantedFor(parent, image, signal);
      await applyInstallation(child, kindsOf(child), wanted, { clock, signal, onApplied: () => {} });
    },
    async objects(image, signal) {
      const { kinds, others } = await wantedFor(parent, image, signal);
      return [...kinds, ...others];
    },
  };
}

async function wantedFor(parent: Client, image: string | undefined, signal: AbortSignal): Promise<Installation> {
  const chosen = image ?? (await ownImage(parent, signal));
  const registry = await findRegistrySecret(parent, signal);
  const made = installation({
    replicas: 1,
    ...(chosen !== undefined && { image: chosen }),
    ...(registry && { pullSecret: registryKey.name }),
  });
  if (!registry) return made;
  const home: Namespace = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: registryKey.namespace } };
  const [namespace, ...others] = made.others;
  return { ...made, others: [...(namespace ? [namespace] : []), home, ...registryCopies(registry), ...others] };
}

async function ownImage(parent: Client, signal: AbortSignal): Promise<string | undefined> {
  const own = await parent.get(Deployments, controllersKey, { signal }).catch(ignoreNotFound);
  return own?.spec?.template?.spec?.containers[0]?.image;
}

function kindsOf(child: Client): KindLookup {
  const kinds = createServedKinds(child);
  return {
    forKind: ({ group, version = '', kind }, options) =>
      kinds.resourceOf({ apiVersion: formatApiVersion(group, version), kind }, options?.signal),
    // The mapper looks up unknown kinds again by itself.
    invalidate: () => {},
  };
}
