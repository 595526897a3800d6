import {
  Clusters,
  KubeadmConfigTemplates,
  type LatticeCluster,
  LatticeClusters,
  type LatticePhase,
  type LatticeSettings,
  latticeNamespace,
  latticeSettings,
  MachineDeployments,
  OpenStackMachineTemplates,
  RKE2ConfigTemplates,
} from '../../api/index.ts';
import type { KubeObject, Resource } from '../../machinery/index.ts';
import { CloudConfigError, isOpenStackError } from '../../openstack/index.ts';
import { after, done, type ReconcileContext, type Result } from '../../runtime/index.ts';
import {
  CredentialsError,
  draftOf,
  dropCondition,
  isTrue,
  setVerdict,
  type Verdict,
  writeObject,
} from '../shared/index.ts';
import { applyObjects, removeUndesired } from './apply.ts';
import { type CloudCredentials, readCredentials } from './cloud/credentials.ts';
import { checkPrerequisites, type Prerequisites } from './cloud/prerequisites.ts';
import { latticeConditions as types } from './conditions.ts';
import type { LatticeDependencies } from './dependencies.ts';
import { expand } from './expand/expand.ts';
import type { CloudFacts } from './facts.ts';
import { ensureNamespace } from './namespace.ts';
import { observe } from './observe.ts';
import { readPlane } from './plane.ts';
import { preparePivot } from './self/prepare.ts';
import { isInside, managesItself } from './self/stage.ts';

/** Retry delays: for problems the user must fix, and for those that may resolve themselves. */
const missingRetryMs = 60_000;
const outageRetryMs = 30_000;
const applyRetryMs = 20_000;

/** Kinds of which a LatticeCluster may have surplus objects. */
const removable: readonly Resource<KubeObject>[] = [
  MachineDeployments,
  OpenStackMachineTemplates,
  KubeadmConfigTemplates,
  RKE2ConfigTemplates,
];

/** Stops a reconcile with a reason. */
class Halt extends Error {
  readonly phase: LatticePhase;
  readonly retryMs: number | undefined;

  constructor(message: string, options: { phase: LatticePhase; retryMs?: number }) {
    super(message);
    this.phase = options.phase;
    this.retryMs = options.retryMs;
  }
}

/** Reconciles a LatticeCluster: credentials, cloud, namespace, objects, status. */
export async function reconcileCluster(
  context: ReconcileContext,
  cluster: LatticeCluster,
  dependencies: LatticeDependencies,
): Promise<Result> {
  const draft = draftOf(cluster);
  const kept = await new ClusterReconcile(context, draft, dependencies).run();
  // only a ready cluster is handed over
  const isReady = isTrue(draft, types.ready);
  const pivoting = isReady && managesItself(draft) ? await preparePivot(context, draft, dependencies) : undefined;
  const parent = isInside(draft) ? dependencies.parent?.agent.verdict : undefined;
  if (parent) setVerdict(draft, types.connected, parent, context.clock.now());
  else if (isInside(draft)) dropCondition(draft, types.connected);
  await writeObject(context, LatticeClusters, cluster, draft, { observed: true });
  return pivoting ?? kept;
}

class ClusterReconcile {
  readonly #context: ReconcileContext;
  readonly #draft: LatticeCluster;
  readonly #tools: LatticeDependencies;

  constructor(context: ReconcileContext, draft: LatticeCluster, tools: LatticeDependencies) {
    this.#context = context;
    this.#draft = draft;
    this.#tools = tools;
  }

  async run(): Promise<Result> {
    const settings = latticeSettings(this.#draft);
    if (settings === undefined) {
      return this.#stop(
        new Halt('only spec.provider.config.openstack makes a cluster; no controller acts on other providers', {
          phase: 'Failed',
        }),
      );
    }
    let halt: Halt | undefined;
    let heldPools: string | undefined;
    try {
      const credentials = await this.#credentials(settings);
      const cloud = await this.#cloud(settings, credentials);
      await this.#namespace();
      heldPools = this.#heldPools(settings);
      await this.#objects(settings, credentials, { cloud, heldPools });
    } catch (error) {
      if (!(error instanceof Halt)) throw error;
      halt = error;
    }
    return this.#observe(settings, { halt, heldPools });
  }

  #say(type: string, verdict: Verdict): void {
    setVerdict(this.#draft, type, verdict, this.#context.clock.now());
  }

  async #credentials(settings: LatticeSettings): Promise<CloudCredentials> {
    try {
      return await readCredentials(this.#context, settings);
    } catch (error) {
      if (!(error instanceof CredentialsError || error instanceof CloudConfigError)) throw error;
      this.#say(types.authenticated, {
        status: 'False',
        reason: 'OpenStackAuthenticationFailed',
        message: error.message,
      });
      // a changed Secret triggers a reconcile
      throw new Halt(error.message, { phase: 'Failed' });
    }
  }

  /** Checks the cloud; nothing is created until it has everything the spec names. */
  async #cloud(settings: LatticeSettings, { config, digest }: CloudCredentials): Promise<CloudFacts> {
    const { memory, sessions } = this.#tools;
    const { signal } = this.#context;
    const uid = this.#draft.metadata.uid ?? '';
    const question = questionOf(settings, digest);
    let answer = memory.find(uid, question);
    if (answer === undefined) {
      answer = await this.#ask(() => checkPrerequisites(sessions.connect(config), settings, signal));
      if (answer.facts) memory.keep(uid, question, answer);
    }
    this.#say(types.authenticated, { status: 'True', reason: 'OpenStackAuthenticationSucceeded' });
    this.#say(
      types.flavors,
      answer.small.length === 0
        ? { status: 'True', reason: 'Sufficient' }
        : { status: 'False', reason: 'SmallFlavor', message: answer.small.join('; ') },
    );
    if (answer.facts) {
      this.#say(types.prerequisites, { status: 'True', reason: 'Met' });
      return answer.facts;
    }
    const message = answer.missing.join('; ');
    this.#say(types.prerequisites, { status: 'False', reason: 'Missing', message });
    throw new Halt(message, { phase: 'Failed', retryMs: missingRetryMs });
  }

  async #ask(ask: () => Promise<Prerequisites>): Promise<Prerequisites> {
    try {
      return await ask();
    } catch (error) {
      if (this.#context.signal.aborted || !isOpenStackError(error)) throw error;
      const isRefused = isOpenStackError(error, 'unauthorized') || isOpenStackError(error, 'forbidden');
      const { message } = error;
      if (isRefused) {
        this.#say(types.authenticated, { status: 'False', reason: 'OpenStackAuthenticationFailed', message });
        throw new Halt(message, { phase: 'Failed', retryMs: missingRetryMs });
      }
      this.#say(types.prerequisites, { status: 'Unknown', reason: 'CloudNotReached', message });
      throw new Halt(message, { phase: 'Pending', retryMs: outageRetryMs });
    }
  }

  async #namespace(): Promise<void> {
    const problem = await ensureNamespace(this.#context, this.#draft);
    if (problem === undefined) return;
    this.#say(types.applied, { status: 'False', reason: 'NamespaceNotUsable', message: problem });
    throw new Halt(problem, { phase: 'Failed', retryMs: applyRetryMs });
  }

  /**
   * Returns why pools stay unchanged: workers must not be newer than the control plane, so they wait for its upgrade.
   */
  #heldPools({ version }: LatticeSettings): string | undefined {
    const name = this.#draft.metadata.name ?? '';
    const live = this.#context.cache.lister(Clusters).get({ namespace: latticeNamespace(name), name });
    const versions = live?.status?.controlPlane?.versions ?? [];
    const others = versions.map((entry) => entry.version).filter((one) => one.split('+')[0] !== version.split('+')[0]);
    return others.length === 0 ? undefined : `waits until the control plane has ${version}, not ${others.join(', ')}`;
  }

  async #objects(
    settings: LatticeSettings,
    credentials: CloudCredentials,
    { cloud, heldPools }: { cloud: CloudFacts; heldPools: string | undefined },
  ): Promise<void> {
    const cluster = this.#draft.metadata.name ?? '';
    const addons = this.#tools.render({ cluster, settings, credentialsDigest: credentials.digest.slice(0, 16) });
    const desired = expand(this.#draft, settings, {
      cloud,
      credentials: credentials.data,
      texts: credentials.texts,
      addons,
    });
    const now = desired.filter(({ pool }) => pool === undefined || heldPools === undefined);
    const problems = await applyObjects(this.#context, this.#tools, now);
    if (problems.length > 0) {
      const message = problems.join('; ');
      this.#say(types.applied, { status: 'False', reason: 'ApplyFailed', message });
      throw new Halt(message, { phase: 'Failed', retryMs: applyRetryMs });
    }
    await removeUndesired(this.#context, this.#draft, desired, removable);
    this.#say(types.applied, { status: 'True', reason: 'Applied' });
  }

  #stop(halt: Halt): Result {
    const { message, phase } = halt;
    this.#draft.status = { ...this.#draft.status, phase, message };
    this.#say(types.ready, { status: 'False', reason: phase, message });
    return halt.retryMs === undefined ? done() : after(halt.retryMs, 'the cluster is looked at again');
  }

  /** An existing cluster is judged by its observed state, even if something needs attention. */
  #observe(
    settings: LatticeSettings,
    { halt, heldPools }: { halt: Halt | undefined; heldPools: string | undefined },
  ): Result {
    const { cache, clock } = this.#context;
    const name = this.#draft.metadata.name ?? '';
    const isMade = cache.lister(Clusters).get({ namespace: latticeNamespace(name), name }) !== undefined;
    if (halt && !isMade) {
      for (const type of [types.infrastructure, types.controlPlane, types.workers, types.addons]) {
        dropCondition(this.#draft, type);
      }
      return this.#stop(halt);
    }
    const plane = readPlane(cache, name, settings);
    const [first] = observe(this.#draft, settings, { cache, plane, heldPools, nowMs: clock.now() });
    const isReady = first === undefined;
    const message = [halt?.message, first].filter((text) => text !== undefined).join('; ');
    this.#draft.status = { ...this.#draft.status, phase: isReady ? 'Ready' : 'Provisioning', message };
    this.#say(
      types.ready,
      isReady && !halt ? { status: 'True', reason: 'Ready' } : { status: 'False', reason: 'NotReady', message },
    );
    return halt?.retryMs === undefined ? done() : after(halt.retryMs, 'the cluster is looked at again');
  }
}

/**
 * Cache key: everything that is looked up in the cloud. Machine counts are not part of it, so scaling needs no lookup.
 */
function questionOf(settings: LatticeSettings, digest: string): string {
  const { externalNetwork, image, sshKey, version, loadBalancerFlavor, controlPlane, pools } = settings;
  const machines = [controlPlane, ...pools].map(({ flavor, rootVolume, zone }) => [flavor, rootVolume, zone]);
  return JSON.stringify([digest, externalNetwork, image, sshKey, version, loadBalancerFlavor, machines]);
}
