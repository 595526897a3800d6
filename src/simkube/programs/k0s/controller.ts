import { startApiInstance } from '../../cluster/api-instance.ts';
import type { SimulatedProcess } from '../../process.ts';
import { ProgramFailure } from '../failure.ts';
import { type FlagTable, flagValue, isSwitchedOn, listValue, names, parseFlags } from '../flags.ts';
import { kubernetesVersionOf } from '../image.ts';
import { localOnly, type SimulatedKubernetes } from '../kubernetes.ts';
import { between, type Closing, requiredFile, untilStopped } from '../running.ts';
import { parseK0sConfig } from './config.ts';
import { deploy } from './deploy.ts';
import { standForLeader } from './leadership.ts';
import { ensureK0sPki, type K0sPki } from './pki.ts';
import { announceController } from './running-controllers.ts';
import { openK0sStorage } from './storage.ts';

const table: FlagTable = {
  valued: new Set(
    names(`
      api-server config cri-socket data-dir disable-components iptables-mode k0s-cloud-provider-port
      k0s-cloud-provider-update-frequency kube-controller-manager-extra-args kubelet-extra-args kubelet-root-dir labels
      logging profile status-socket taints token-file feature-gates init-only-extra`),
  ),
  switches: new Set(
    names(`
      debug debugListenOn enable-cloud-provider enable-dynamic-config enable-k0s-cloud-provider enable-metrics-scraper
      enable-worker force ignore-pre-flight-checks init-only no-taints single verbose help`),
  ),
  short: { c: 'config', d: 'debug', v: 'verbose', l: 'logging', h: 'help' },
  unknown: (name) => new ProgramFailure(`Error: unknown flag: --${name}`),
  missing: (name) => new ProgramFailure(`Error: flag needs an argument: --${name}`),
};

/** `k0s controller`: API server, controllers, scheduler and konnectivity in one program. */
export async function runController(
  kubernetes: SimulatedKubernetes,
  process: SimulatedProcess,
  closing: Closing,
  { args, version }: { args: readonly string[]; version: string },
): Promise<number> {
  const { flags, words } = parseFlags(args, table);
  if (words.length > 0 && flagValue(flags, 'token-file') === undefined) {
    throw new ProgramFailure(`Error: unknown command "${words[0]}" for "k0s controller"`);
  }
  const path = flagValue(flags, 'config') ?? '/etc/k0s/k0s.yaml';
  const text = requiredFile(process, path, (reason) => new ProgramFailure(`Error: failed to load config: ${reason}`));
  const config = parseK0sConfig(text);
  say(process, 'info', `using k0s version ${version}`);
  const pki = await ensureK0sPki(process, config);
  await process.pass(between(process, 300, 700));
  const cluster = await openK0sStorage(kubernetes, process, closing, config);
  const disabled = new Set(listValue(flags, 'disable-components'));
  const settings = apiSettings(pki, { version, serviceCidr: config.network.serviceCidr, extra: config.api.extraArgs });
  const instance = await startApiInstance(cluster, settings, pki.serving);
  closing.add(() => instance.stop());
  process.signal.throwIfAborted();
  closing.add(process.listen(config.api.port, instance.service));
  if (!disabled.has('konnectivity-server') && config.konnectivityPort !== config.api.port) {
    closing.add(process.listen(config.konnectivityPort, localOnly()));
  }
  const id = `${process.namespace}/${process.hostname}/k0s`;
  const manager = { signingAuthority: pki.authority, rootAuthorities: pki.clientAuthorities };
  cluster.addControllers(id, {
    ...(!disabled.has('kube-controller-manager') && { manager }),
    scheduler: !disabled.has('kube-scheduler'),
  });
  closing.add(() => cluster.removeControllers(id));
  closing.add(announceController(kubernetes, process, { config, pki, cluster, version }));
  say(process, 'info', 'kube-apiserver is up', 'component=kube-apiserver');
  const candidate = standForLeader(cluster);
  closing.add(() => candidate.leave());
  const isDynamic = isSwitchedOn(flags, 'enable-dynamic-config');
  const deploying = candidate.leads.then(() => {
    const { server } = cluster;
    return deploy(process, {
      writer: { server, client: server.localClient() },
      config,
      version,
      disabled,
      isDynamic,
      charts: kubernetes.charts,
    });
  });
  // It ends by itself only if there is nothing left to reconcile.
  deploying.catch(() => undefined);
  await untilStopped(process);
  say(process, 'info', 'Shutting down k0s controller');
  return 0;
}

interface ApiFacts {
  readonly version: string;
  readonly serviceCidr: string;
  readonly extra: Readonly<Record<string, string>>;
}

function apiSettings(pki: K0sPki, { version, serviceCidr, extra }: ApiFacts): Parameters<typeof startApiInstance>[1] {
  const modes = (extra['authorization-mode'] ?? 'Node,RBAC').split(',');
  const { olderServiceAccountKeys } = pki;
  return {
    clientAuthorities: pki.clientAuthorities,
    serviceAccountKey: pki.serviceAccountKey,
    ...(olderServiceAccountKeys.length > 0 && { olderServiceAccountKeys }),
    kubernetesVersion: `${kubernetesVersionOf(`:${version}`) ?? 'v1.34.0'}${/\+.*$/.exec(version)?.[0]?.replace(/\.\d+$/, '') ?? ''}`,
    serviceCidr,
    serviceAccountIssuer: extra['service-account-issuer'] ?? 'https://kubernetes.default.svc',
    authorization: modes.includes('RBAC') ? 'RBAC' : 'AlwaysAllow',
    nodeAuthorization: modes.includes('Node'),
    nodeRestriction: true,
    anonymous: extra['anonymous-auth'] !== 'false',
    bootstrapTokens: true,
  };
}

function say(process: SimulatedProcess, level: string, message: string, more = ''): void {
  const time = new Date(process.clock.now()).toISOString().replace('T', ' ').slice(0, 19);
  process.log(`time="${time}" level=${level} msg="${message}"${more === '' ? '' : ` ${more}`}`);
}
