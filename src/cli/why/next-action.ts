interface Found {
  readonly kind: string;
  readonly name: string;
  /** the name with its namespace, as kubectl takes them: `red-1 -n default` */
  readonly argument: string;
  readonly reason: string;
  readonly message: string;
}

interface Rule {
  /** matched against reason or message */
  readonly when: RegExp;
  readonly next: string | ((found: Found) => string);
}

const missingTemplate = /(?<![A-Za-z0-9])([A-Z][A-Za-z0-9]{1,60}Template)\b.{0,80}does not exist/;

/** what a class made cannot be used */
const uselessResult = /\bNothing was changed: (correct .*)$/;

const refusedField = /\bis invalid: \S+: (?:Forbidden|Invalid value|Required value|Unsupported value|Duplicate value)/;

/** The first match wins. Most messages contain a fix; these name the first step. */
const rules: readonly Rule[] = [
  {
    // before all others: these messages quote the API, whose words others match
    when: uselessResult,
    next: ({ message }) => uselessResult.exec(message)?.[1] ?? '',
  },
  {
    // the API refused what a controller wrote: "Forbidden" is about a field, not about a permission
    when: refusedField,
    next: ({ kind, argument }) => `correct what the message says: kubectl edit ${kind.toLowerCase()} ${argument}`,
  },
  {
    when: /[Qq]uota|LimitExceeded/,
    next: 'free some of it or ask the operator of the cloud for more; capstan doctor shows what is left',
  },
  {
    when: /TLS certificate|certificate .*not trusted/,
    next: 'add the certificate authority of the cloud as key cacert to the Secret that identityRef names',
  },
  {
    when: /identity: .*(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|refuses connections|does not answer|no answer)/,
    next: 'correct auth_url in the Secret that identityRef names, or wait until the cloud is available again; capstan doctor --cloud NAME tests it',
  },
  {
    when: /is not one of its regions|^(?:.*: )?(?:[a-z-]+: )?region "[^"]*" of cloud/,
    next: 'use a region of the cloud in identityRef.region, or in region_name of clouds.yaml',
  },
  {
    when: /is away for the moment|limits the rate of requests|this is a failure of the cloud/,
    next: 'wait, it is retried automatically; if this does not help, ask the operator of the cloud',
  },
  {
    when: /Nodes cannot be read|kubeconfig/,
    next: 'check the Secret CLUSTER-kubeconfig: its user must be an administrator of the cluster; if you delete the Secret, it is created again',
  },
  {
    when: /polic(?:y|ies)\b|disallowed|not authorized|forbidden/i,
    next: 'give the user of the credentials a role with this permission, such as member (for load balancers load-balancer_member), or ask the operator of the cloud',
  },
  {
    when: /toomanyrequests|rate limit\b|\b429 Too Many|ErrImagePull|ImagePullBackOff|InvalidImageName|invalid image name/i,
    next: 'correct the image name (one tag), use another registry, such as ghcr.io, or set imagePullSecrets',
  },
  {
    when: /\bGateway \S+ does not exist/,
    next: 'create the Gateway, or use another one in spec.gateway of the control plane',
  },
  {
    when: /AuthenticationFailed|identityRef|clouds\.yaml|credentials|\b401\b/i,
    next: 'put working credentials into the Secret that identityRef names; capstan doctor --cloud NAME tests them',
  },
  {
    when: /(?<!\d)\d{1,9} [a-z ]{1,40}(?:are named|match|have the name)|[Aa]mbiguous/,
    next: 'use the id of one of them, or narrow the filter with tags',
  },
  {
    when: /No valid host was found/i,
    next: 'try another flavor or availability zone: the cloud has no host with enough capacity for this one',
  },
  {
    when: /key ?pair|key_name|sshKeyName/i,
    next: 'import one with capstan create keypair NAME --public-key FILE; capstan get keypairs lists the existing ones',
  },
  {
    when: /availability zone/i,
    next: 'use a zone of the cloud as failureDomain: capstan doctor --cloud NAME lists them',
  },
  {
    when: /disk is smaller|disk is too small|is smaller than the minimum size/,
    next: 'use a flavor with a larger disk (capstan get flavors), or boot from a volume with rootVolume',
  },
  {
    when: /^PreflightFailed$/,
    next: 'do what the check says: usually use a larger flavor (capstan get flavors) or another image (capstan get images)',
  },
  {
    when: /^(?:ImageWithoutKubernetes|WrongKubernetesVersion)$|image of the machine brings another version/,
    next: 'use an image of the right version: capstan get images shows their versions, capstan create image uploads one',
  },
  {
    when: /^ReleaseNotFound$/,
    next: 'correct version of the control plane or MachineDeployment: use an existing release, such as v1.34.2+rke2r1',
  },
  {
    when: /^InstanceGone$/,
    next: ({ argument }) =>
      `replace it with kubectl delete machine ${argument}; it is not replaced automatically if the annotation skip-remediation is set`,
  },
  {
    when: /is in state (?:SHUTOFF|PAUSED|SUSPENDED|STOPPED)/,
    next: ({ name, argument }) =>
      `openstack server start ${name}, if nobody stopped it on purpose; or replace it with kubectl delete machine ${argument}`,
  },
  {
    when: /^WaitingFor(?:PreDrain|PreTerminate)Hook$/,
    next: ({ argument }) =>
      `wait for the owner of the hook, or remove its annotation from the machine: kubectl annotate machine ${argument} HOOK-`,
  },
  {
    when: /PodDisruptionBudget|disruption budget/i,
    next: 'give the workload more replicas or relax its PodDisruptionBudget; nodeDrainTimeoutSeconds of the machine limits the wait',
  },
  {
    when: /^(?:CommandFailed|UserDataInvalid)$/,
    next: 'correct files, users and commands of the bootstrap config: its template then creates new machines',
  },
  {
    when: /^ControlPlaneNotStarted$/,
    next: 'correct extraArgs, extraVolumes and files of the clusterConfiguration: new machines are then created',
  },
  {
    when: missingTemplate,
    next: ({ message }) => {
      const [, kind = 'the template'] = missingTemplate.exec(message) ?? [];
      return `create ${kind}, or correct the reference to it`;
    },
  },
  {
    when: /(?:image|flavor|network|subnet|router|security group|server group|volume type|type|zone)\b.*(?:not (?:be )?found|does not exist|there is no|no such)|no [a-z ]+ (?:matches|is named|named)|there is no [a-z ]+ named/i,
    next: 'correct the name in the manifest, or create it in the cloud; capstan doctor --cloud NAME lists what exists',
  },
  {
    when: /NothingOnConsole|console log show/,
    next: ({ name }) => `read the console of the server: openstack console log show ${name}`,
  },
  {
    when: /no (?:CNI|network plugin)|NetworkPluginNotReady|cni plugin not initialized/i,
    next: 'install a network plugin in the cluster, such as Cilium or flannel',
  },
  {
    when: /cloud controller manager|cloudprovider\.kubernetes\.io\/uninitialized/i,
    next: 'install the OpenStack cloud controller manager in the cluster, with credentials of the cloud; capstan doctor cluster NAME tests these',
  },
  {
    when: /StorageClass|PersistentVolumeClaim|unbound/i,
    next: 'give the management cluster a default StorageClass: kubectl get storageclass',
  },
  {
    when: /load ?balancer|Octavia/i,
    next: 'wait, load balancers take minutes; if this does not help: openstack loadbalancer list, capstan doctor',
  },
  {
    when: /is being built|volumes to be available/,
    next: ({ name }) =>
      `wait, this takes minutes; if this does not help: openstack server show ${name}, openstack volume list, and ask the operator of the cloud`,
  },
  {
    when: /^Waiting/,
    next: (found) => `wait; if this does not help: ${describe(found)}`,
  },
];

/** Matches the suggested fix at the end of our messages. */
const cure =
  /; ((?:add|ask|check|choose|correct|create|define|delete|do|free|give|import|install|let|look|make|name|narrow|put|raise|read|remove|repair|restart|say|scale|set|start|take|try|upgrade|upload|use|write)\b[^;]*)$/;

export function nextAction(found: Found): string {
  if (found.kind !== 'LatticeCluster') return usualAction(found);
  // what a cloud lacks is named by several sentences, each with its remedy
  const own = found.reason === 'Missing' ? cure.exec(found.message)?.[1] : undefined;
  return own ?? usualAction(found).replace('that identityRef names', 'with the credentials of the LatticeCluster');
}

function usualAction(found: Found): string {
  const rule = rules.find(({ when }) => when.test(found.reason) || when.test(found.message));
  if (rule) return typeof rule.next === 'string' ? rule.next : rule.next(found);
  return cure.exec(found.message)?.[1] ?? describe(found);
}

const describe = ({ kind, argument }: Found): string => `kubectl describe ${kind.toLowerCase()} ${argument}`;
