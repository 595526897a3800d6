import {
  allVerbs,
  type Clock,
  type KubeObject,
  type ProtobufRegistry,
  type Random,
  type ResourceDefinition,
  type Schema,
  type Status,
  statusError,
  systemClock,
  systemRandom,
  type Verb,
} from '../machinery/index.ts';
import type { Store } from '../store/index.ts';
import { type AdmissionPlugin, builtInAdmission } from './admission/built-in.ts';
import { AdmissionChain, type AdmissionStep } from './admission/index.ts';
import { namespaceLifecycle } from './admission/namespace-lifecycle.ts';
import type { Aggregation } from './aggregation.ts';
import type { Auditor, AuditResponse, AuditTrail } from './audit/index.ts';
import {
  AccessControl,
  type AccessControlOptions,
  type AuthorizationAttributes,
  jwksPath,
  loopbackUser,
  openIdConfigurationPath,
  type UserInfo,
} from './auth/index.ts';
import { startRoleAggregation } from './auth/role-aggregation.ts';
import { ensureBootstrapObjects } from './bootstrap.ts';
import { CrdLifecycle, nativeDefinitionsStay, publishNativeKinds, withCrdStrategy } from './crd/index.ts';
import { Discovery } from './discovery/index.ts';
import { FlowControl, type FlowLimits } from './flow/index.ts';
import { backupPath, handleBackup } from './http/backup-endpoint.ts';
import { HttpCaller } from './http/caller.ts';
import { Exchange, toStatusError } from './http/exchange.ts';
import {
  type HealthCheck,
  handleInfo,
  type InfoHandlerOptions,
  isHealthPath,
  type VersionInfo,
} from './http/info-handler.ts';
import { type Acceptor, acceptor, type Listener, listen } from './http/listener.ts';
import { attributesOf, verbOf } from './http/request-attributes.ts';
import { attemptedCredentials, refuseOversizedHead } from './http/request-head.ts';
import { allowsMethod, parseRequestPath, type RequestPath } from './http/request-path.ts';
import { ResourceHandler, type ReviewHandler } from './http/resource-handler.ts';
import type { Wire } from './http/wire.ts';
import { LocalClient, type WantsWhole } from './local-client.ts';
import { ApiServerMetrics, type RequestLabels } from './metrics.ts';
import { OpenApi } from './openapi/index.ts';
import { admissionPolicies } from './policies/policy-admission.ts';
import { PolicyBook } from './policies/policy-book.ts';
import { startPolicyStatus } from './policies/policy-status.ts';
import { resourceQuotas } from './quota/quota-admission.ts';
import { QuotaBook } from './quota/quota-book.ts';
import { Registry } from './registry/index.ts';
import { reviewHandlers } from './reviews.ts';
import { ResourceApi } from './service/resource-api.ts';
import { parseServiceCidr, type ServiceRange, serviceAddresses } from './services/address-allocator.ts';
import { kubernetesService } from './services/kubernetes-service.ts';
import { startExpirySweeper } from './storage/expiry-sweeper.ts';
import type { StoredObject } from './storage/stored-object.ts';
import { handleCsrApproval } from './subresources/csr-approval.ts';
import { handleNamespaceFinalize } from './subresources/namespace-finalize.ts';
import { handlePodBinding } from './subresources/pod-binding.ts';
import {
  type PodConnector,
  podAttachHandler,
  podExecHandler,
  podPortForwardHandler,
} from './subresources/pod-connect.ts';
import { handlePodEviction } from './subresources/pod-eviction.ts';
import type { PodAttacher, PodExecutor } from './subresources/pod-exec.ts';
import { type PodLogSource, podLogHandler } from './subresources/pod-log.ts';
import { serviceAccountTokenHandler } from './subresources/service-account-token.ts';
import type { SubresourceHandlers } from './subresources/types.ts';
import {
  admissionWebhooks,
  convertByWebhook,
  storeServiceResolver,
  WebhookClient,
  WebhookConfigurations,
  type WebhookConnector,
} from './webhooks/index.ts';

export interface ApiServerOptions {
  store: Store<StoredObject>;
  /** all compiled-in kinds, built-in and our own */
  definitions: readonly ResourceDefinition[];
  /** shared components of meta/v1 for OpenAPI */
  metaSchema(component: string): Schema;
  protobuf: ProtobufRegistry;
  access: AccessControlOptions;
  clock?: Clock;
  random?: Random;
  auditor?: Auditor;
  /** addresses for Services; default 10.96.0.0/16 */
  serviceCidr?: string;
  podLogs?: PodLogSource;
  /** leads to ports of Pods; without it there is nothing to forward */
  podConnector?: PodConnector;
  /** connects to an address behind a Service that a webhook is said to be at; default: over the network of this computer */
  connectWebhook?: WebhookConnector;
  /** groups that other servers answer for; none by default */
  aggregation?: Aggregation;
  /** runs commands in containers of Pods */
  podExecutor?: PodExecutor;
  /** shows what containers of Pods say */
  podAttacher?: PodAttacher;
  /** asked before every request for a resource is served: may make it wait, and what it throws is the answer */
  gate?(): Promise<void> | undefined;
  /** leaves out built-in admission steps, such as those that count on controllers nobody runs */
  admissionPlugins?: { disable?: readonly AdmissionPlugin[] };
  /** further admission steps, after the server's own */
  admission?(context: ResourceApi): readonly AdmissionStep[];
  /** objects to create at the first start besides the usual ones */
  bootstrapObjects?: readonly KubeObject[];
  healthChecks?: readonly HealthCheck[];
  version?: Partial<VersionInfo>;
  /** how much requests of all senders may take together; see FlowControl */
  flow?: Partial<FlowLimits>;
  /** unexpected failures: bugs, disk errors */
  onError?(error: unknown, what: string): void;
}

const maxBodyBytes = 3 * 1024 * 1024;

const defaultVersion: VersionInfo = {
  major: '1',
  minor: '34',
  gitVersion: 'v1.34.0+capstan',
  gitCommit: '',
  gitTreeState: 'clean',
  buildDate: '1970-01-01T00:00:00Z',
  goVersion: 'none',
  compiler: 'none',
  platform: `${process.platform}/${process.arch === 'x64' ? 'amd64' : process.arch}`,
};

/** What another server answers, to somebody who was authorized here. */
async function serveAggregated(
  exchange: Exchange,
  aggregation: Aggregation,
  group: string,
  version: string,
): Promise<void> {
  if (exchange.method !== 'GET') throw statusError.methodNotAllowed();
  const query = exchange.query.toString();
  const path = query === '' ? exchange.path : `${exchange.path}?${query}`;
  const { status, body } = await aggregation.get(group, version, path);
  exchange.send(status, 'application/json', Buffer.from(body));
}

/** Makes a Kubernetes API over a store. Many may live in one process; nothing is global. */
export async function createApiServer(options: ApiServerOptions): Promise<ApiServer> {
  const server = new ApiServer(options);
  await server.prepare();
  return server;
}

export class ApiServer {
  readonly api: ResourceApi;
  readonly registry: Registry;
  readonly access: AccessControl;
  readonly metrics: ApiServerMetrics;
  readonly #options: ApiServerOptions;
  readonly #clock: Clock;
  readonly #random: Random;
  readonly #auditor: Auditor | undefined;
  readonly #resources: ResourceHandler;
  readonly #subresources: SubresourceHandlers;
  readonly #reviews: ReadonlyMap<string, ReviewHandler>;
  readonly #info: InfoHandlerOptions;
  readonly #healthChecks: HealthCheck[] = [];
  readonly #crds: CrdLifecycle;
  readonly #webhooks: WebhookClient;
  readonly #webhookConfigurations: WebhookConfigurations;
  readonly #serviceRange: ServiceRange;
  readonly #policies: PolicyBook;
  readonly #quotas: QuotaBook | undefined;
  readonly #stopSweeper: () => void;
  readonly #stopAggregation: () => Promise<void>;
  readonly #stopPolicyStatus: () => Promise<void>;
  readonly #listeners = new Set<Listener>();
  readonly #acceptors = new Set<Acceptor>();
  readonly #openWatches = new Set<Exchange>();
  readonly #flow: FlowControl;
  #stopping = false;

  constructor(options: ApiServerOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#random = options.random ?? systemRandom;
    this.#auditor = options.auditor;
    this.#flow = new FlowControl(options.flow);
    const { store } = options;
    this.registry = new Registry();
    const native = new Map<string, ResourceDefinition>();
    for (const definition of options.definitions) {
      const isCrd = definition.group === 'apiextensions.k8s.io' && definition.kind === 'CustomResourceDefinition';
      this.registry.set(isCrd ? withCrdStrategy(definition, native) : definition);
      if (definition.origin === 'custom') native.set(`${definition.plural}.${definition.group}`, definition);
    }
    const admission = new AdmissionChain();
    const without = new Set<string>(options.admissionPlugins?.disable);
    const add = (...steps: readonly AdmissionStep[]): void => {
      for (const step of steps) if (!without.has(step.name)) admission.add(step);
    };
    this.access = new AccessControl(options.access, { store, clock: this.#clock, random: this.#random });
    this.api = new ResourceApi({
      store,
      registry: this.registry,
      admission,
      clock: this.#clock,
      random: this.#random,
      checkMayCreate: (user, { resource: { definition }, version, namespace, name }) => {
        const { group, plural, namespaced } = definition;
        const resource = { group, version: version.name, plural, namespaced };
        this.access.checkInProcess(user)?.({ verb: 'create', resource, namespace, name });
      },
    });
    add(namespaceLifecycle(store), nativeDefinitionsStay(native, store));
    const nodes = options.access.nodes ?? false;
    add(...builtInAdmission({ store, access: this.access, clock: this.#clock, random: this.#random, nodes }));
    this.#serviceRange = parseServiceCidr(options.serviceCidr ?? '10.96.0.0/16');
    add(serviceAddresses(store, this.#serviceRange, this.#clock));
    this.#policies = new PolicyBook(store, (error, what) => this.#report(error, what));
    const { context } = this.api;
    add(admissionPolicies({ book: this.#policies, context, authorizer: this.access.authorizer }));
    this.#webhooks = new WebhookClient(storeServiceResolver(store), options.connectWebhook);
    this.#webhookConfigurations = new WebhookConfigurations(store, (error, what) => this.#report(error, what));
    add(
      admissionWebhooks({
        configurations: this.#webhookConfigurations,
        client: this.#webhooks,
        store,
        authorizer: this.access.authorizer,
        random: this.#random,
        onIgnoredFailure: (webhook, error) => this.#report(error, `webhook ${webhook}, ignored as its policy says`),
      }),
    );
    add(...(options.admission?.(this.api) ?? []));
    if (!without.has('ResourceQuota')) {
      this.#quotas = new QuotaBook(this.api, (error) => this.#report(error, 'status of a quota'));
      add(resourceQuotas(this.#quotas, (key) => store.head(key) !== undefined));
    }

    this.#subresources = new Map([
      ['/namespaces/finalize', handleNamespaceFinalize],
      ['/pods/attach', podAttachHandler(options.podAttacher)],
      ['/pods/binding', handlePodBinding],
      ['/pods/eviction', handlePodEviction],
      ['/pods/exec', podExecHandler(options.podExecutor)],
      ['/pods/log', podLogHandler(options.podLogs)],
      ['/pods/portforward', podPortForwardHandler(options.podConnector)],
      ['/serviceaccounts/token', serviceAccountTokenHandler(this.access)],
      ['certificates.k8s.io/certificatesigningrequests/approval', handleCsrApproval],
    ]);
    this.#reviews = reviewHandlers(this.access, this.#clock);
    this.#resources = new ResourceHandler({
      api: this.api,
      limits: { maxBytes: maxBodyBytes, protobuf: options.protobuf },
      subresources: this.#subresources,
      schemaOf: options.metaSchema,
      reviews: this.#reviews,
    });
    this.metrics = new ApiServerMetrics(store, this.registry);
    const version = { ...defaultVersion, ...options.version };
    this.#healthChecks.push({ name: 'ping', in: ['livez', 'readyz'], check() {} }, ...(options.healthChecks ?? []));
    this.#info = {
      discovery: new Discovery(this.registry),
      openApi: new OpenApi(this.registry, options.metaSchema, version.gitVersion),
      version,
      healthChecks: this.#healthChecks,
      metrics: () => this.metrics.render(),
      documents: this.#documents(),
      serverAddress: () => [...this.#listeners].map(({ host, port }) => `${host}:${port}`)[0] ?? '',
      now: () => this.#clock.now(),
      ...(options.aggregation && { aggregation: options.aggregation }),
    };
    this.#healthChecks.push({
      name: 'shutdown',
      in: ['readyz'],
      check: () => {
        if (this.#stopping) throw new Error('the server is stopping');
      },
    });
    this.#crds = new CrdLifecycle({
      api: this.api,
      native,
      onError: (error, name) => this.#report(error, `customresourcedefinition ${name}`),
      convertByWebhook: (crd, object, toVersion) =>
        convertByWebhook(this.#webhooks, this.#random, { crd, object, toVersion }),
    });
    this.#stopPolicyStatus = startPolicyStatus(this.api, (error) => this.#report(error, 'status of a policy'));
    this.#stopAggregation = startRoleAggregation(this.api, (error) => this.#report(error, 'aggregation of roles'));
    this.#stopSweeper = startExpirySweeper(this.api.context, (error) => this.#report(error, 'expiry of events'));
  }

  /** Creates what every Kubernetes has from its first moment. */
  async prepare(): Promise<void> {
    const kubernetes = kubernetesService(this.#serviceRange);
    await ensureBootstrapObjects(this.api, [kubernetes, ...(this.#options.bootstrapObjects ?? [])]);
    await publishNativeKinds(this.api, this.#options.definitions);
  }

  addHealthCheck(check: HealthCheck): void {
    this.#healthChecks.push(check);
  }

  /** Access for controllers in the same process; see LocalClient. */
  localClient(user: UserInfo = loopbackUser, wantsWhole?: WantsWhole): LocalClient {
    const handlers = { subresources: this.#subresources, reviews: this.#reviews };
    return new LocalClient(this.api, handlers, { user, check: this.access.checkInProcess(user) }, wantsWhole);
  }

  async listen(options: {
    host: string;
    port: number;
    tls: { cert: string; key: string; clientCa: string };
    /** how long a client may take to send a request, body included; default 60 s */
    requestTimeoutMs?: number;
  }): Promise<Listener> {
    const listener = await listen({ ...options, clock: systemClock }, (wire) => this.handle(wire));
    this.#listeners.add(listener);
    return listener;
  }

  /** Serves connections that come in elsewhere, with a certificate of their own. */
  acceptor(tls: { cert: string; key: string; clientCa: string }): Acceptor {
    const made = acceptor({ tls, clock: systemClock }, (wire) => this.handle(wire));
    const close = (): void => {
      this.#acceptors.delete(tracked);
      made.close();
    };
    const tracked: Acceptor = { ...made, close };
    this.#acceptors.add(tracked);
    return tracked;
  }

  /** New connections are shown this certificate; those that are open go on. */
  setCertificate(tls: { cert: string; key: string; clientCa: string }): void {
    for (const one of [...this.#listeners, ...this.#acceptors]) one.setCertificate(tls);
  }

  /** Ends watches cleanly, finishes requests under way, stops listening. The store stays open: it is the caller's. */
  async stop(deadlineMs = 5000): Promise<void> {
    this.#stopping = true;
    const closing = [...this.#listeners].map((listener) => listener.close(deadlineMs));
    for (const exchange of this.#openWatches) exchange.end();
    await Promise.all(closing);
    this.#stopSweeper();
    await this.#stopAggregation();
    await this.#stopPolicyStatus();
    this.#policies.close();
    await this.#quotas?.close();
    await this.#crds.close();
    this.access.close();
    this.#webhookConfigurations.close();
    await this.#webhooks.close();
  }

  /** Serves one HTTP request; never throws. */
  handle(wire: Wire): void {
    const exchange = new Exchange(wire, this.#auditId(wire));
    wire.output.on('error', ignoreError);
    this.#serve(exchange)
      .catch((error: unknown) => {
        const status = toStatusError(error, (cause) => this.#report(cause, `${exchange.method} ${exchange.path}`));
        exchange.sendStatus(status.status);
      })
      .catch((error: unknown) => {
        // Not even the refusal could be written: the connection must not hang, nor the process end.
        this.#report(error, `the answer to ${exchange.method} ${exchange.path}`);
        wire.output.destroy();
      });
  }

  async #serve(exchange: Exchange): Promise<void> {
    const wait = this.access.prepare(exchange.header('authorization'));
    if (wait) await wait;
    const path = parseRequestPath(exchange.path);
    const verb = verbOf(exchange, path);
    const sender = this.#identify(exchange);
    const attributes = attributesOf(exchange, path, verb, sender.user);
    const trail = this.#auditor && beginAudit(this.#auditor, exchange, attributes, sender);
    const finish = this.#measure(exchange, attributes);
    let failure: Status | undefined;
    try {
      if (sender.refusal) throw sender.refusal;
      const decision = this.access.check(attributes);
      trail?.authorized(decision);
      exchange.flow = this.#flow.begin(sender.requestor);
      await this.#route(exchange, path, verb, sender.user);
      if (exchange.packing) await exchange.packing;
    } catch (error) {
      const { code, status } = toStatusError(error, (cause) =>
        this.#report(cause, `${exchange.method} ${exchange.path}`),
      );
      failure = status;
      exchange.statusCode = code;
      exchange.sendStatus(status);
    } finally {
      exchange.flow?.end(exchange.output);
      finish();
      trail?.completed(auditResponse(exchange.statusCode, failure, sender.auditMessage));
    }
  }

  /** Who sent the request, as far as that is known; a refusal is part of the answer, so that it is audited as well. */
  #identify({ wire, path }: Exchange): Sender {
    const tooLarge = refuseOversizedHead(wire);
    if (tooLarge) return { ...unknownSender, refusal: tooLarge };
    const { authorization } = wire.headers;
    const requestor = this.access.authenticate({ authorization, socket: wire.socket }, path);
    if (!requestor) {
      return { ...unknownSender, refusal: statusError.unauthorized(), auditMessage: attemptedCredentials(wire) };
    }
    try {
      return { requestor, user: this.access.impersonate(wire.rawHeaders, requestor) };
    } catch (error) {
      return { requestor, user: requestor, refusal: error };
    }
  }

  /** Not async, nor is what it calls where nothing waits: each layer of promises costs every request a little. */
  #route(exchange: Exchange, path: RequestPath, verb: Verb | undefined, user: UserInfo): undefined | Promise<unknown> {
    if (path.type === 'other') {
      // Whoever looks after the server must always learn how it is.
      const turn = isHealthPath(path.path) ? undefined : exchange.flow?.beginRead();
      return turn ? turn.then(() => this.#serveOther(exchange, path.path)) : this.#serveOther(exchange, path.path);
    }
    // A group nobody serves is no API at all, hence no Status.
    if (!this.registry.groups().has(path.group)) {
      const { aggregation } = this.#options;
      if (aggregation?.claims(path.group, path.version)) {
        return serveAggregated(exchange, aggregation, path.group, path.version);
      }
      exchange.sendText(404, '404 page not found\n');
      return undefined;
    }
    if (!verb || !allowsMethod(path, exchange.method)) throw statusError.methodNotAllowed();
    const caller = new HttpCaller(exchange, user);
    const wait = this.#options.gate?.();
    const handle = (): Promise<void> => {
      // Writes have their turn once their body has been read.
      const turn = reads.has(verb) ? beginReading(exchange, verb) : undefined;
      return turn
        ? turn.then(() => this.#resources.handle(exchange, path, verb, caller))
        : this.#resources.handle(exchange, path, verb, caller);
    };
    return wait ? wait.then(handle) : handle();
  }

  async #serveOther(exchange: Exchange, path: string): Promise<void> {
    if (path === backupPath && exchange.method === 'GET') return handleBackup(exchange, this.#options.store);
    if (!(await handleInfo(exchange, this.#info))) exchange.sendText(404, '404 page not found\n');
  }

  /** Counts the request and returns what to call at its end. */
  #measure(exchange: Exchange, attributes: AuthorizationAttributes): () => void {
    const { verb } = attributes;
    const labels = this.#labelsOf(attributes);
    if (verb === 'watch') {
      this.metrics.watchStarted();
      this.#openWatches.add(exchange);
      return () => {
        this.#openWatches.delete(exchange);
        this.metrics.watchFinished(labels, exchange.statusCode);
      };
    }
    const mutating = exchange.method !== 'GET' && exchange.method !== 'HEAD';
    const startMs = performance.now();
    this.metrics.started(mutating);
    return () => {
      this.metrics.finished(mutating, labels, exchange.statusCode, (performance.now() - startMs) / 1000);
    };
  }

  /** What clients ask for is theirs to choose; only what is served is counted by name. */
  #labelsOf({ verb, group, version, resource, subresource }: AuthorizationAttributes): RequestLabels {
    const served = this.registry.find(group, version, resource);
    if (!served)
      return { verb: countedVerbs.has(verb) ? verb : 'other', group: '', version: '', resource: '', subresource: '' };
    const { definition } = served.resource;
    const known =
      subresource === 'status' ||
      subresource === 'scale' ||
      definition.subresources.some(({ name }) => name === subresource);
    return { verb, group, version, resource, subresource: known ? subresource : '' };
  }

  #documents(): ReadonlyMap<string, () => unknown> {
    const issuer = this.access.tokenIssuer;
    if (!issuer) return new Map();
    return new Map<string, () => unknown>([
      [jwksPath, () => issuer.jwks()],
      [openIdConfigurationPath, () => issuer.openIdConfiguration(`https://${this.#info.serverAddress()}${jwksPath}`)],
    ]);
  }

  #auditId({ headers }: Wire): string {
    const sent = headers['audit-id'];
    return typeof sent === 'string' && /^[\w-]{1,64}$/.test(sent) ? sent : this.#random.uuid();
  }

  #report(error: unknown, what: string): void {
    this.#options.onError?.(error, what);
  }
}

/** Who a request comes from and whom it acts as. */
interface Sender {
  user: UserInfo;
  requestor: UserInfo;
  /** why the request goes no further */
  refusal?: unknown;
  /** what the audit log says of it, where the answer says less */
  auditMessage?: string;
}

/** Nobody in particular: audit events of such requests have an empty user. */
const nobody: UserInfo = { name: '', groups: [] };
const unknownSender: Sender = { user: nobody, requestor: nobody };

/** Refusals are recorded with their words; those of objects may quote what was sent, which can be secret. */
const auditedMessages: ReadonlySet<number> = new Set([401, 403, 405, 413, 429, 431]);

function auditResponse(code: number, failure: Status | undefined, message?: string): AuditResponse {
  if (!failure) return { code };
  const text = message ?? (auditedMessages.has(failure.code) ? failure.message : undefined);
  return {
    code,
    ...(failure.reason !== undefined && { reason: failure.reason }),
    ...(text !== undefined && { message: text }),
  };
}

function beginAudit(
  auditor: Auditor,
  exchange: Exchange,
  attributes: AuthorizationAttributes,
  { user, requestor }: Sender,
): AuditTrail {
  const { remoteAddress, url } = exchange.wire;
  return auditor.begin({
    auditId: exchange.auditId,
    uri: url,
    attributes,
    ...(user !== requestor && { impersonator: requestor }),
    ...(remoteAddress !== undefined && { sourceIps: [remoteAddress] }),
    userAgent: exchange.header('user-agent') ?? '',
  });
}

const reads: ReadonlySet<Verb> = new Set<Verb>(['get', 'list', 'watch']);

function beginReading({ flow }: Exchange, verb: Verb): Promise<void> | undefined {
  return verb === 'watch' ? flow?.beginWatch() : flow?.beginRead();
}

const countedVerbs: ReadonlySet<string> = new Set([...allVerbs, 'post', 'put', 'head', 'options']);

/** Answers break off when clients go away; that is theirs to do. */
function ignoreError(): void {}
