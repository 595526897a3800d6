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

/** The first match wins. Most messages contain a fix; these name the first step. */
const rules: readonly Rule[] = [
  {
    when: /[Qq]uota|LimitExceeded/,
    next: 'free some of it or ask the operator of the cloud for more; capstan doctor shows what is left',
  },
  {
    when: /TLS certificate|certificate .*not trusted/,
    next: 'put the certificate authority of the cloud into the key cacert of the Secret that identityRef names',
  },
  {
    when: /identity: .*(?:ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|refuses connections|does not answer|no answer)/,
    next: 'correct auth_url in the Secret that identityRef names, or wait for the cloud to be there again; capstan doctor --cloud NAME tries it',
  },
  {
    when: /is not one of its regions|^(?:.*: )?(?:[a-z-]+: )?region "[^"]*" of cloud/,
    next: 'name one of the regions of the cloud: region of identityRef, or region_name in clouds.yaml',
  },
  {
    when: /is away for the moment|limits the rate of requests|this is a failure of the cloud/,
    next: 'wait: it is tried again and again; where it stays so, ask the operator of the cloud',
  },
  {
    when: /Nodes cannot be read|kubeconfig/,
    next: 'look at the Secret CLUSTER-kubeconfig: its user must be an administrator of the cluster; kubectl delete secret has it made anew',
  },
  {
    when: /polic(?:y|ies)\b|disallowed|not authorized|forbidden/i,
    next: 'give the user of the credentials a role that may do it, such as member (for load balancers load-balancer_member), or let the operator of the cloud do it',
  },
  {
    when: /toomanyrequests|rate limit\b|\b429 Too Many|ErrImagePull|ImagePullBackOff|InvalidImageName|invalid image name/i,
    next: 'correct the name of the image (one tag), or take it from another registry, such as ghcr.io; or give imagePullSecrets',
  },
  {
    when: /\bGateway \S+ does not exist/,
    next: 'create the Gateway, or name another one in spec.gateway of the control plane',
  },
  {
    when: /AuthenticationFailed|identityRef|clouds\.yaml|credentials|\b401\b/i,
    next: 'put credentials that work into the Secret that identityRef names; capstan doctor --cloud NAME tries them',
  },
  {
    when: /(?<!\d)\d{1,9} [a-z ]{1,40}(?:are named|match|have the name)|[Aa]mbiguous/,
    next: 'name one by its id, or narrow the filter with tags',
  },
  {
    when: /No valid host was found/i,
    next: 'try another flavor or availability zone: the cloud has no host with room for this one',
  },
  {
    when: /key ?pair|key_name|sshKeyName/i,
    next: 'capstan create keypair NAME --public-key FILE imports one; capstan get keypairs shows those there are',
  },
  {
    when: /availability zone/i,
    next: 'name a zone of the cloud as failureDomain: capstan doctor --cloud NAME shows them',
  },
  {
    when: /disk is smaller|disk is too small|is smaller than the minimum size/,
    next: 'name a flavor with a larger disk (capstan get flavors), or boot from a volume with rootVolume',
  },
  {
    when: /^PreflightFailed$/,
    next: 'do what the check says: mostly it takes a larger flavor (capstan get flavors) or another image (capstan get images)',
  },
  {
    when: /^(?:ImageWithoutKubernetes|WrongKubernetesVersion)$|image of the machine brings another version/,
    next: 'name an image of the right version: capstan get images shows what is on them, capstan create image uploads one',
  },
  {
    when: /^ReleaseNotFound$/,
    next: 'correct version of the control plane or MachineDeployment: it must be a release that exists, such as v1.34.2+rke2r1',
  },
  {
    when: /^InstanceGone$/,
    next: ({ argument }) =>
      `kubectl delete machine ${argument} has it replaced; where that does not happen by itself, an annotation (skip-remediation) forbids it`,
  },
  {
    when: /is in state (?:SHUTOFF|PAUSED|SUSPENDED|STOPPED)/,
    next: ({ name, argument }) =>
      `openstack server start ${name}, where nobody stopped it on purpose; or kubectl delete machine ${argument} has it replaced`,
  },
  {
    when: /^WaitingFor(?:PreDrain|PreTerminate)Hook$/,
    next: ({ argument }) =>
      `have whoever set the hook finish, or take its annotation off the machine: kubectl annotate machine ${argument} HOOK-`,
  },
  {
    when: /PodDisruptionBudget|disruption budget/i,
    next: 'give the workload more replicas or its PodDisruptionBudget more room; nodeDrainTimeoutSeconds of the machine bounds the wait',
  },
  {
    when: /^(?:CommandFailed|UserDataInvalid)$/,
    next: 'correct files, users and commands of the bootstrap config: machines are made anew from its template',
  },
  {
    when: /^ControlPlaneNotStarted$/,
    next: 'correct extraArgs, extraVolumes and files of the clusterConfiguration: machines are made anew from it',
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
    next: 'correct the name in the manifest, or make it in the cloud; capstan doctor --cloud NAME shows what there is',
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
    next: 'install the OpenStack cloud controller manager in the cluster, with credentials of the cloud; capstan doctor cluster NAME tries those',
  },
  {
    when: /StorageClass|PersistentVolumeClaim|unbound/i,
    next: 'give the management cluster a default StorageClass: kubectl get storageclass',
  },
  {
    when: /load ?balancer|Octavia/i,
    next: 'load balancers take minutes; when it stays so: openstack loadbalancer list, capstan doctor',
  },
  {
    when: /is being built|volumes to be available/,
    next: ({ name }) =>
      `it takes minutes; when it stays so: openstack server show ${name}, openstack volume list, and ask the operator of the cloud`,
  },
  {
    when: /^Waiting/,
    next: (found) => `wait; when it stays so: ${describe(found)}`,
  },
];

/** Matches the suggested fix at the end of our messages. */
const cure =
  /; ((?:add|ask|check|choose|correct|create|define|delete|do|free|give|import|install|let|look|make|name|narrow|put|raise|read|remove|repair|restart|say|scale|set|start|take|try|upgrade|upload|use|write)\b[^;]*)$/;

export function nextAction(found: Found): string {
  const rule = rules.find(({ when }) => when.test(found.reason) || when.test(found.message));
  if (rule) return typeof rule.next === 'string' ? rule.next : rule.next(found);
  return cure.exec(found.message)?.[1] ?? describe(found);
}

const describe = ({ kind, argument }: Found): string => `kubectl describe ${kind.toLowerCase()} ${argument}`;
