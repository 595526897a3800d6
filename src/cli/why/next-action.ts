/** What was found to be the cause. */
interface Found {
  readonly kind: string;
  readonly name: string;
  readonly reason: string;
  readonly message: string;
}

interface Rule {
  /** of reason or message */
  readonly when: RegExp;
  next(found: Found): string;
}

/** The first that fits. Messages mostly name the cure themselves; these say where to begin. */
const rules: readonly Rule[] = [
  {
    when: /quota|Quota exceeded|Exceeded/,
    next: () => 'free some of it or ask the operator of the cloud for more; capstan doctor shows what is left',
  },
  {
    when: /AuthenticationFailed|identityRef|clouds\.yaml|credentials|401/i,
    next: () =>
      'put credentials that work into the Secret that identityRef names; capstan doctor --cloud NAME tries them',
  },
  {
    when: /No valid host was found/i,
    next: () => 'try another flavor or availability zone: the cloud has no host with room for this one',
  },
  {
    when: /(?:image|flavor|key ?pair|keypair|network|subnet|security group|server group|volume type|zone)\b.*(?:not (?:be )?found|does not exist|there is no|no such)/i,
    next: () =>
      'correct the name in the template, or make it in the cloud; capstan doctor --cloud NAME shows what there is',
  },
  {
    when: /NothingOnConsole|console/i,
    next: ({ name }) => `read the console of the server: openstack console log show ${name}`,
  },
  {
    when: /no (?:CNI|network plugin)|NetworkPluginNotReady|cni plugin not initialized/i,
    next: () => 'install a network plugin in the cluster, such as Cilium or flannel',
  },
  {
    when: /cloud controller manager/i,
    next: () => 'install the OpenStack cloud controller manager in the cluster, with credentials of the cloud',
  },
  {
    when: /StorageClass|PersistentVolumeClaim|unbound/i,
    next: () => 'give the management cluster a default StorageClass: kubectl get storageclass',
  },
  {
    when: /load ?balancer|Octavia/i,
    next: () => 'load balancers take minutes; when it stays so: openstack loadbalancer list, capstan doctor',
  },
  {
    when: /WaitingFor|^Waiting/,
    next: ({ kind, name }) => `wait; when it stays so: kubectl describe ${kind.toLowerCase()} ${name}`,
  },
];

/** What to do next about a cause. */
export function nextAction(found: Found): string {
  const rule = rules.find(({ when }) => when.test(found.reason) || when.test(found.message));
  return rule?.next(found) ?? `kubectl describe ${found.kind.toLowerCase()} ${found.name}`;
}
