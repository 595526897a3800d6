import type { RehearsedCloud } from '../../../openstack/index.ts';
import type { CloudAccess } from '../common/clouds.ts';
import type { ObservedState } from '../common/observed-state.ts';
import type { CloudView } from '../common/view.ts';

export interface AccessFacts {
  /** name of the cloud in clouds.yaml */
  readonly cloudName: string;
  /** source of the credentials */
  readonly source: string;
}

/** Adapts a rehearsed cloud to the controllers' interface; changes are visible immediately. */
export function rehearsedAccess(cloud: RehearsedCloud, { cloudName, source }: AccessFacts): CloudAccess {
  const observer = observedStateIn(cloud);
  return {
    openstack: cloud.openstack,
    observer,
    view: viewOf(cloud, observer),
    projectId: cloud.projectId,
    cloudName,
    region: cloud.openstack.config.region,
    source,
  };
}

function observedStateIn(cloud: RehearsedCloud): ObservedState {
  return {
    subscribe: () => () => {},
    note: () => {},
    watchClosely: () => () => {},
    asOf: () => undefined,
    current: (type, id) => cloud.current(type, id),
    all: () => [],
    async refresh(type) {
      await cloud.all(type);
    },
    // an in-memory cloud is always in sync
    health: () => ({ observing: true, synced: true, lastSuccess: undefined, error: undefined }),
    close: () => {},
    isGone: (type, id) => cloud.current(type, id) === undefined && (cloud.isRead(type) || cloud.isNew(id)),
  };
}

function viewOf(cloud: RehearsedCloud, observer: ObservedState): CloudView {
  const read: CloudView['read'] = async (type, id) => {
    if (cloud.current(type, id) === undefined) await cloud.all(type);
    return cloud.current(type, id);
  };
  return {
    observer,
    current: (type, id) => cloud.current(type, id),
    read,
    readAnew: read,
    // the cloud itself is the memory
    remember: () => {},
    forget: () => {},
  };
}
