import { Deployments } from '../../api/index.ts';
import type { Client } from '../../client/index.ts';
import { type ChildInstaller, createServedKinds } from '../../controllers/index.ts';
import { type Clock, formatApiVersion, ignoreNotFound } from '../../machinery/index.ts';
import { applyInstallation, type KindLookup } from '../install/apply-installation.ts';
import { installation } from '../install/installation.ts';
import { refuseSecondInstallation } from '../install/second-installation.ts';
import { controllersKey } from '../install/workload.ts';

/** Installs into a cluster what `capstan install` installs, from the image its parent runs from, where that is one. */
export function childInstaller(parent: Client, clock: Clock): ChildInstaller {
  return {
    deployment: controllersKey,
    async install(child, { image, signal }) {
      await refuseSecondInstallation(child, signal);
      const chosen = image ?? (await ownImage(parent, signal));
      const wanted = installation({ replicas: 1, ...(chosen !== undefined && { image: chosen }) });
      await applyInstallation(child, kindsOf(child), wanted, { clock, signal, onApplied: () => {} });
    },
  };
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
    // it looks again for what it does not know
    invalidate: () => {},
  };
}
